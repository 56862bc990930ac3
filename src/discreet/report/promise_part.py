"""What is promised, what was spent, and what is not covered."""

import math

from .._utils.html import bar, name, plain, wide
from ..accounting.entries import LedgerSnapshot
from ..accounting.ledger_export import to_whom, together
from ..accounting.statement import Guarantee, rounded_up
from ..models.display.summary import Summary
from ..models.display.wording import factor, sentence


def promise(s: Summary) -> str:
    """The statement in plain language, and word for word."""
    statement = s.statement
    if statement is None:
        return (
            f"<p>Nothing. The learner {name(s.learner)} has no privacy built in, and none can be added to its "
            "model afterwards. "
            "To get a model that may be published, learn it again with a private learner, from a schema that was "
            "written without a look "
            "at the records.</p>"
        )
    proved, published = statement.proved, statement.published
    if proved is None:
        left = "<h3>What is proved</h3><p class='number'>Nothing</p><p>The reasons stand at the top of this page.</p>"
    else:
        left = (
            f"<h3>What is proved</h3><p class='number'>{_pair(proved)}</p><p>The chance of any conclusion differs "
            "at most by a factor of "
            f"{factor(math.exp(min(proved.epsilon, 700)))}, whether a person&rsquo;s record was in the table or not"
            f"{', up to a chance of delta that this fails' if proved.delta else ''}.</p>"
        )
    if published is None:
        right = (
            "<h3>What is claimed elsewhere</h3><p class='number'>No other claim</p>"
            "<p>The mechanism is this package&rsquo;s own.</p>"
        )
    else:
        agree = (
            "The proof confirms it."
            if statement.claim_is_proved
            else "This is <strong>not proved here</strong>; rely on what is proved."
        )
        right = f"<h3>By its authors&rsquo; accounting</h3><p class='number'>{_pair(published)}</p><p>{agree}</p>"
    assumes = "".join(f"<li>{sentence(a)}</li>" for a in statement.assumes)
    under = f"<h3>This holds if</h3><ul>{assumes}</ul>" if assumes and proved is not None else ""
    whom = (
        f"<h3>To whom</h3><p>To each single person, not to an average over people. {plain(statement.neighbours)}</p>"
        if proved is not None
        else ""
    )
    not_said = (
        "<h3>What is not said</h3><p>Not that nothing can be learned about a person. If people like them are "
        "often of one class, the model may "
        "say so; that is true of them whether their record was in the table or not.</p>"
    )
    return (
        f"<p>The model was learned with the mechanism {name(statement.mechanism, 'value')}.</p>"
        f'<div class="two"><div>{left}</div><div>{right}</div>'
        f"</div>{whom}{under}{not_said if proved is not None else ''}"
        f"<h3>The statement, word for word</h3><blockquote><p>{plain(statement)}</p></blockquote>"
    )


def _pair(pair: Guarantee) -> str:
    text = plain(pair).replace("epsilon", "&epsilon;").replace("delta", "&delta;")
    return text.replace("n^2", "n<sup>2</sup>").replace(" = ", "&nbsp;=&nbsp;")


def budget(s: Summary) -> str:
    """The ledger as it was when the model was saved."""
    ledger = s.ledger
    if ledger is None:
        if s.statement is None:
            return "<p>Nothing was counted: this model was learned without privacy.</p>"
        return (
            "<p>No ledger was kept, so this page cannot tell what else was released from the same table. "
            "Promises add up: two models with "
            "epsilon 1 are together one release with epsilon 2. A ledger counts this, and refuses what would be "
            "too much.</p>"
        )
    total, (spent, spent_delta), totals = ledger.epsilon, ledger.spent, ledger.totals
    left, (epsilon, delta) = ledger.remaining, ledger.proved
    proved = (
        "nothing"
        if math.isinf(epsilon)
        else f"&epsilon; {rounded_up(epsilon, 4)}{f', &delta; {rounded_up(delta, 3)}' if delta else ''}"
    )
    whole = f"{float(spent):.6g}" + (f", &delta; {float(spent_delta):.3g}" if spent_delta else "")
    loud = (
        '<p class="loud"><strong>Nothing is proved about all releases together</strong>, because nothing is '
        f"about {totals.unproved} of them.</p>"
        if math.isinf(epsilon)
        else ""
    )
    said = together(ledger, ledger.total())
    tight = f"<p>{plain(said)} {plain(to_whom(ledger))}</p>" if said and not loud else ""
    share = min(1.0, float(spent / total)) if total else 0.0
    own = (
        f"<p>This model is number {ledger.number} in the ledger, under the name {name(ledger.release or '', 'value')}.</p>"
        if ledger.number is not None
        else ""
    )
    return (
        f"<p>All releases from this table share one budget of &epsilon; = {float(total):.6g}"
        f"{f' and &delta; = {float(ledger.delta):.3g}' if ledger.delta else ''}. When this model was saved, "
        f"<b>{float(spent):.6g}</b> of it was spent, in "
        f"{totals.entries} release{'' if totals.entries == 1 else 's'}, and <b>{float(left[0]):.6g}</b> "
        f"was left{_zcdp_left(ledger)}.</p>"
        f"{bar([(share, 'now')], f'{float(spent):.4g} of {float(total):.4g} is spent')}{loud}{tight}{own}"
        + wide(
            "<caption>All releases together</caption>"
            '<thead><tr><th scope="col">releases</th><th scope="col" class="n">asked for</th>'
            '<th scope="col" class="n">proved</th></tr></thead>'
            f'<tbody><tr><td>{totals.entries}</td><td class="n">&epsilon; {whole}</td><td class="n">{proved}</td></tr></tbody>',
            "The ledger",
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
    if s.statement is None:
        lead = "<p>Nothing is covered here. For a model with a promise, these would still be outside of it:</p>"
    elif not s.is_private:
        lead = "<p>Nothing is proved about this model. Even with a proof, these would be outside of it:</p>"
    else:
        lead = "<p>The promise is about this model and the records that it was learned from. Outside of it are:</p>"
    listed = "".join(f"<li><b>{title}.</b> {text}</li>" for title, text in not_covered(s))
    caution = f"That a {s.unit} is true of many of them does not mean that "
    caution += "its condition is the cause." if s.root is None else "what it asks about is the cause."
    if s.cards:
        caution = "That an answer gives many points does not mean that it is the cause."
    return (
        f"{lead}<ul>{listed}</ul><p>A {plain(s.kind)} is a summary of past records. {caution} The package&rsquo;s "
        "pages &ldquo;The privacy promise&rdquo; and &ldquo;Limitations&rdquo; say more, with proofs.</p>"
    )
