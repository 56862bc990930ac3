"""The model card, as Hugging Face and scikit-learn (skops) have them: Markdown for people, after some YAML for programs.

Names, labels and what the holder says may be anything: in Markdown they go through ``in_markdown``, in YAML through ``in_yaml``.
"""

import re
from collections.abc import Iterable, Mapping

from ... import __version__
from ..._utils.escaping import in_markdown, in_yaml, on_a_line
from ...accounting.entries import LedgerSnapshot
from ...accounting.ledger_export import to_whom, together
from ...accounting.statement import rounded_up
from ...models.display.summary import Summary, summarize
from ...models.labelled import lines_in_labels, target_called
from ...models.saved import SavedModel
from ...schema import Schema
from ..html import LONGEST, Particulars
from ..promise_part import not_covered
from ..schema_part import facts_of, origin_of
from .attachments import EVALUATION, EVALUATION_PAGE, Attached, warning_of

MOST_VALUES = 20  # of a column's cuts or categories
LONGEST_LINE = 1_000
NOT_GIVEN = "*not given*"


def model_card(
    model: SavedModel, particulars: Particulars, sha256: str, left_out: Mapping[str, str], attached: Attached
) -> str:
    """The card of a model."""
    summary = summarize(model)
    target = target_called(model.model, model.target)
    title = f"A {model.model.kind}" if target is None else f"A {model.model.kind} that predicts {in_markdown(target)}"
    parts = [
        _front_matter(model, particulars, attached),
        f"# {title}\n",
        *_warning(model, attached),
        _description(model, summary, particulars),
        _privacy(model, summary, particulars, attached),
        _training(model, summary, particulars),
        _use(model, left_out),
        _results(summary, particulars, attached),
        _who(particulars),
        f"Made by discreet {__version__} from `model.json` (SHA-256 `{sha256}`) and from what its holder said. No records were "
        "read for it. `discreet verify` checks that this card says what the model says.\n",
    ]
    return "\n".join(parts)


def _front_matter(model: SavedModel, given: Particulars, attached: Attached) -> str:
    """Keys as Hugging Face has them. What it does not know it ignores."""
    private = warning_of(model, attached.evaluation) is None
    tags = ["tabular-classification", "interpretable", model.model.kind.replace(" ", "-")]
    tags.append("differential-privacy" if private else "not-private")
    lines = ["---", "library_name: discreet", "pipeline_tag: tabular-classification"]
    if given.licence:
        lines.append(f"license: {in_yaml(given.licence)}")
    lines += ["tags:", *(f"- {in_yaml(tag)}" for tag in tags)]
    if given.table_name:
        lines += ["source_table:", f"- {in_yaml(given.table_name)}"]
    if model.privacy is not None and model.privacy.proved is not None:
        proved = model.privacy.proved
        lines += ["privacy:", f"  epsilon: {_number(proved.epsilon)}", f"  delta: {_number(proved.delta or 0.0)}"]
    else:
        lines += ["privacy:", "  proved: false"]
    return "\n".join([*lines, "---", ""])


def _number(value: float) -> str:
    """A number that is one in YAML 1.1, too, where 1e-06 is a string."""
    text = repr(float(value))
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _warning(model: SavedModel, attached: Attached) -> list[str]:
    warning = warning_of(model, attached.evaluation)
    return [] if warning is None else [f"> **WARNING: {_sentence(warning)}**\n"]


def _description(model: SavedModel, summary: Summary, given: Particulars) -> str:
    shown = [on_a_line(line, LONGEST_LINE) for line in lines_in_labels(model.model)]
    purpose = _said(given.purpose)
    classes = ", ".join(in_markdown(c) for c in summary.classes)
    return (
        f"## Model description\n\nA {model.model.kind}; its classes are {classes}. A person can check it line by "
        f"line:\n\n{_block(shown)}\n### Intended uses and limitations\n\n- Purpose, as the holder says: {purpose}\n- "
        f"Licence: {_said(given.licence)}\n"
        + "".join(f"- {title}: {text}\n" for title, text in not_covered(summary))
        + f"- A {model.model.kind} is a summary of past records. That something is true of many of them does not mean that it is "
        "the cause.\n"
    )


def _privacy(model: SavedModel, summary: Summary, given: Particulars, attached: Attached) -> str:
    verdict, statement = summary.verdict, model.privacy
    lines = ["## Privacy", "", f"**{_sentence(verdict.headline)}.** {_sentence(verdict.text)}", ""]
    lines += [f"- {_sentence(reason)}" for reason in verdict.reasons]
    if verdict.assumes:
        lines += ["It holds if all of this does:", "", *(f"- {_sentence(a)}" for a in verdict.assumes)]
    if statement is not None:
        lines += ["", "The statement, word for word:", "", _block([on_a_line(statement, 10_000)])]
    return "\n".join(
        [*lines, "### What was spent on the table", "", _ledger(model.ledger), "", _now(given, attached), ""]
    )


def _now(given: Particulars, attached: Attached) -> str:
    """On the day of the release: what came since then only the holder knows."""
    later = "What was released from the table later is on no paper: ask the holder."
    if (now := attached.ledger) is None:
        return later
    said = _proved_together(now)
    return (
        f"When it was released ({given.date or NOT_GIVEN}) the ledger had {now.totals.entries} releases, which came to "
        f"{float(now.spent[0]):.6g}. {said} {later}"
    )


def _proved_together(ledger: LedgerSnapshot) -> str:
    """About all releases; where more than a sum is to be said, the ledger has words for it."""
    added = f"Proved about all of them together: epsilon {rounded_up(ledger.totals.proved_epsilon, 4)}."
    return together(ledger, ledger.total()) or added


def _ledger(ledger: LedgerSnapshot | None) -> str:
    if ledger is None:
        return "No ledger was kept, so nobody can say what else was released from the same table. Promises add up."
    t = ledger.totals
    own = (
        "" if ledger.number is None else f" This model is entry {ledger.number}, {in_markdown(ledger.release or '?')}."
    )
    said = _proved_together(ledger)
    named = "" if ledger.ledger is None else f" {in_markdown(ledger.ledger)}"
    return (
        f"The ledger{named} allows epsilon {float(ledger.epsilon):.6g} for all releases from this table together. When this "
        f"model was saved it had {t.entries} of them, which came to {float(t.epsilon):.6g}. {said} {to_whom(ledger)}".rstrip()
        + own
    )


def _training(model: SavedModel, summary: Summary, given: Particulars) -> str:
    rows = [("Table", given.table_name), ("Learned on", given.learned), ("Learner", model.learner)]
    rows += [("Who drafted the schema, and from what", given.schema_source)]
    rows += [("Version of discreet", model.discreet)]
    hyper = "".join(f"| {in_markdown(name)} | {in_markdown(value)} |\n" for name, value in summary.parameters)
    return (
        "## Training procedure\n\n"
        + "".join(f"- {name}: {_said(value)}\n" for name, value in rows)
        + "\nThe report has the counts of records that the model released, if any.\n\n"
        + f"### Hyperparameters\n\n| Hyperparameter | Value |\n| --- | --- |\n{hyper}\n"
        + _schema(model.model.schema)
    )


def _schema(schema: Schema | None) -> str:
    if schema is None:
        return "### The schema\n\nThe model has none: it asks nothing.\n"
    source = [f"Its author says where it came from: {in_markdown(schema.source, LONGEST)}", ""] if schema.source else []
    lines = [
        "### The schema",
        "",
        "All that could be asked of a record, fixed before the model was learned.",
        "",
        *source,
    ]
    lines += [part for sentence in origin_of(schema) for part in (_sentence(sentence), "")]
    lines += ["| Column | Label | Type | What could be asked |", "| --- | --- | --- | --- |"]
    for column in schema.columns:
        facts = facts_of(column)
        asked = "; ".join(f"{a.lead} {_some(a.values)}".strip() for a in facts.asked) or "nothing: it is not used"
        notes = "".join(f"; {note}" for note in facts.notes)
        label = in_markdown(facts.label) if facts.label else ""
        lines.append(f"| {in_markdown(facts.name)} | {label} | {facts.kind} | {asked}{notes} |")
    called = [(schema.target or "", schema.target_label)] if schema.target_label else []
    called += list(schema.class_labels)
    if called:
        lines += ["", "In files and code:", ""]
        lines += [f"- {in_markdown(label)} is {in_markdown(name)}" for name, label in called]
    return "\n".join([*lines, ""])


def _use(model: SavedModel, left_out: Mapping[str, str]) -> str:
    missing = "".join(f"- not there: `{name}` ({in_markdown(why)})\n" for name, why in left_out.items())
    return (
        "## How to get started with the model\n\n```python\nfrom discreet import SavedModel\n\n"
        'SavedModel.load("model.json").predict(table)\n```\n\n'
        "Without discreet: the files in `code/` predict the same. A file of SQL is one expression, to stand where a column does, "
        "as in `SELECT *, (...) AS predicted FROM new_records`; the file of Python is one function. They have the names of the "
        f"table, not labels.\n{missing and chr(10)}{missing}"
    )


def _results(summary: Summary, given: Particulars, attached: Attached) -> str:
    if summary.right is None:
        said = "The model released no counts, so how often it is right cannot be said."
    else:
        noisy = "exact" if summary.statement is None else "noisy"
        said = (
            f"By its own {noisy} counts it is right about {summary.right:.0%} of the records that it was learned from. "
            "On new records it may do worse."
        )
        if summary.most_frequent is not None:
            said += f" Always saying {in_markdown(summary.most_frequent[0])} would be right about {summary.most_frequent[1]:.0%}."
    if (found := attached.evaluation) is None:
        return (
            f"## Evaluation results\n\n{said}\n\n**No evaluation is included**: nobody measured, as part of this release, how "
            "good the model is on records.\n"
        )
    proved = found.privacy.proved
    price = (
        "NOTHING IS PROVED ABOUT ITS PRIVACY" if proved is None else f"its own price, beside the model's, is {proved}"
    )
    lines = [on_a_line(line, LONGEST_LINE) for line in found.to_text(on_a_line).split("\n")]
    return (
        f"## Evaluation results\n\n{said}\n\nThe holder measured it on records (which: {_said(given.evaluation_table)}), with "
        f"noise; {price}. `{EVALUATION_PAGE}` has the same for people, `{EVALUATION}` for programs, with the checksum of "
        f"the model's file that was measured.\n\n{_block(lines)}"
    )


def _who(given: Particulars) -> str:
    return (
        f"## Model card authors\n\n{_said(given.organisation)}\n\n## Model card contact\n\n{_said(given.contact)}\n\n"
        f"Released on {given.date or NOT_GIVEN}.\n"
    )


def _said(text: str) -> str:
    return in_markdown(text, LONGEST) if text else NOT_GIVEN


def _some(values: tuple[str, ...]) -> str:
    more = len(values) - MOST_VALUES
    return ", ".join(map(in_markdown, values[:MOST_VALUES])) + (f" and {more} more" if more > 0 else "")


def _sentence(text: str) -> str:
    """A sentence of a statement. It is ours, unless somebody changed the file: what is no prose is code."""
    text = on_a_line(text, LONGEST)
    harmless = re.fullmatch(r"[\w ,.;:()'=^/+-]*", text) and not re.search(r"https?:|www\.|__", text)
    return text if harmless else in_markdown(text, LONGEST)


def _block(lines: Iterable[str]) -> str:
    """Lines as code, between marks that none of them holds."""
    text = "\n".join(lines)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}\n"
