"""Property tests draw the same examples every time in CI, so that a red run can be repeated; elsewhere new ones."""

import os

from hypothesis import HealthCheck, settings

from .engines import duckdb_engine, engine, postgresql_engine, spark_engine, spark_installed

__all__ = ["duckdb_engine", "engine", "postgresql_engine", "spark_engine", "spark_installed"]  # fixtures

settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("here"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")
