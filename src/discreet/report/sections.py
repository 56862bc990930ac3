"""What a report says in words and tables, whatever the kind of the model: a function for each section.

What is promised, what epsilon means (a scale to play with, and a table), what was spent; the columns of the table and the schema
that the model rests on, which was decided before a record was read; and what is not covered.
"""

import math
from collections.abc import Sequence
from importlib.resources import files

from .._utils.html import bar, heads, items, name, plain, row, table
from .._utils.parameters import rounded_up
from ..accounting.ledger_export import to_whom, together
from ..accounting.statement import Guarantee
from ..models.display.summary import Chance, Summary
from ..models.display.wording import bound, epsilon_text, factor, sentence
from ..rules.rules import write_number
from ..schema import Schema
from ..schema.columns import Column, Value

EPSILONS = (0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)  # that every report shows
LOW, HIGH = 0.01, 20.0  # the ends of the scale of epsilon
TICKS = (0.01, 0.1, 1, 10)
MOST_VALUES = 40  # more of a column's cuts or categories are left to the model's file
_LEAD = {"<=": "cut at", "<": "cut below", ">=": "cut from", ">": "cut above", "=": "is one of", "in": "ranges"}
_SPACING = {"equal": "evenly", "log": "by orders of magnitude"}
_OUTSIDE = {
    "clip": "values beyond the bounds count as the bound",
    "missing": "other values count as missing",
    "other": "other values count as other",
    "none": "other values are in no category",
    "error": "other values are an error",
}
NO_SOURCE = (
    "The schema does not say where its cut points and categories came from. The promise assumes that they were written "
    "without a look at the records."
)


def beside(filename: str) -> str:
    """A file beside this one that goes into the page."""
    return files(__package__).joinpath(filename).read_text(encoding="utf-8")


def promise(s: Summary) -> str:
    """The statement in plain language, and word for word."""
    statement = s.released.privacy
    if statement is None:
        return (
            f"<p>Nothing. The learner {name(s.released.learner)} is not private, and privacy cannot be added to its model "
            "afterwards. For a model that may be published, use a private learner, with a schema that was written "
            "without looking at the records.</p>"
        )
    proved, published, rests = statement.proved, statement.published, ""
    own = ("What is proved", "Nothing", "The reasons are at the top of this page.")
    if proved is not None:
        fails = ", up to an added delta" if proved.delta else ""
        more = (
            f"The probability of any conclusion differs by at most a factor of {factor(Chance(proved.epsilon).factor)}, whether "
            f"a person&rsquo;s record was in the table or not{fails}."
        )
        own = ("What is proved", _pair(proved), more)
        assumes = items(map(sentence, statement.assumes))
        rests = (
            "<h3>To whom</h3><p>To each single person, not to an average over people. "
            f"{plain(statement.neighbours)}</p>{f'<h3>This holds if</h3><ul>{assumes}</ul>' if assumes else ''}"
            "<h3>What is not promised</h3><p>That nothing can be learned about a person. If people like them are often of "
            "one class, the model may show it, whether their record was in the table or not.</p>"
        )
    claim = ("Published claim", "None", "The mechanism is this package&rsquo;s own.")
    if published is not None:
        agree = "This is <strong>not proved here</strong>; rely on what is proved."
        agree = "The proof confirms it." if statement.claim_is_proved else agree
        claim = ("By its authors&rsquo; accounting", _pair(published), agree)
    sides = "".join(
        f"<div><h3>{title}</h3><p class='number'>{large}</p><p>{text}</p></div>" for title, large, text in (own, claim)
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
    """An attacker's best certainty, at the model's epsilon and at others."""
    own = s.chance
    if own is None:
        mine = "<p>This model has no epsilon. The scale shows what private models of this package would promise.</p>"
    elif s.is_private:
        delta = ", and a little more for delta" if own.delta else ""
        mine = (
            f"<p>For this model, with &epsilon; = {epsilon_text(own.epsilon)}, that is <b>{bound(own.fifty)}</b>: the "
            f"odds that the person is in the table grow at most by a factor of <b>{factor(own.factor)}</b>{delta}.</p>"
        )
    else:
        mine = (
            f'<p class="warning">&epsilon; = {epsilon_text(own.epsilon)} was asked for, but <strong>nothing is proved for this '
            "model</strong>, so the numbers below do not hold for it. They show what a model with a proof would promise.</p>"
        )
    return (
        "<p>Epsilon bounds what a model can reveal about one record. Suppose that someone knows every other record "
        "of the table, and wants to know whether a certain person is in it. Without the model, guessing is right "
        "50&nbsp;% of the time. With the model, the best attack is right at most this often:</p>"
        f"{mine}{_scale(own, s.is_private)}{_chances(own, s.is_private)}"
    )


def _scale(own: Chance | None, proved: bool) -> str:
    """The curve, a slider that walks along it, and the model's own place. Hidden where no script runs."""

    def across(epsilon: float) -> float:
        return 100 * math.log(epsilon / LOW) / math.log(HIGH / LOW)

    chances = (Chance(LOW * (HIGH / LOW) ** (i / 100)).fifty for i in range(101))
    line = " ".join(f"{i},{100 * (1 - chance) / 0.5:.2f}" for i, chance in enumerate(chances))
    grid = "".join(f'<line x1="0" x2="100" y1="{y}" y2="{y}"/>' for y in (0, 50, 100))
    labels = "".join(f'<span class="y" style="top:{y}%">{100 - y // 2}&nbsp;%</span>' for y in (0, 50, 100))
    labels += "".join(f'<span class="x" style="left:{across(e):.2f}%">{e:g}</span>' for e in TICKS)
    start = 1.0 if own is None else min(max(own.epsilon, LOW), HIGH)
    if own is not None:
        x, who = across(start), "this model" if proved else "asked for"
        who += "" if LOW <= own.epsilon <= HIGH else f": {epsilon_text(own.epsilon)}"
        side = " left" if x > 80 else " right" if x < 20 else ""
        grid += f'<line class="mine" x1="{x:.2f}" x2="{x:.2f}" y1="0" y2="100"/>'
        labels += f'<span class="mark{side}" style="left:{x:.2f}%">{who}</span>'
    return beside("scale.html").format(
        grid=grid,
        line=line,
        labels=labels,
        low=f"{math.log10(LOW):g}",
        high=f"{math.log10(HIGH):.4f}",
        start=f"{math.log10(start):.4f}",
        own=0.0 if own is None else own.epsilon,
    )


def _chances(own: Chance | None, proved: bool) -> str:
    chances = {e: Chance(e) for e in EPSILONS} | ({own.epsilon: own} if own is not None and proved else {})
    rows = []
    for epsilon, chance in sorted(chances.items()):
        mine, css = (" (this model)", "own") if chance is own else ("", "")
        numbers = factor(chance.factor), bound(chance.fifty), bound(chance.after(0.1)), bound(chance.after(0.01))
        rows.append(row(epsilon_text(epsilon) + mine, numbers=numbers, css=css))
    caption = (
        "An attacker&rsquo;s best certainty that a person&rsquo;s record is in the table; all numbers are rounded up"
    )
    columns = heads("epsilon", numbers=("odds times", "from 50&nbsp;%", "from 10&nbsp;%", "from 1&nbsp;%"))
    return table("Chances by epsilon", caption, columns, rows)


def budget(s: Summary) -> str:
    """The ledger as it was when the model was saved."""
    ledger = s.released.ledger
    if ledger is None:
        if s.released.privacy is None:
            return "<p>This model was learned without privacy, so no budget was spent.</p>"
        return (
            "<p>No ledger was kept, so this page cannot show what else was released from the same table. Promises add "
            "up: two models with epsilon 1 are together like one with epsilon 2. A ledger adds this up, and refuses "
            "a release that would exceed the budget.</p>"
        )
    total, (spent, spent_delta), left, n = ledger.epsilon, ledger.spent, ledger.remaining[0], ledger.totals.entries
    said, css, proved = together(ledger, ledger.total()), ' class="warning"', "nothing"
    if not ledger.totals.unproved:
        epsilon, delta = ledger.proved
        css, proved = "", f"&epsilon; {rounded_up(epsilon, 4)}{f', &delta; {rounded_up(delta, 3)}' if delta else ''}"
    note = f"<p{css}>{plain(said)} {plain(to_whom(ledger))}</p>" if said else ""
    if ledger.number is not None:
        called = name(ledger.release or "", "value")
        note += f"<p>This model is number {ledger.number} in the ledger, under the name {called}.</p>"
    zcdp = ""
    if ledger.rho is not None and ledger.remaining_rho is not None:
        zcdp = (
            " by addition. It also counts in zCDP, where many small releases add up to less: "
            f"<b>{float(ledger.remaining_rho):.4g}</b> of &rho; = {float(ledger.rho):.4g} was left"
        )
    asked = f"&epsilon; {float(spent):.6g}" + (f", &delta; {float(spent_delta):.3g}" if spent_delta else "")
    cells = f'<tr><td>{n}</td><td class="n">{asked}</td><td class="n">{proved}</td></tr>'
    share = min(1.0, float(spent / total)) if total else 0.0
    columns = heads("releases", numbers=("asked for", "proved"))
    return (
        f"<p>All releases from this table share one budget of &epsilon; = {float(total):.6g}"
        f"{f' and &delta; = {float(ledger.delta):.3g}' if ledger.delta else ''}. When this model was saved, "
        f"<b>{float(spent):.6g}</b> of it was spent, in {n} release{'' if n == 1 else 's'}, and <b>{float(left):.6g}</b> "
        f"was left{zcdp}.</p>{bar([(share, 'now')], f'{float(spent):.4g} of {float(total):.4g} is spent')}{note}"
        f"{table('The ledger', 'All releases together', columns, [cells])}"
        "<p class='soft'>A ledger only knows the releases that were booked in it. Two ledgers for one table do not know of each "
        "other. <code>discreet ledger show</code> lists the releases one by one.</p>"
    )


def asked_of(column: Column) -> dict[str, list[str]]:
    """What a schema lets one ask of a column: what tests of one kind begin with, and what they compare with.

    >>> from discreet import Numeric
    >>> asked_of(Numeric("age", cuts=[25, 45], low=0, high=100))
    {'cut at': ['25', '45']}
    """
    asked: dict[str, list[str]] = {}
    for op, value in column.tests():
        if op == "is true":
            labels = {word: column.value_label(word) for word in ("true", "false")}
            asked["is true or false"] = [f"{word}: {label}" for word, label in labels.items() if label]
        elif op != "is missing":
            asked.setdefault(_LEAD.get(op, op), []).extend([] if value is None else [_said(column, value)])
    return asked


def _said(column: Column, value: Value) -> str:
    if isinstance(value, tuple):
        return f"{write_number(value[0])} to {write_number(value[1])}"
    if isinstance(value, float):
        return write_number(value)
    label = column.value_label(value)
    said = str(value) if label is None else f"{label} ({value})"
    members = dict(getattr(column, "groups", ())).get(str(value))
    return f"{said}: {', '.join(column.value_label(m) or str(m) for m in members)}" if members else said


def notes_of(column: Column) -> list[str]:
    """What else a schema says of a column."""
    notes, outside = [], getattr(column, "outside", None)
    low, high = getattr(column, "low", None), getattr(column, "high", None)
    if low is not None and high is not None:
        notes.append(f"from {write_number(low)} to {write_number(high)}")
    if (n_cuts := getattr(column, "n_cuts", None)) is not None:
        spacing = getattr(column, "spacing", "")
        notes.append(f"{n_cuts} of the cuts were spread {_SPACING.get(spacing, '')} between the bounds")
    if outside in _OUTSIDE and (outside != "clip" or low is not None or high is not None):
        notes.append(_OUTSIDE[outside])
    return [*notes, "may be missing, which can be asked"] if column.can_be_missing else notes


def origin_of(schema: Schema) -> tuple[str, ...]:
    """Where it came from, as sentences. What its author says is not among them: it may be anything."""
    said = []
    if schema.inferred:
        said.append("It was made from the records themselves: no promise covers what it shows about them.")
    if schema.released:
        names = ", ".join(f"{one.name} ({Guarantee.of(one.epsilon, float(one.delta))})" for one in schema.released)
        said.append(f"It was found in the records with noise, in part or whole, which the promise counts: {names}.")
    if not schema.source and not schema.inferred:
        said.append(NO_SOURCE)
    return tuple(said)


def columns(s: Summary) -> str:
    """Which columns rules or tests use, which they could have used, and which were kept out."""
    if not any(s.columns.values()):
        return "<p>The model uses no column.</p>"
    parts, groups = (
        [],
        {
            "used": (f"Used by {s.unit}s", "used"),
            "offered": ("Could have been used", ""),
            "excluded": ("Kept out on request", "out"),
            "ignored": ("Ignored by the schema", "out"),
        },
    )
    for role, (title, css) in groups.items():
        if names := s.columns[role]:
            parts.append(f'<h3>{title}</h3><ul class="chips {css}">{items(map(name, names))}</ul>')
        elif role == "used":
            parts.append(f"<h3>{title}</h3><p>No {s.unit} uses a column.</p>")
    if s.columns["excluded"] or s.columns["ignored"]:
        parts.append(
            f"<p>No {s.unit} can use a column that was kept out. Other columns may still carry much of the same information: a "
            "neighbourhood can stand in for an income, a job for a gender.</p>"
        )
    return "".join(parts)


def schema(s: Summary) -> str:
    """What could be asked of each column, and where that came from."""
    schema = s.model.schema
    if schema is None:
        return "<p>The model has no schema: it uses no column.</p>"
    source = f"<p>Source, as the schema states it: {name(schema.source)}.</p>" if schema.source else ""
    css = ' class="warning"' if schema.inferred else ""
    origin = "".join(f"<p{css}>{plain(sentence)}</p>" for sentence in origin_of(schema))
    rows = []
    for column in schema.columns:
        in_table = name(column.name).replace("_", "_<wbr>")  # no tag or entity has one
        called = f"{name(column.label)}<br><code>{in_table}</code>" if column.label else in_table
        asked = "<br>".join(_asked(lead, values) for lead, values in asked_of(column).items())
        notes = plain("; ".join(notes_of(column)))
        said = (asked or "none: it is not used") + (f'<br><span class="soft">{notes}</span>' if notes else "")
        rows.append(row(called, plain(column.kind), said))
    caption = "Everything the model could have asked about a record, fixed before it was learned"
    drawn = table("The schema", caption, heads("Column", "Type", "Possible tests"), rows)
    labels, target = "", [(schema.target, schema.target_label)] if schema.target_label else []
    if named := [*target, *dict(schema.class_labels).items()]:
        listed = items(f"{name(label)} is <code>{name(text)}</code>" for text, label in named)
        lead = "The model file and its code use the names in the table, not labels:"
        labels = f"<h3>In files and code</h3><p>{lead}</p><ul>{listed}</ul>"
    return f"{source}{origin}{drawn}{labels}"


def _asked(lead: str, values: Sequence[str]) -> str:
    shown = ", ".join(name(value, "value") for value in values[:MOST_VALUES])
    more = len(values) - MOST_VALUES
    return f"{plain(lead)} {shown}" + (f" and {more} more, listed in the model file" if more > 0 else "")


def not_covered(s: Summary) -> dict[str, str]:
    """What no promise covers: sentences by their titles."""
    said = dict(s.parameters).get("records_per_person", "1")
    proved = s.released.privacy and s.released.privacy.proved
    records = "The promise is about one record" + (f"; {proved.of_several}." if proved else ".")
    if said.isdecimal() and len(said) < 10 and int(said) > 1:
        records = (
            f"The promise holds for people with at most {int(said)} records. That nobody has more was not checked."
        )
    return {
        "People with several records": records,
        "The content of a record": "The promise is about whether a record is in the table. For the content of a record that is "
        "known to be there, double epsilon.",
        "Groups": "What is typical of a group can be learned, and tells something about each of its members. Privacy is "
        "not fairness.",
        "People who are scored": "The model promises nothing to the people it is applied to.",
        "Measuring it on private records": "Measuring accuracy on private records, cross-validation and tuning parameters on "
        "them reveal something, too.",
        "How long learning took": "Someone who can time a fit, or observe its memory, may learn something about the table.",
        "Other releases": "Each further release from the same table costs privacy, whether a ledger knows of it or not.",
    }


def limits(s: Summary) -> str:
    """What no promise covers."""
    lead = "The promise is about this model and the records it was learned from. It does not cover:"
    if s.released.privacy is None:
        lead = "Nothing is covered. Even for a model with a promise, this would not be covered:"
    elif not s.is_private:
        lead = "Nothing is proved about this model. Even with a proof, this would not be covered:"
    listed = items(f"<b>{title}.</b> {text}" for title, text in not_covered(s).items())
    return (
        f"<p>{lead}</p><ul>{listed}</ul><p>A {plain(s.model.kind)} is a summary of past records. A pattern in them need not be a "
        "cause. The package&rsquo;s pages &ldquo;The privacy promise&rdquo; and &ldquo;Limitations&rdquo; say more, with "
        "proofs.</p>"
    )


SECTIONS = {
    "promise": ("What is promised", promise),
    "epsilon": ("What epsilon means", epsilon),
    "budget": ("What was spent", budget),
    "columns": ("Columns", columns),
    "schema": ("The schema it rests on", schema),
    "limits": ("What is not covered", limits),
}
