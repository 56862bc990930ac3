"""Property tests draw the same examples every time in CI, so that a red run can be repeated; elsewhere new ones."""

import os

from hypothesis import HealthCheck, settings

from .support.engines import duckdb_engine, engine, postgresql_engine, spark_engine, spark_installed
from .support.left_out import pytest_deselected, pytest_terminal_summary, pytest_testnodedown

__all__ = ["duckdb_engine", "engine", "postgresql_engine", "spark_engine", "spark_installed"]  # fixtures
__all__ += ["pytest_deselected", "pytest_terminal_summary", "pytest_testnodedown"]  # hooks

settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("here"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")
