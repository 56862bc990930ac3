"""Fixtures and hooks that are shared by all tests."""

from .support.engines import duckdb_engine, engine, postgresql_engine, spark_engine, spark_installed
from .support.left_out import pytest_deselected, pytest_terminal_summary, pytest_testnodedown
from .support.slices import pytest_configure

__all__ = ["duckdb_engine", "engine", "postgresql_engine", "spark_engine", "spark_installed"]  # fixtures
__all__ += ["pytest_configure", "pytest_deselected", "pytest_terminal_summary", "pytest_testnodedown"]  # hooks
