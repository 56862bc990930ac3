"""The errors a user can meet. Their messages name a parameter or a column and the fix, never a record's value."""

from collections.abc import Iterator
from contextlib import contextmanager


class SchemaError(ValueError):
    """A schema, or a table that does not fit its schema."""


class RuleError(ValueError):
    """A literal, rule or rule list that cannot be read, or does not fit its schema."""


class CandidatesError(ValueError):
    """A candidate set that is empty or too large."""


class PrivacyWarning(UserWarning):
    """A private learner was asked for something about which nothing is proved. It depends on parameters alone."""


@contextmanager
def no_value_shown(problem: str) -> Iterator[None]:
    """Say ``problem`` instead of what a library says, or a value's own code: both like to quote the value."""
    try:
        yield
    except (SchemaError, RuleError, CandidatesError, MemoryError, Warning):
        raise
    except Exception as error:
        raise SchemaError(f"{problem} ({type(error).__name__})") from None
