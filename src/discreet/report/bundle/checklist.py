"""What people have to make sure of, because no program can; with a place to sign."""

from ..._utils.escaping import in_markdown
from ...models.display.summary import summarize
from ...models.labelled import target_called
from ...models.saved import SavedModel
from ..html import LONGEST, Particulars
from .attachments import EVALUATION_PAGE, Attached, warning_of

BOX = "- [ ] "
SIGNING = ("the holder of the table", "the privacy officer", "the receiver")
LINE = "____________________"
NO_EVALUATION = "none is included: how good the model is on records is not said here"


def checklist(
    model: SavedModel, particulars: Particulars, sha256: str, sha256_of_record: str, attached: Attached
) -> str:
    """The checklist of a release."""
    warning = warning_of(model, attached.evaluation)
    loud = [] if warning is None else [f"> **WARNING: {in_markdown(warning, LONGEST)}**", ""]
    return "\n".join(
        [
            "# Checklist",
            "",
            *loud,
            f"- Table: {_said(particulars.table_name)}",
            f"- Organisation: {_said(particulars.organisation)}",
            f"- Contact: {_said(particulars.contact)}",
            f"- Purpose: {_said(particulars.purpose)}",
            f"- Learned on: {particulars.learned or 'not given'}; released on: {particulars.date or 'not given'}",
            f"- Model: a {model.model.kind} that predicts {_said(target_called(model.model, model.target) or '')}",
            f"- Promise: {in_markdown(summarize(model).verdict.headline, LONGEST)}",
            f"- Evaluation: {_evaluation(attached, particulars)}",
            f"- SHA-256 of `model.json`: `{sha256}`",
            f"- SHA-256 of `disclosure.json`: `{sha256_of_record}`",
            "",
            "Print this page, or fill in a copy outside of this folder: `discreet verify` finds every changed byte in here.",
            "",
            "## Before it leaves",
            "",
            *(f"{BOX}{item}" for item in _before(model, particulars, attached)),
            "",
            "## When it arrives",
            "",
            f"{BOX}`discreet verify` of this folder says that everything holds, and prints the fingerprint that the holder told "
            f"us in another way: {LINE}",
            f"{BOX}We know what the holder released from the table since {_day(particulars)}: {LINE}",
            f"{BOX}The model is used for the purpose above, and for nothing else.",
            f"{BOX}Whoever uses it knows that it promises nothing to the people whom it is applied to.",
            "",
            "## Signed",
            "",
            "| For | Name | Date | Signature |",
            "| --- | --- | --- | --- |",
            *(f"| {who} | {LINE} | __________ | {LINE} |" for who in SIGNING),
            "",
        ]
    )


def _evaluation(attached: Attached, given: Particulars) -> str:
    if attached.evaluation is None:
        return NO_EVALUATION
    proved = attached.evaluation.privacy.proved
    promise = "NOTHING IS PROVED ABOUT ITS PRIVACY" if proved is None else f"it has a price of its own, {proved}"
    on = in_markdown(given.evaluation_table, LONGEST) if given.evaluation_table else "records that are not named"
    return f"`{EVALUATION_PAGE}`; measured on: {on}; {promise}"


def _day(given: Particulars) -> str:
    return given.date or "the day of the release"


def _before(model: SavedModel, given: Particulars, attached: Attached) -> list[str]:
    """What the holder makes sure of."""
    schema, statement = model.model.schema, model.privacy
    items = ["The table named above is the one that the model was learned from, and its name may be known."]
    if statement is None or statement.proved is None:
        items.append("**Nothing is proved about this model. Whoever receives it may see the records themselves.**")
    else:
        items += [f"It is so that: {in_markdown(a, LONGEST)}." for a in summarize(model).verdict.assumes]
    if schema is not None and schema.inferred:
        items.append("**The schema was made from the records, and may show some of them.**")
    elif schema is not None:
        source = f" Its author says: {in_markdown(schema.source, LONGEST)}" if schema.source else ""
        items.append(f"The schema was written without a look at the records.{source}")
    if schema is not None:
        who = in_markdown(given.schema_source, LONGEST) if given.schema_source else f"(not given) {LINE}"
        items.append(f"Who drafted the schema, and from which sample or codebook: {who}")
    if attached.evaluation is None:
        items.append(
            "**No evaluation is included.** Nobody can tell from this folder how good the model is on records: measure it "
            f"(`discreet evaluate --epsilon`), or say why it may leave without: {LINE}"
        )
    else:
        on = in_markdown(given.evaluation_table, LONGEST) if given.evaluation_table else f"(not given) {LINE}"
        items.append(f"The records that the model was measured on may be named: {on}")
        items.append("The evaluation is on the ledger of the table that those records are from.")
    items.append("Names of columns, categories and classes, and their labels, may be known to everyone.")
    ledger = model.ledger
    if ledger is None:
        items.append(
            "**No ledger was kept.** Somebody added up what all releases from this table come to, and it is not too much."
        )
    else:
        entry = (
            "none of its entries"
            if ledger.number is None
            else f"entry {ledger.number} ({in_markdown(ledger.release or '?')})"
        )
        items.append(
            f"The ledger {in_markdown(ledger.ledger or '?')} is the only one for this table; this model is {entry}. "
            f"`discreet ledger show` has it with a checksum that begins as that of `model.json` above does."
        )
        items.append(
            f"What all releases from the table come to together is not too much: epsilon {float(ledger.spent[0]):.6g} of "
            f"{float(ledger.epsilon):.6g} was spent when this model was saved, and later ones come on top."
        )
        if attached.ledger is None:
            items.append(f"What was released from the table after this model was saved (the papers do not say): {LINE}")
        else:
            now = attached.ledger
            items.append(
                f"On {_day(given)} the ledger had {now.totals.entries} releases, which came to epsilon "
                f"{float(now.spent[0]):.6g} of {float(now.epsilon):.6g}. What was released since then: {LINE}"
            )
    items.append("No exact numbers about the records leave with it: accuracies, counts, run times, logs, notebooks.")
    items.append("The model was looked at for what it says about groups of people. Privacy is not fairness.")
    return items


def _said(text: str) -> str:
    return in_markdown(text, LONGEST) if text else "not given"
