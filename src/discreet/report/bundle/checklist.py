"""What people have to make sure of, because no program can; with a place to sign."""

from ..._utils.escaping import in_markdown
from ..html import LONGEST, Particulars
from .attachments import EVALUATION_PAGE, Release
from .card import priced, said

BOX = "- [ ] "
SIGNING = ("the holder of the table", "the privacy officer", "the receiver")
LINE = "____________________"
NOT_GIVEN = "not given"


def checklist(release: Release, sha256_of_record: str) -> str:
    """The checklist of a release."""
    given, warning = release.given, release.warning
    loud = "" if warning is None else f"> **WARNING: {in_markdown(warning, LONGEST)}**\n\n"
    before = "\n".join(f"{BOX}{item}" for item in _before(release))
    signed = "\n".join(f"| {who} | {LINE} | __________ | {LINE} |" for who in SIGNING)
    return f"""# Checklist

{loud}\
- Table: {said(given.table_name, NOT_GIVEN)}
- Organisation: {said(given.organisation, NOT_GIVEN)}
- Contact: {said(given.contact, NOT_GIVEN)}
- Purpose: {said(given.purpose, NOT_GIVEN)}
- Learned on: {given.learned or NOT_GIVEN}; released on: {given.date or NOT_GIVEN}
- Model: a {release.model.model.kind} that predicts {said(release.summary.target or "", NOT_GIVEN)}
- Promise: {in_markdown(release.summary.verdict.headline, LONGEST)}
- Evaluation: {_evaluation(release)}
- SHA-256 of `model.json`: `{release.sha256}`
- SHA-256 of `disclosure.json`: `{sha256_of_record}`

Print this page, or fill in a copy outside of this folder: `discreet verify` finds every changed byte in here.

## Before it leaves

{before}

## When it arrives

{BOX}`discreet verify` of this folder says that everything holds, and prints the fingerprint that the holder told \
us in another way: {LINE}
{BOX}We know what the holder released from the table since {_day(given)}: {LINE}
{BOX}The model is used for the purpose above, and for nothing else.
{BOX}Whoever uses it knows that it promises nothing to the people whom it is applied to.

## Signed

| For | Name | Date | Signature |
| --- | --- | --- | --- |
{signed}
"""


def _evaluation(release: Release) -> str:
    if release.evaluation is None:
        return "none is included: how good the model is on records is not said here"
    on = said(release.given.evaluation_table, "records that are not named")
    return f"`{EVALUATION_PAGE}`; measured on: {on}; {priced(release.evaluation, 'it has a price of its own, {}')}"


def _day(given: Particulars) -> str:
    return given.date or "the day of the release"


def _before(release: Release) -> list[str]:
    """What the holder makes sure of."""
    model, given = release.model, release.given
    schema, statement, ledger, now = model.model.schema, model.privacy, model.ledger, release.attached.ledger
    asked = f"(not given) {LINE}"
    items = ["The table named above is the one that the model was learned from, and its name may be known."]
    if statement is None or statement.proved is None:
        items.append("**Nothing is proved about this model. Whoever receives it may see the records themselves.**")
    else:
        items += [f"It is so that: {in_markdown(a, LONGEST)}." for a in release.summary.verdict.assumes]
    if schema is not None:
        source = f" Its author says: {in_markdown(schema.source, LONGEST)}" if schema.source else ""
        items.append(
            "**The schema was made from the records, and may show some of them.**"
            if schema.inferred
            else f"The schema was written without a look at the records.{source}"
        )
        items.append(f"Who drafted the schema, and from which sample or codebook: {said(given.schema_source, asked)}")
    if release.evaluation is None:
        items.append(
            "**No evaluation is included.** Nobody can tell from this folder how good the model is on records: measure it "
            f"(`discreet evaluate --epsilon`), or say why it may leave without: {LINE}"
        )
    else:
        items += [
            f"The records that the model was measured on may be named: {said(given.evaluation_table, asked)}",
            "The evaluation is on the ledger of the table that those records are from.",
        ]
    items.append("Names of columns, categories and classes, and their labels, may be known to everyone.")
    if ledger is None:
        items.append(
            "**No ledger was kept.** Somebody added up what all releases from this table come to, and it is not too much."
        )
    else:
        own = "none of its entries"
        if ledger.number is not None:
            own = f"entry {ledger.number} ({in_markdown(ledger.release or '?')})"
        later = f"What was released from the table after this model was saved (the papers do not say): {LINE}"
        if now is not None:
            later = (
                f"On {_day(given)} the ledger had {now.totals.entries} releases, which came to epsilon "
                f"{float(now.spent[0]):.6g} of {float(now.epsilon):.6g}. What was released since then: {LINE}"
            )
        items += [
            f"The ledger {in_markdown(ledger.ledger or '?')} is the only one for this table; this model is {own}. "
            "`discreet ledger show` has it with a checksum that begins as that of `model.json` above does.",
            f"What all releases from the table come to together is not too much: epsilon {float(ledger.spent[0]):.6g} of "
            f"{float(ledger.epsilon):.6g} was spent when this model was saved, and later ones come on top.",
            later,
        ]
    return [
        *items,
        "No exact numbers about the records leave with it: accuracies, counts, run times, logs, notebooks.",
        "The model was looked at for what it says about groups of people. Privacy is not fairness.",
    ]
