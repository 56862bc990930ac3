"""What the holder of a table says of a release, and the model does not."""

import re
from dataclasses import dataclass, fields
from datetime import date as calendar_day

from ..._utils.errors import ModelError
from ...schema.columns.base import checked_text

LONGEST = 2_000
DAYS = ("learned", "date")


@dataclass(frozen=True)
class Particulars:
    """What a holder says of a release. Nothing is guessed: what is not given is said to be not given.

    All are strings of one line; ``learned`` and ``date``, on which the model was learned and released, are days (2026-11-17).
    ``schema_source`` is who drafted the schema, and from which sample or codebook; ``evaluation_table`` what records the model
    was measured on.

    >>> Particulars(table_name="Admissions 2025", date="2026-11-17").organisation
    ''
    """

    table_name: str = ""
    organisation: str = ""
    contact: str = ""
    purpose: str = ""
    licence: str = ""
    learned: str = ""
    date: str = ""
    schema_source: str = ""
    evaluation_table: str = ""

    def __post_init__(self) -> None:
        for entry in fields(self):
            text = checked_text(entry.name, getattr(self, entry.name), LONGEST)
            if entry.name in DAYS and text and not _is_day(text):
                raise ModelError(f"{entry.name} must be a day, written like 2026-11-17")


def _is_day(text: str) -> bool:
    try:
        return bool(re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text)) and bool(calendar_day.fromisoformat(text))
    except ValueError:
        return False
