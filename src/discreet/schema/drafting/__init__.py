"""A schema drafted from a public sample or a data dictionary, for a person to correct."""

from .dictionary import draft_from_dictionary
from .draft import Draft
from .sample import draft_schema

__all__ = ["Draft", "draft_from_dictionary", "draft_schema"]
