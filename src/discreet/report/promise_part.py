"""What is promised, what epsilon means (a scale to play with, and a table), what was spent, and what is not covered."""

import math

from .._utils.html import bar, heads, items, name, plain, row, table
from .._utils.parameters import rounded_up
from ..accounting.ledger_export import to_whom, together
from ..accounting.statement import Guarantee
from ..accounting.summary import LedgerSnapshot
from ..models.display.summary import Chance, Summary
from ..models.display.wording import bound, epsilon_text, factor, sentence

EPSILONS = (0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)  # that every report shows
LOW, HIGH = 0.01, 20.0  # the ends of the scale of epsilon
TICKS = (0.01, 0.1, 1, 10)


def promise(s: Summary) -> str:
    """The statement in plain language, and word for word."""
    statement = s.released.privacy
    if statement is None:
        return (
            f"<p>Nothing. The learner {name(s.released.learner)} has no privacy built in, and none can be added to its model "
            "afterwards. To get a model that may be published, learn it again with a private learner, from a schema "
            "that was written without a look at the records.</p>"
        )
    proved, published = statement.proved, statement.published
    what, number, more = "What is proved", "Nothing", "The reasons stand at the top of this page."
    rests = ""
    if proved is not None:
        number = _pair(proved)
        more = (
            f"The chance of any conclusion differs at most by a factor of {factor(math.exp(min(proved.epsilon, 700)))}, "
            "whether a person&rsquo;s record was in the "
            f"table or not{', up to a chance of delta that this fails' if proved.delta else ''}."
        )
        whom = f"To each single person, not to an average over people. {plain(statement.neighbours)}"
        assumes = items(map(sentence, statement.assumes))
        rests = (
            f"<h3>To whom</h3><p>{whom}</p>{f'<h3>This holds if</h3><ul>{assumes}</ul>' if assumes else ''}"
            "<h3>What is not said</h3><p>Not that nothing can be learned about a person. If people like them are often of "
            "one class, the model may say so; that is true of them whether their record was in the table or not.</p>"
        )
    claim = ("What is claimed elsewhere", "No other claim", "The mechanism is this package&rsquo;s own.")
    if published is not None:
        agree = "This is <strong>not proved here</strong>; rely on what is proved."
        agree = "The proof confirms it." if statement.claim_is_proved else agree
        claim = ("By its authors&rsquo; accounting", _pair(published), agree)
    sides = "".join(
        f"<div><h3>{title}</h3><p class='number'>{large}</p><p>{text}</p></div>"
        for title, large, text in ((what, number, more), claim)
    )
    return (
        f"<p>The model was learned with the mechanism {name(statement.mechanism, 'value')}.</p>"
        f'<div class="two">{sides}</div>{rests}'
        f"<h3>The statement, word for word</h3><blockquote><p>{plain(statement)}</p></blockquote>"
    )


def _pair(pair: Guarantee) -> str:
    text = plain(pair).replace("epsilon", "&epsilon;").replace("delta", "&delta;")
    return text.replace("n^2", "n<sup>2</sup>").replace(" = ", "&nbsp;=&nbsp;")


def epsilon(s: Summary) -> str:
    """What an attacker can get out of a model, at its own epsilon and at others."""
    own = s.chance
    proved = s.is_private
    words = (
        "<p>Epsilon bounds what a model can give away about one record. Think of someone who knows every other record "
        "of the table, and wants to know whether a certain person is in it. Before seeing the model that is as likely "
        "as not: guessing gets 50&nbsp;%. After seeing it, even the best attack is right at most this often:</p>"
    )
    if own is None:
        mine = "<p>This model has no epsilon. The scale shows what private models of this package would promise.</p>"
    elif proved:
        delta = ", and a little more for delta" if own.delta else ""
        mine = (
            f"<p>For this model, with &epsilon; = {epsilon_text(own.epsilon)}, that is <b>{bound(own.fifty)}</b>: the "
            f"odds of any belief about a person grow at most by a factor of <b>{factor(own.factor)}</b>{delta}.</p>"
        )
    else:
        mine = (
            f'<p class="loud">&epsilon; = {epsilon_text(own.epsilon)} was asked for, but <strong>nothing is '
            "proved for this model</strong>, so the numbers "
            "below are not promised by it. They show what a model with a proof would promise.</p>"
        )
    return words + mine + _scale(own, proved) + _chances(own, proved)


def _scale(own: Chance | None, proved: bool) -> str:
    """The curve, a slider that walks along it, and the model's own place. Hidden where no script runs."""
    points = [LOW * (HIGH / LOW) ** (i / 100) for i in range(101)]
    line = " ".join(f"{i},{_down(Chance(e).fifty):.2f}" for i, e in enumerate(points))
    grid = "".join(f'<line x1="0" x2="100" y1="{y}" y2="{y}"/>' for y in (0, 50, 100))
    labels = "".join(
        f'<span class="y" style="top:{y}%">{text}&nbsp;%</span>' for y, text in ((0, 100), (50, 75), (100, 50))
    )
    labels += "".join(f'<span class="x" style="left:{_across(e):.2f}%">{e:g}</span>' for e in TICKS)
    start = 1.0
    if own is not None:
        start = min(max(own.epsilon, LOW), HIGH)
        x = _across(start)
        who = "this model" if proved else "asked for"
        who += "" if LOW <= own.epsilon <= HIGH else f": {epsilon_text(own.epsilon)}"
        side = " left" if x > 80 else " right" if x < 20 else ""
        grid += f'<line class="mine" x1="{x:.2f}" x2="{x:.2f}" y1="0" y2="100"/>'
        labels += f'<span class="mark{side}" style="left:{x:.2f}%">{who}</span>'
    value = math.log10(start)
    return (
        '<div class="scale" id="scale" hidden><dl class="reading"><div><dt>epsilon</dt><dd '
        'id="scale-now"></dd></div><div><dt>right at most, where guessing gets 50&nbsp;%</dt><dd '
        'id="scale-chance"></dd></div><div><dt>times the odds of any belief, at most</dt><dd '
        'id="scale-factor"></dd></div></dl><div class="plot" aria-hidden="true"><svg viewBox="0 0 100 100" '
        f'preserveAspectRatio="none">{grid}<path d="M{line}"/></svg>{labels}<span class="dot" '
        'id="scale-dot"></span></div><div class="slide"><label for="scale-epsilon">Move epsilon</label><input '
        f'type="range" id="scale-epsilon" min="{math.log10(LOW):g}" max="{math.log10(HIGH):.4f}" step="any" '
        f'value="{value:.4f}" data-own="{0.0 if own is None else own.epsilon!r}"></div></div>'
    )


def _across(epsilon: float) -> float:
    return 100 * math.log(epsilon / LOW) / math.log(HIGH / LOW)


def _down(chance: float) -> float:
    return 100 * (1 - chance) / 0.5


def _chances(own: Chance | None, proved: bool) -> str:
    chances = {e: Chance(e) for e in EPSILONS}
    if own is not None and proved:
        chances[own.epsilon] = own
    rows = []
    for epsilon, chance in sorted(chances.items()):
        of = [bound(chance.fifty), bound(chance.after(0.1)), bound(chance.after(0.01))]
        mine = (" (this model)", "own") if chance is own else ("", "")
        rows.append(row(epsilon_text(epsilon) + mine[0], numbers=[factor(chance.factor), *of], css=mine[1]))
    return table(
        "Chances by epsilon",
        "What a belief that a person&rsquo;s record is in the table can become, at most; all numbers are rounded up",
        heads("epsilon", numbers=("odds times", "from 50&nbsp;%", "from 10&nbsp;%", "from 1&nbsp;%")),
        rows,
    )


def budget(s: Summary) -> str:
    """The ledger as it was when the model was saved."""
    ledger = s.released.ledger
    if ledger is None:
        if s.released.privacy is None:
            return "<p>Nothing was counted: this model was learned without privacy.</p>"
        return (
            "<p>No ledger was kept, so this page cannot tell what else was released from the same table. Promises add "
            "up: two models with epsilon 1 are together one release with epsilon 2. A ledger counts this, and refuses "
            "what would be too much.</p>"
        )
    total, (spent, spent_delta), left, n = ledger.epsilon, ledger.spent, ledger.remaining[0], ledger.totals.entries
    epsilon, delta = ledger.proved
    said = together(ledger, ledger.total())
    note, proved = f"<p>{plain(said)} {plain(to_whom(ledger))}</p>" if said else "", "nothing"
    if math.isinf(epsilon):
        note = (
            '<p class="loud"><strong>Nothing is proved about all releases together</strong>, because nothing is '
            f"about {ledger.totals.unproved} of them.</p>"
        )
    else:
        proved = f"&epsilon; {rounded_up(epsilon, 4)}{f', &delta; {rounded_up(delta, 3)}' if delta else ''}"
    if ledger.number is not None:
        called = name(ledger.release or "", "value")
        note += f"<p>This model is number {ledger.number} in the ledger, under the name {called}.</p>"
    asked = f"{float(spent):.6g}" + (f", &delta; {float(spent_delta):.3g}" if spent_delta else "")
    cells = f'<td>{n}</td><td class="n">&epsilon; {asked}</td><td class="n">{proved}</td>'
    share = min(1.0, float(spent / total)) if total else 0.0
    return (
        f"<p>All releases from this table share one budget of &epsilon; = {float(total):.6g}"
        f"{f' and &delta; = {float(ledger.delta):.3g}' if ledger.delta else ''}. When this model was saved, "
        f"<b>{float(spent):.6g}</b> of it was spent, in {n} release{'' if n == 1 else 's'}, and <b>{float(left):.6g}</b> "
        f"was left{_zcdp_left(ledger)}.</p>"
        f"{bar([(share, 'now')], f'{float(spent):.4g} of {float(total):.4g} is spent')}{note}"
        + table(
            "The ledger",
            "All releases together",
            heads("releases", numbers=("asked for", "proved")),
            [f"<tr>{cells}</tr>"],
        )
        + "<p class='soft'>A ledger counts what it is told. Two ledgers for one table do not know of each other. "
        "<code>discreet ledger show</code> lists the releases one by one.</p>"
    )


def _zcdp_left(ledger: LedgerSnapshot) -> str:
    if ledger.rho is None or ledger.remaining_rho is None:
        return ""
    return (
        f" by addition. It also counts in zCDP, where many small releases come to less: <b>{float(ledger.remaining_rho):.4g}</b> "
        f"of &rho; = {float(ledger.rho):.4g} was left"
    )


def not_covered(s: Summary) -> list[tuple[str, str]]:
    """What no promise covers, as titles and sentences."""
    said = dict(s.parameters).get("records_per_person", "1")
    persons = int(said) if said.isdecimal() and len(said) < 10 else 1
    return [
        (
            "People with several records",
            f"The promise is to people with at most {persons} records. Nobody checked that no one has more."
            if persons > 1
            else "The promise is about one record. To a person with k records, read epsilon as k times as large.",
        ),
        (
            "What a record says",
            "The promise is about whether a record is there. About what it says, when it is known to be there, read epsilon "
            "as twice as large.",
        ),
        (
            "Groups",
            "What is typical of a group can be learned, and says something about everyone in it. Privacy of this "
            "kind is not fairness.",
        ),
        ("Whoever is scored", "The model promises nothing to people whose records it is applied to."),
        (
            "Measuring it on private records",
            "Accuracy on private records, cross-validation and a search for good parameters look at them.",
        ),
        (
            "How long learning took",
            "Someone who can time a fit, or watch its memory, may learn something about the table.",
        ),
        (
            "Other releases",
            "Each further release from the same table costs privacy, whether a ledger knows of it or not.",
        ),
    ]


def limits(s: Summary) -> str:
    """What no promise covers."""
    lead = "The promise is about this model and the records that it was learned from. Outside of it are:"
    if s.released.privacy is None:
        lead = "Nothing is covered here. For a model with a promise, these would still be outside of it:"
    elif not s.is_private:
        lead = "Nothing is proved about this model. Even with a proof, these would be outside of it:"
    listed = items(f"<b>{title}.</b> {text}" for title, text in not_covered(s))
    what = "what it asks about" if s.root is not None else "its condition"
    caution = f"That a {s.unit} is true of many of them does not mean that {what} is the cause."
    if s.cards:
        caution = "That an answer gives many points does not mean that it is the cause."
    return (
        f"<p>{lead}</p><ul>{listed}</ul><p>A {plain(s.model.kind)} is a summary of past records. {caution} The package&rsquo;s "
        "pages &ldquo;The privacy promise&rdquo; and &ldquo;Limitations&rdquo; say more, with proofs.</p>"
    )
