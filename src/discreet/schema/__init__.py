"""What a table may hold: its columns, their public facts, and how a schema is drafted."""

from .releases import SchemaRelease as SchemaRelease
from .schema import Label as Label
from .schema import Schema as Schema
