"""Exact counts of made-up tables, for tests of what is done with them."""

from discreet._utils.tables import as_table
from discreet.schema.schema import sorted_classes
from discreet.sources.memory import MemoryTable
from discreet.sources.plan import Counting


def patterns_of(X, y, schema):
    """Of a table in memory: its distinct patterns with their class counts, as any fit counts them."""
    return MemoryTable(as_table(X, schema.names), y, sorted_classes(schema)).count(Counting.patterns(schema))
