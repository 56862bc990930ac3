"""The engines in which a table may stay. What is peculiar to one stands in its own file, and nobody else asks which one it is.

To add an engine that ibis knows, write a class beside these, and name it in ``ENGINES``. One that has no class is taken for an
ordinary one: tables of it can be learned from, but no URL opens it, and nothing cancels its queries.
"""

from typing import Any

from .base import Engine
from .duckdb import DuckDB
from .postgres import PostgreSQL
from .spark import Spark

ENGINES: tuple[type[Engine], ...] = (DuckDB, PostgreSQL, Spark)


def engine_of(connection: Any) -> Engine:
    """The engine that a connection of ibis leads to."""
    return next((engine for engine in ENGINES if engine.name_in_ibis == connection.name), Engine)(connection)


def engine_at(scheme: str) -> type[Engine] | None:
    """The engine that URLs of this scheme are for, if there is one."""
    return next((engine for engine in ENGINES if scheme in engine.schemes), None)
