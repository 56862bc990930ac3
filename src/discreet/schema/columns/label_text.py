"""What may be a label: one line of text."""

import unicodedata

from ..._utils.errors import SchemaError

LONGEST_LABEL = 200
LONGEST_SOURCE = 1_000


def checked_text(where: str, text: object, longest: int = LONGEST_LABEL) -> str:
    """A label, if it is one line of text. An empty one is none."""
    if not isinstance(text, str) or (text and not text.strip()):
        raise SchemaError(f"{where} must be a string with something to read in it")
    if len(text) > longest:
        raise SchemaError(f"{where} must have at most {longest} characters")
    if any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in text):
        raise SchemaError(f"{where} must be one line, without control characters")
    return text
