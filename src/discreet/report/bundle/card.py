"""The model card, as Hugging Face and scikit-learn (skops) have them: Markdown for people, after some YAML for programs.

Names, labels and what the holder says may be anything: in Markdown they go through ``in_markdown``, in YAML through ``in_yaml``.
"""

import re
from collections.abc import Iterable, Sequence

from ... import __version__
from ..._utils.escaping import in_markdown, in_yaml, on_a_line
from ..._utils.parameters import rounded_up
from ...accounting.ledger_export import to_whom, together
from ...accounting.summary import LedgerSnapshot
from ...evaluation.evaluated import NoisyEvaluation
from ...models.labelled import lines_in_labels
from ...schema import Schema
from ..html import LONGEST
from ..promise_part import not_covered
from ..schema_part import asked_of, labels_of, notes_of, origin_of
from .attachments import EVALUATION, EVALUATION_PAGE, Release

MOST_VALUES = 20  # of a column's cuts or categories
LONGEST_LINE = 1_000
NOT_GIVEN = "*not given*"


def model_card(release: Release) -> str:
    """The card of a model."""
    model, given, s = release.model, release.given, release.summary
    kind, warning = model.model.kind, release.warning
    rows = {
        "Table": given.table_name,
        "Learned on": given.learned,
        "Learner": model.learner,
        "Who drafted the schema, and from what": given.schema_source,
        "Version of discreet": model.discreet,
    }
    missing = _listed(f"not there: `{name}` ({in_markdown(why)})" for name, why in release.left_out.items())
    parameters = "".join(f"| {in_markdown(name)} | {in_markdown(value)} |\n" for name, value in s.parameters)
    return f"""{_front_matter(release)}
# A {kind}{"" if s.target is None else f" that predicts {in_markdown(s.target)}"}

{"" if warning is None else f"> **WARNING: {_sentence(warning)}**{chr(10) * 2}"}\
## Model description

A {kind}; its classes are {", ".join(map(in_markdown, s.classes))}. A person can check it line by line:

{_block(on_a_line(line, LONGEST_LINE) for line in lines_in_labels(model.model))}
### Intended uses and limitations

- Purpose, as the holder says: {said(given.purpose)}
- Licence: {said(given.licence)}
{_listed(f"{title}: {text}" for title, text in not_covered(s))}\
- A {kind} is a summary of past records. That something is true of many of them does not mean that it is the cause.

## Privacy

{_privacy(release)}\
### What was spent on the table

{_ledger(model.ledger)}

{_now(release)}

## Training procedure

{_listed(f"{name}: {said(value)}" for name, value in rows.items())}
The report has the counts of records that the model released, if any.

### Hyperparameters

| Hyperparameter | Value |
| --- | --- |
{parameters}
### The schema

{_schema(model.model.schema)}
## How to get started with the model

```python
from discreet import SavedModel

SavedModel.load("model.json").predict(table)
```

Without discreet: the files in `code/` predict the same. A file of SQL is one expression, to stand where a column does, \
as in `SELECT *, (...) AS predicted FROM new_records`; the file of Python is one function. They have the names of the \
table, not labels.
{missing and chr(10)}{missing}
## Evaluation results

{_results(release)}
## Model card authors

{said(given.organisation)}

## Model card contact

{said(given.contact)}

Released on {given.date or NOT_GIVEN}.

Made by discreet {__version__} from `model.json` (SHA-256 `{release.sha256}`) and from what its holder said. No records were \
read for it. `discreet verify` checks that this card says what the model says.
"""


def _front_matter(release: Release) -> str:
    """Keys as Hugging Face has them. What it does not know it ignores."""
    given, privacy = release.given, release.model.privacy
    tags = ["tabular-classification", "interpretable", release.model.model.kind.replace(" ", "-")]
    tags.append("differential-privacy" if release.warning is None else "not-private")
    lines = ["---", "library_name: discreet", "pipeline_tag: tabular-classification"]
    lines += [f"license: {in_yaml(given.licence)}"] if given.licence else []
    lines += ["tags:", *(f"- {in_yaml(tag)}" for tag in tags)]
    lines += ["source_table:", f"- {in_yaml(given.table_name)}"] if given.table_name else []
    lines.append("privacy:")
    if privacy is not None and (proved := privacy.proved) is not None:
        lines += [f"  epsilon: {_number(proved.epsilon)}", f"  delta: {_number(proved.delta or 0.0)}"]
    else:
        lines.append("  proved: false")
    return "\n".join([*lines, "---", ""])


def _number(value: float) -> str:
    """A number that is one in YAML 1.1, too, where 1e-06 is a string."""
    text = repr(float(value))
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _privacy(release: Release) -> str:
    verdict, statement = release.summary.verdict, release.model.privacy
    text = f"**{_sentence(verdict.headline)}.** {_sentence(verdict.text)}\n\n{_listed(map(_sentence, verdict.reasons))}"
    if verdict.assumes:
        text += f"It holds if all of this does:\n\n{_listed(map(_sentence, verdict.assumes))}"
    if statement is not None:
        text += f"\nThe statement, word for word:\n\n{_block([on_a_line(statement, 10_000)])}\n"
    return text


def _now(release: Release) -> str:
    """On the day of the release: what came since then only the holder knows."""
    later = "What was released from the table later is on no paper: ask the holder."
    if (now := release.attached.ledger) is None:
        return later
    return (
        f"When it was released ({release.given.date or NOT_GIVEN}) the ledger had {now.totals.entries} releases, which came to "
        f"{float(now.spent[0]):.6g}. {_proved_together(now)} {later}"
    )


def _proved_together(ledger: LedgerSnapshot) -> str:
    """About all releases; where more than a sum is to be said, the ledger has words for it."""
    added = f"Proved about all of them together: epsilon {rounded_up(ledger.totals.proved_epsilon, 4)}."
    return together(ledger, ledger.total()) or added


def _ledger(ledger: LedgerSnapshot | None) -> str:
    if ledger is None:
        return "No ledger was kept, so nobody can say what else was released from the same table. Promises add up."
    t, named, own = ledger.totals, "", ""
    if ledger.ledger is not None:
        named = f" {in_markdown(ledger.ledger)}"
    if ledger.number is not None:
        own = f" This model is entry {ledger.number}, {in_markdown(ledger.release or '?')}."
    said = f"{_proved_together(ledger)} {to_whom(ledger)}".rstrip()
    return (
        f"The ledger{named} allows epsilon {float(ledger.epsilon):.6g} for all releases from this table together. When this "
        f"model was saved it had {t.entries} of them, which came to {float(t.epsilon):.6g}. {said}{own}"
    )


def _schema(schema: Schema | None) -> str:
    if schema is None:
        return "The model has none: it asks nothing.\n"
    lines = ["All that could be asked of a record, fixed before the model was learned.", ""]
    if schema.source:
        lines += [f"Its author says where it came from: {in_markdown(schema.source, LONGEST)}", ""]
    lines += [part for sentence in origin_of(schema) for part in (_sentence(sentence), "")]
    lines += ["| Column | Label | Type | What could be asked |", "| --- | --- | --- | --- |"]
    for column in schema.columns:
        asked = "; ".join(f"{lead} {_some(values)}".strip() for lead, values in asked_of(column).items())
        notes = "".join(f"; {note}" for note in notes_of(column))
        label = in_markdown(column.label) if column.label else ""
        said = f"{asked or 'nothing: it is not used'}{notes}"
        lines.append(f"| {in_markdown(column.name)} | {label} | {column.kind} | {said} |")
    if called := labels_of(schema):
        lines += [
            "",
            "In files and code:",
            "",
            *(f"- {in_markdown(label)} is {in_markdown(name)}" for name, label in called),
        ]
    return "\n".join([*lines, ""])


def _results(release: Release) -> str:
    s, found = release.summary, release.evaluation
    own = "The model released no counts, so how often it is right cannot be said."
    if s.right is not None:
        noisy = "exact" if release.model.privacy is None else "noisy"
        own = (
            f"By its own {noisy} counts it is right about {s.right:.0%} of the records that it was learned from. "
            "On new records it may do worse."
        )
        if s.most_frequent is not None:
            own += f" Always saying {in_markdown(s.most_frequent[0])} would be right about {s.most_frequent[1]:.0%}."
    if found is None:
        return (
            f"{own}\n\n**No evaluation is included**: nobody measured, as part of this release, how "
            "good the model is on records.\n"
        )
    lines = [on_a_line(line, LONGEST_LINE) for line in found.to_text(on_a_line).split("\n")]
    price = priced(found, "its own price, beside the model's, is {}")
    return (
        f"{own}\n\nThe holder measured it on records (which: {said(release.given.evaluation_table)}), with noise; {price}. "
        f"`{EVALUATION_PAGE}` has the same for people, `{EVALUATION}` for programs, with the checksum of the model's file that "
        f"was measured.\n\n{_block(lines)}"
    )


def priced(evaluation: NoisyEvaluation, price: str) -> str:
    """What an evaluation cost, in the words of ``price``, or that nothing is proved about it."""
    proved = evaluation.privacy.proved
    return "NOTHING IS PROVED ABOUT ITS PRIVACY" if proved is None else price.format(proved)


def said(text: str, nothing: str = NOT_GIVEN) -> str:
    """What the holder says, or that nothing was said."""
    return in_markdown(text, LONGEST) if text else nothing


def _some(values: Sequence[str]) -> str:
    more = len(values) - MOST_VALUES
    return ", ".join(map(in_markdown, values[:MOST_VALUES])) + (f" and {more} more" if more > 0 else "")


def _sentence(text: str) -> str:
    """A sentence of a statement. It is ours, unless somebody changed the file: what is no prose is code."""
    text = on_a_line(text, LONGEST)
    harmless = re.fullmatch(r"[\w ,.;:()'=^/+-]*", text) and not re.search(r"https?:|www\.|__", text)
    return text if harmless else in_markdown(text, LONGEST)


def _listed(texts: Iterable[str]) -> str:
    return "".join(f"- {text}\n" for text in texts)


def _block(lines: Iterable[str]) -> str:
    """Lines as code, between marks that none of them holds."""
    text = "\n".join(lines)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}\n"
