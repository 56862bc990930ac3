"""The model card, as Hugging Face and scikit-learn (skops) have them: Markdown for readers, after YAML for programs.

And the checklist: what people have to make sure of, because no program can; with a place to sign.

Names, labels and what the holder says may be anything: in Markdown they go through ``in_markdown``, in YAML through ``in_yaml``.
"""

import re
from collections.abc import Iterable, Iterator
from importlib.resources import files

from ... import __version__
from ..._utils.escaping import in_markdown, in_yaml, on_a_line
from ..._utils.parameters import rounded_up
from ...accounting.ledger_export import to_whom, together
from ...accounting.summary import LedgerSnapshot
from ...evaluation.evaluated import NoisyEvaluation
from ...models.display.wording import lines_in_labels
from ...schema import Schema
from ..html import LONGEST
from ..sections import not_covered, origin_of
from .record import EVALUATION, Release

EVALUATION_PAGE = "evaluation.html"
LONGEST_LINE = 1_000
NOT_GIVEN, THAT_DAY = "*not given*", "the day of the release"
LINE = "____________________"


def model_card(release: Release) -> str:
    """The card of a model."""
    model, given, s = release.model, release.given, release.summary
    rows = {
        "Table": given.table_name,
        "Learned on": given.learned,
        "Learner": model.learner,
        "Who drafted the schema, and from what": given.schema_source,
        "Version of discreet": model.discreet,
    }
    missing = _listed(f"not there: `{name}` ({in_markdown(why)})" for name, why in release.left_out.items())
    return _template("model_card.txt").format(
        front_matter=_front_matter(release),
        kind=model.model.kind,
        predicts="" if s.target is None else f" that predicts {in_markdown(s.target)}",
        warning="" if release.warning is None else f"> **WARNING: {_sentence(release.warning)}**\n\n",
        classes=", ".join(map(in_markdown, s.classes)),
        lines=_block(on_a_line(line, LONGEST_LINE) for line in lines_in_labels(model.model)),
        not_covered=_listed(f"{title}: {text}" for title, text in not_covered(s).items()),
        privacy=_privacy(release),
        ledger=_ledger(model.ledger),
        now=_now(release),
        training=_listed(f"{name}: {_said(value)}" for name, value in rows.items()),
        parameters="".join(f"| {in_markdown(name)} | {in_markdown(value)} |\n" for name, value in s.parameters),
        schema=_schema(model.model.schema),
        missing=missing and f"\n{missing}",
        results=_results(release),
        date=given.date or NOT_GIVEN,
        version=__version__,
        sha256=release.sha256,
        **{entry: _said(getattr(given, entry)) for entry in ("purpose", "licence", "organisation", "contact")},
    )


def _template(filename: str) -> str:
    """A text beside this file, with names in braces where something is to be said."""
    return files(__package__).joinpath(filename).read_text(encoding="utf-8")


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
        text += f"It rests on these assumptions:\n\n{_listed(map(_sentence, verdict.assumes))}"
    if statement is not None:
        text += f"\nThe statement, word for word:\n\n{_block([on_a_line(statement, 10_000)])}\n"
    return text


def _said_of(ledger: LedgerSnapshot, when: str) -> str:
    """What all releases come to; where more than a sum is to be said, the ledger has words for it."""
    added = f"Proved about all of them together: epsilon {rounded_up(ledger.totals.proved_epsilon, 4)}."
    return (
        f"{when} the ledger had {ledger.totals.entries} releases with a total epsilon of {float(ledger.spent[0]):.6g}. "
        f"{together(ledger, ledger.total()) or added}"
    )


def _now(release: Release) -> str:
    """On the day of the release; only the data holder knows what came later."""
    later = "Ask the data holder what was released from the table after that: this folder cannot know."
    now, day = release.attached.ledger, f"On the day of the release ({release.given.date or NOT_GIVEN})"
    return later if now is None else f"{_said_of(now, day)} {later}"


def _ledger(ledger: LedgerSnapshot | None) -> str:
    if ledger is None:
        return "No ledger was kept, so it is unknown what else was released from the same table. Promises add up."
    named = "" if ledger.ledger is None else f" {in_markdown(ledger.ledger)}"
    own = f" This model is entry {ledger.number}, {in_markdown(ledger.release or '?')}." if ledger.number else ""
    said = f"{_said_of(ledger, 'When this model was saved')} {to_whom(ledger)}".rstrip()
    return f"The ledger{named} allows epsilon {float(ledger.epsilon):.6g} for all releases from this table together. {said}{own}"


def _schema(schema: Schema | None) -> str:
    """Where it came from, and its file, but for the comment that begins it."""
    if schema is None:
        return "The model has no schema: it uses no column.\n"
    said = ["Everything the model could have asked about a record, fixed before it was learned."]
    if schema.source:
        said.append(f"Source, as the schema states it: {in_markdown(schema.source, LONGEST)}")
    lines = schema.to_toml().partition("\n\n")[2].rstrip().split("\n")
    block = _block(on_a_line(line, LONGEST_LINE) for line in lines)
    return "\n\n".join([*said, *map(_sentence, origin_of(schema)), block])


def _results(release: Release) -> str:
    s, found = release.summary, release.attached.evaluation
    own = "The model released no counts, so its accuracy on the training records is unknown."
    if s.right is not None:
        noisy = "exact" if release.model.privacy is None else "noisy"
        own = (
            f"By its own {noisy} counts it is right on {s.right:.0%} of the records it was learned from. "
            "On new records it may do worse."
        )
        if s.most_frequent is not None:
            own += f" Always predicting {in_markdown(s.most_frequent[0])} would be right on {s.most_frequent[1]:.0%}."
    if found is None:
        return (
            f"{own}\n\n**No evaluation is included**: how good the model is on records was not measured "
            "for this release.\n"
        )
    lines = [on_a_line(line, LONGEST_LINE) for line in found.to_text(on_a_line).split("\n")]
    price = _priced(found, "this cost {} in addition to the model")
    return (
        f"{own}\n\nThe data holder measured it on records (table: {_said(release.given.evaluation_table)}), with noise; {price}. "
        f"`{EVALUATION_PAGE}` shows the same as a page; `{EVALUATION}` is for programs and has the checksum of the measured "
        f"model file.\n\n{_block(lines)}"
    )


def _priced(evaluation: NoisyEvaluation, price: str) -> str:
    """What an evaluation cost, in the words of ``price``, or that nothing is proved about it."""
    proved = evaluation.privacy.proved
    return "NOTHING IS PROVED ABOUT ITS PRIVACY" if proved is None else price.format(proved)


def _said(text: str | None, nothing: str = NOT_GIVEN) -> str:
    """What the holder says, or that nothing was said."""
    return in_markdown(text, LONGEST) if text else nothing


def _sentence(text: str) -> str:
    """A sentence of a statement. It is ours, unless somebody changed the file: anything but plain prose becomes code."""
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


def checklist(release: Release, sha256_of_record: str) -> str:
    """The checklist of a release."""
    given, warning, nothing = release.given, release.warning, "not given"
    measured = "none is included: how good the model is on records is not shown here"
    if (found := release.attached.evaluation) is not None:
        on = _said(given.evaluation_table, "records that are not named")
        measured = f"`{EVALUATION_PAGE}`; measured on: {on}; {_priced(found, 'it cost {} in addition to the model')}"
    return _template("checklist.txt").format(
        warning="" if warning is None else f"> **WARNING: {in_markdown(warning, LONGEST)}**\n\n",
        learned=given.learned or nothing,
        date=given.date or nothing,
        that_day=given.date or THAT_DAY,
        kind=release.model.model.kind,
        target=_said(release.summary.target, nothing),
        headline=in_markdown(release.summary.verdict.headline, LONGEST),
        measured=measured,
        sha256=release.sha256,
        sha256_of_record=sha256_of_record,
        before=_listed(f"[ ] {item}" for item in _before(release)),
        **{name: _said(getattr(given, name), nothing) for name in ("table_name", "organisation", "contact", "purpose")},
    )


def _before(release: Release) -> Iterator[str]:
    """What the holder makes sure of."""
    model, given, found = release.model, release.given, release.attached.evaluation
    schema, statement, ledger, now = model.model.schema, model.privacy, model.ledger, release.attached.ledger
    asked = f"(not given) {LINE}"
    if statement is None or statement.proved is None:
        yield "**Nothing is proved about this model. Assume that whoever receives it can see the records.**"
    else:
        yield from (f"Assumption: {in_markdown(a, LONGEST)}." for a in release.summary.verdict.assumes)
    if schema is not None:
        source = f" The schema states its source as: {in_markdown(schema.source, LONGEST)}" if schema.source else ""
        paid = ", ".join(in_markdown(one.name) for one in schema.released)
        but = f"Apart from what was found with noise, which the promise counts ({paid}), the" if paid else "The"
        written = f"{but} schema was written without looking at the records.{source}"
        yield "**The schema was made from the records, and may show some of them.**" if schema.inferred else written
        yield f"Who drafted the schema, and from which sample or codebook: {_said(given.schema_source, asked)}"
    if found is None:
        yield (
            "**No evaluation is included.** This folder does not show how good the model is on records: measure it "
            f"(`discreet evaluate --epsilon`), or say why it is released without: {LINE}"
        )
    else:
        yield f"The name of the table that the model was measured on may be published: {_said(given.evaluation_table, asked)}"
        yield "The evaluation is on the ledger of the table that those records are from."
    yield "The names of columns, categories and classes, and their labels, may be published."
    if ledger is None:
        yield "**No ledger was kept.** We added up the epsilons of all releases from this table, and the total is acceptable."
        return
    own = f"entry {ledger.number} ({in_markdown(ledger.release or '?')})" if ledger.number else "none of its entries"
    yield (
        f"The ledger {in_markdown(ledger.ledger or '?')} is the only ledger for this table; this model is {own}. "
        "`discreet ledger show` lists it with the beginning of the checksum of `model.json` above."
    )
    yield (
        f"The total of all releases from the table is acceptable: epsilon {float(ledger.spent[0]):.6g} of "
        f"{float(ledger.epsilon):.6g} was spent when this model was saved, and later releases add to it."
    )
    if now is None:
        yield f"What was released from the table after this model was saved (these documents do not say): {LINE}"
    else:
        yield (
            f"On {given.date or THAT_DAY} the ledger had {now.totals.entries} releases, which came to epsilon "
            f"{float(now.spent[0]):.6g} of {float(now.epsilon):.6g}. What was released since then: {LINE}"
        )
