"""SQL is exported for one more engine than records are counted in."""

import pytest

from ..support.engines import ENGINES, SQLiteEngine


@pytest.fixture(scope="session")
def sqlite_engine():
    return SQLiteEngine()


@pytest.fixture(scope="session", params=["sqlite", *ENGINES])
def engine(request):
    return request.getfixturevalue(f"{request.param}_engine")
