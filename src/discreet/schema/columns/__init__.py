"""What is public about one column: numbers, categories, truth values, or nothing that a rule may use.

To add a kind of column, write a class beside these, and name it in ``KINDS`` below: schema files, candidates, engines, exports,
checks and reports take it from there (tests/schema/test_a_new_kind.py adds two). It tests values by operators that rules have
already (``NEGATION``), and these fix what it can compare with: ``<=``, ``<``, ``>=`` and ``>`` take a number, ``in`` two, ``=``
and ``!=`` a string or an integer, ``is true`` and ``is missing`` nothing.
"""

from .base import NEGATION, Column, ColumnTest, Value
from .boolean import Boolean, Ignored
from .categorical import Categorical
from .numeric import Numeric
from .values import canonical, is_missing

# By the type that a schema file calls them. Where a value would do for several, the last one is what it looks like.
KINDS: dict[str, type[Column]] = {kind.kind: kind for kind in (Numeric, Categorical, Boolean, Ignored)}

__all__ = [
    "KINDS",
    "NEGATION",
    "Boolean",
    "Categorical",
    "Column",
    "ColumnTest",
    "Ignored",
    "Numeric",
    "Value",
    "canonical",
    "is_missing",
]
