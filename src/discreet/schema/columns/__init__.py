"""What is public about one column: numbers, categories, truth values, or nothing that a rule may use."""

from .base import NEGATION, Column, Test, Value, canonical, is_missing
from .boolean import Boolean, Ignored
from .categorical import Categorical
from .numeric import Numeric

__all__ = [
    "NEGATION",
    "Boolean",
    "Categorical",
    "Column",
    "Ignored",
    "Numeric",
    "Test",
    "Value",
    "canonical",
    "is_missing",
]
