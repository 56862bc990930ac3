"""A table that is counted many times is read once. Its bins are in a file without a name, which is gone however a fit ends."""

import io
import os
import tempfile
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from discreet import DPOptimalTreeClassifier, DPScoreCardClassifier, Ledger, Numeric, Schema
from discreet._utils.errors import EngineError
from discreet.datasets import load_compas
from discreet.private.counts.division import OUTSIDE, Division
from discreet.private.counts.marginals import MarginalsInProgress
from discreet.private.counts.totals import ByTotal, TotalsInProgress
from discreet.sources import plan as plan_module
from discreet.sources import source as bin_cache
from discreet.sources.memory import FileTable
from discreet.sources.source import BinCache

pytest.importorskip("ibis")
from discreet.sources.engine import EngineTable

from .ibis_tables import stored
from .test_cards import released

pytestmark = pytest.mark.filterwarnings("ignore::discreet._utils.errors.PrivacyWarning")

MODELS = {
    "card": lambda **given: DPScoreCardClassifier(epsilon=2.0, sequential=True, **given),
    "card of decimals": lambda **given: DPScoreCardClassifier(epsilon=2.0, sequential=True, points="decimals", **given),
    "cards after a tree": lambda **given: DPScoreCardClassifier(epsilon=2.0, sequential=True, tree_depth=1, **given),
    "tree in three stages": lambda **given: DPOptimalTreeClassifier(epsilon=2.0, stages=(1, 1, 1), **given),
}


@pytest.fixture(scope="module")
def compas():
    return load_compas(sensitive=False)


@pytest.fixture
def table(compas, duckdb_engine):
    return stored(duckdb_engine, pa.Table.from_pandas(compas.frame, preserve_index=False))


@pytest.fixture
def files(monkeypatch, tmp_path):
    """All that were made. The folder for them is empty at the end."""
    made = []

    def make(**how):
        made.append(tempfile.TemporaryFile(dir=tmp_path, **how))  # noqa: SIM115  # who closes it is the question
        return made[-1]

    monkeypatch.setattr(bin_cache, "TemporaryFile", make)
    yield made
    assert all(file.closed for file in made)
    assert os.listdir(tmp_path) == []


@pytest.fixture
def readings(monkeypatch):
    """How often a table was read."""
    read = []
    for source, method in ((EngineTable, "blocks"), (FileTable, "blocks")):
        before = getattr(source, method)
        monkeypatch.setattr(source, method, lambda *args, before=before: (read.append(0), before(*args))[1])
    return read


def same(clf):
    """All that is released, but for what is assumed of a table that is counted more than once."""
    return released(clf) if isinstance(clf, DPScoreCardClassifier) else replace(clf.tree_)


@pytest.mark.parametrize("name", MODELS)
def test_the_same_model_is_learned_from_one_reading(
    compas, table, name, files, readings, monkeypatch, tmp_path_factory
):
    path = tmp_path_factory.mktemp("tables") / "table.csv"
    compas.frame.to_csv(path, index=False)
    monkeypatch.setattr(plan_module, "FEW_PATTERNS", 0)  # by columns, not by patterns
    for seed in range(3):
        given = {"schema": compas.schema, "random_state": seed}
        here = same(MODELS[name](**given).fit(compas.data, compas.target))
        assert (files, readings) == ([], []), "a table in memory was written to a file"
        assert same(MODELS[name](**given).fit_source(table)) == here
        assert same(MODELS[name](**given).fit_file(path)) == here
        assert (len(files), len(readings)) == (2, 2)
        with monkeypatch.context() as patch:
            patch.setattr(plan_module, "MANY_PASSES", 1000)
            assert same(MODELS[name](**given).fit_source(table)) == here
        assert len(files) == 2, "fewer passes are not worth a file"
        assert len(readings) > 4
        files.clear(), readings.clear()


def opened(kind, make):
    """A file of this kind without a name."""
    with make() as file:
        return io.BufferedRandom(kind(os.dup(file.fileno()), "r+b"))


@pytest.mark.parametrize("room", [None, 0, 10_000])
def test_where_there_is_no_room_the_table_is_read_again(compas, table, room, files, readings, monkeypatch):
    make = bin_cache.TemporaryFile

    class Small(io.FileIO):
        """A file that takes so many bytes, and not all at once."""

        left = room

        def write(self, some):
            if not self.left:
                raise OSError(28, "No space left on device")
            written = super().write(some[: min(self.left, 777)])
            self.left -= written
            return written

    def small(**how):
        if room is None:
            raise FileNotFoundError(2, "No usable temporary directory found")
        return opened(Small, make)

    given = {"schema": compas.schema, "random_state": 5}
    here = released(MODELS["card"](**given).fit(compas.data, compas.target))
    monkeypatch.setattr(bin_cache, "TemporaryFile", small)
    assert released(MODELS["card"](**given).fit_source(table, counting="marginals")) == here
    assert len(readings) == len(compas.schema.used) + 1  # one for each column, one by total


def test_what_is_written_in_several_goes_is_whole(compas, table, files, readings, monkeypatch):
    make = bin_cache.TemporaryFile

    class Slow(io.FileIO):
        def write(self, some):
            return super().write(some[:777])

        def readinto(self, room):
            return super().readinto(memoryview(room)[:555])

    given = {"schema": compas.schema, "random_state": 5}
    here = released(MODELS["card"](**given).fit(compas.data, compas.target))
    monkeypatch.setattr(bin_cache, "TemporaryFile", lambda **how: opened(Slow, make))
    assert released(MODELS["card"](**given).fit_source(table, counting="marginals")) == here
    assert len(readings) == 1


def test_the_file_is_gone_when_the_engine_stops(compas, table, files, monkeypatch):
    def stop(self, *args):
        add(self, *args)
        raise EngineError("stopped")

    add, ledger = BinCache.add, Ledger(epsilon=3.0)
    monkeypatch.setattr(BinCache, "add", stop)
    with pytest.raises(EngineError, match="stopped") as caught:
        MODELS["card"](schema=compas.schema, ledger=ledger).fit_source(table, counting="marginals")
    assert len(files) == 1
    assert files[0].closed  # though the error is still there, with all that its traceback holds
    assert caught.value.__traceback__ is not None
    assert ledger.entries == ()


@pytest.mark.parametrize("how", ["cut off", "not readable"])
def test_a_file_that_cannot_be_read_again(compas, table, files, how, monkeypatch):
    def damage(self):
        if how == "cut off":
            self._file.truncate(100)
        else:
            with open(os.devnull, "wb") as other:
                os.dup2(other.fileno(), self._file.fileno())
        return True

    monkeypatch.setattr(BinCache, "is_whole", property(damage))
    ledger = Ledger(epsilon=3.0)
    with pytest.raises(EngineError, match=r"cannot be read again.*stays booked") as caught:
        MODELS["card"](schema=compas.schema, ledger=ledger).fit_source(table, counting="marginals")
    assert files[0].closed
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert len(ledger.entries) == 1


def test_nothing_is_left_in_the_engine(compas, table, files):
    connection = table.get_backend()
    named = "SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal"
    before = connection.raw_sql(named).fetchall()
    MODELS["card"](schema=compas.schema).fit_source(table, counting="marginals")
    assert len(files) == 1
    assert connection.raw_sql(named).fetchall() == before


@pytest.mark.skipif(os.name == "nt", reason="files have names there")
def test_the_file_has_no_name(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept = BinCache(Schema([Numeric("n", cuts=[1])], "y").used, 2)
    kept.add([np.array([0, 1, 2])], np.array([0, 1, 1]))
    assert kept.is_whole
    assert os.listdir(tmp_path) == []
    assert os.fstat(kept._file.fileno()).st_nlink == 0
    kept.close()
    assert not kept.is_whole


def test_counts_of_kept_records_are_those_of_the_records():
    rng = np.random.default_rng(0)
    columns = [Numeric("few", cuts=[1, 2]), Numeric("many", cuts=list(range(300))), Numeric("one", cuts=[1])]
    kept, parts = BinCache(columns, 3), []
    for n in (5, 0, 1, 400):
        parts.append(([rng.integers(0, column.n_bins, n) for column in columns], rng.integers(0, 3, n)))
        kept.add(*parts[-1])
    few = np.array([True, False, True, False])
    points = [(0.5, {1: rng.integers(0, 9, columns[1].n_bins).astype(float)}), (-3.0, {2: np.array([0.0, 4.0, 1.0])})]
    boxes = [({0: few}, 0), ({0: ~few}, 1)]
    for make in (
        lambda: TotalsInProgress(columns, 3, ByTotal(boxes, 0, 8, points, [0.0, 2.5, 5.0], apart=True), 1),
        lambda: TotalsInProgress(columns, 3, ByTotal((), 0, 2, points[1:], [0.0]), 0),
        lambda: MarginalsInProgress(columns[::-1], 3, 2, Division([({2: few}, OUTSIDE)], 0, 1)),
        lambda: MarginalsInProgress(columns, 3, 1),
    ):
        here, there = make(), make()
        which = [columns.index(column) for column in here.columns]
        for bins, labels in parts:
            here.add([bins[i] for i in which], labels)
        kept.add_to(there)
        if isinstance(here, TotalsInProgress):
            assert np.array_equal(here.finish(), there.finish())
        else:
            assert np.array_equal(here.finish().in_part(0).counts, there.finish().in_part(0).counts)
    kept.close()


@pytest.mark.parametrize("records", [0, 1, 8_192, 8_193])
def test_a_public_number_decides_whether_a_file_is_used(records, monkeypatch):
    """Not how many records there are: with little room, the file was used for 8,192 of them, and not for 8,193."""
    usage = bin_cache.disk_usage(tempfile.gettempdir())
    for free, used in ((bin_cache.ROOM - 1, False), (bin_cache.ROOM, True)):
        monkeypatch.setattr(bin_cache, "disk_usage", lambda folder, free=free: usage._replace(free=free))
        kept = BinCache([Numeric("x", cuts=[1])], 2)
        kept.add([np.zeros(records, np.uint8)], np.zeros(records, np.uint8))
        assert kept.is_whole is used
        kept.close()
