"""Parquet files that this process reads by itself, a part at a time."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from discreet.sources import files

ROWS, PARTS, COLUMNS = 1 << 14, 32, 8


@pytest.mark.skipif(int(pa.__version__.partition(".")[0]) < 19, reason="this pyarrow reads whole columns of row groups")
@pytest.mark.parametrize("row_groups", [1, 8, PARTS])
def test_memory_is_that_of_a_part_of_the_records_however_a_file_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row_groups: int
) -> None:
    monkeypatch.setattr(files, "ROWS_AT_A_TIME", ROWS)
    monkeypatch.setattr(files, "BYTES_AT_A_TIME", ROWS)
    values = np.random.default_rng(0).normal(size=ROWS * PARTS)
    table = pa.table({f"x{i}": values + i for i in range(COLUMNS)})
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(
        table, path, ROWS * PARTS // row_groups, data_page_size=1 << 12, use_dictionary=False
    )  # whole pages, and dictionaries, are held
    usual = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(usual)
    pa.set_memory_pool(pool)
    try:
        records = sum(len(part[0]) for part in files.read_parts(path, [(name, None) for name in table.column_names]))
    finally:
        pa.set_memory_pool(usual)
    assert records == ROWS * PARTS
    assert 0 < pool.max_memory() < 5 * table.nbytes / PARTS


def test_columns_come_in_the_order_in_which_they_are_asked_for_even_twice(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(pa.table({"a": [1], "a.b": [2], "c": [3]}), path)
    *_, part = files.read_parts(path, [(name, None) for name in ("c", "a", "a.b", "c")])
    assert [column.to_pylist() for column in part] == [[3], [1], [2], [3]]
