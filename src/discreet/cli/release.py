"""``discreet release``: a model with its papers, in a folder that may leave."""

from pathlib import Path

import click

from .common import FILE, LEDGER, as_json_option, errors_as_messages, say_json
from .terminal import on_one_line, say

NEW_FOLDER = click.Path(path_type=Path)


@click.command()
@click.argument("model", type=FILE)
@click.option("--out", "-o", type=NEW_FOLDER, required=True, help="The new folder.")
@click.option("--table-name", default="", help="What the table is called, for people: Admissions 2025.")
@click.option("--organisation", default="", help="Who releases it.")
@click.option("--contact", default="", help="Whom to ask about it.")
@click.option("--purpose", default="", help="What it is for.")
@click.option("--licence", default="", help="Under which licence others may use it.")
@click.option("--learned", default="", metavar="DAY", help="When the model was learned: 2026-11-17.")
@click.option("--date", default="", metavar="DAY", help="When it is released; today by default.")
@click.option(
    "--schema-source",
    default="",
    help="Who drafted the schema, and from which sample: Dr. Ito, from the codebook of 2019.",
)
@click.option(
    "--evaluation", type=FILE, help="How good MODEL is: what `discreet evaluate --epsilon --out` wrote of it."
)
@click.option("--evaluation-table", default="", help="What it was measured on: Admissions 2026.")
@click.option("--ledger", "ledger_file", type=LEDGER, help="The model's ledger: the record says what it comes to now.")
@click.option(
    "--allow-unproved", is_flag=True, help="Write a model about which nothing is proved, too. EVERY PAPER SAYS SO."
)
@click.option("--force", is_flag=True, help="Write over an earlier release that `discreet verify` finds to hold.")
@as_json_option
def release(
    model: Path,
    out: Path,
    table_name: str,
    organisation: str,
    contact: str,
    purpose: str,
    licence: str,
    learned: str,
    date: str,
    schema_source: str,
    evaluation: Path | None,
    evaluation_table: str,
    ledger_file: Path | str | None,
    allow_unproved: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Put MODEL into a folder that may leave: with a report, a model card, a record for programs, code, and a checklist to sign.

    No record is read and nothing is spent. Whatever stands in the folder was in the model, in the evaluation or on the ledger
    that are given, or is said here; nothing is guessed from this machine. `discreet verify` checks such a folder.
    """
    from ..accounting.ledger import Ledger
    from ..report.bundle.folder import write_release

    with errors_as_messages():
        try:
            fingerprint = write_release(
                model,
                out,
                table_name=table_name,
                organisation=organisation,
                contact=contact,
                purpose=purpose,
                licence=licence,
                learned=learned,
                date=date,
                schema_source=schema_source,
                evaluation=evaluation,
                evaluation_table=evaluation_table,
                ledger=None if ledger_file is None else Ledger.open(ledger_file),
                allow_unproved=allow_unproved,
                force=force,
            )
        except FileExistsError as error:
            raise click.UsageError(str(error)) from None
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    unproved = "WARNING.txt" in files
    if as_json:
        say_json({"release": str(out), "fingerprint": fingerprint, "files": files, "unproved": unproved})
        return
    if unproved:
        say("NOTHING IS PROVED ABOUT THE PRIVACY OF THIS MODEL. Every paper says so.", err=True)
    say(f"{on_one_line(out)}: {', '.join(map(on_one_line, files))}")
    say(f"Fingerprint: {fingerprint}")
    missing = [name for name, value in (("--table-name", table_name), ("--organisation", organisation)) if not value]
    missing += [name for name, value in (("--contact", contact), ("--purpose", purpose)) if not value]
    missing += [] if schema_source else ["--schema-source"]
    missing += ["--evaluation"] if evaluation is None else [] if evaluation_table else ["--evaluation-table"]
    if missing:
        say(f"Not given, and so the papers say: {', '.join(missing)}. Whoever receives it may ask.")
    say(
        "Next: fill in a copy of checklist.md, and tell the receiver the fingerprint in another way. They run: "
        f"discreet verify {on_one_line(out)}"
    )
