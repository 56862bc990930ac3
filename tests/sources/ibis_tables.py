"""The engines of tests/support/engines.py, as ibis sees them."""

import ibis

CONNECT = {
    "duckdb": lambda engine: ibis.duckdb.from_connection(engine.connection),
    "postgresql": lambda engine: ibis.postgres.from_connection(engine.connection),
    "spark": lambda engine: ibis.pyspark.connect(engine.connection),
}


def connect(engine):
    """An ibis connection, made once for each engine."""
    if not hasattr(engine, "ibis"):
        engine.ibis = CONNECT[engine.dialect](engine)
    return engine.ibis


def stored(engine, table, name="records"):
    """An Arrow table as an ibis table of the engine."""
    engine.load(name, table)
    return connect(engine).table(name)
