"""Made-up tables and their public schemas. Records are made and written in chunks, however many there are."""

from pathlib import Path

import numpy as np
import pandas as pd

CHUNK, CUTS = 250_000, 10
REGIONS = [f"region {i}" for i in range(12)]
JOBS = [f"job {i}" for i in range(16)]
SCHOOLS = ["none", "primary", "secondary", "college", "university", "doctorate"]


def numbers(n: int, columns: int, rng: np.random.Generator) -> pd.DataFrame:
    """Independent columns of numbers between 0 and 1, and a class that some of them make likelier."""
    x = rng.random((n, columns), np.float32)
    chance = 0.2 + 0.3 * (x[:, 0] > 0.6) + 0.2 * (x[:, 1] < 0.3) + 0.2 * ((x[:, 2] > 0.5) & (x[:, 3] > 0.5))
    frame = pd.DataFrame(x, columns=[f"a{i}" for i in range(columns)])
    return frame.assign(y=(rng.random(n) < chance).astype(np.int32))


def people(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Twelve columns as an ordinary table has them: amounts, counts, categories, missing values."""
    age = np.clip(rng.normal(45, 16, n), 18, 95).round().astype(np.int32)
    income = np.round(rng.lognormal(10.3, 0.6, n), 2)
    income[rng.random(n) < 0.06] = np.nan
    debt = np.where(rng.random(n) < 0.4, 0.0, np.round(rng.lognormal(8.5, 1.0, n), 2))
    weight = np.round(rng.normal(76, 14, n), 1)
    weight[rng.random(n) < 0.03] = np.nan
    visits = rng.poisson(3.0, n).astype(np.int32)
    school = rng.choice(len(SCHOOLS), n, p=[0.04, 0.14, 0.36, 0.22, 0.2, 0.04])
    chance = 0.1 + 0.25 * (age > 60) + 0.2 * (debt > 9000) + 0.15 * (visits > 4) - 0.08 * (school > 3)
    return pd.DataFrame(
        {
            "age": age,
            "income": income,
            "debt": debt,
            "weight": weight,
            "height": np.round(rng.normal(171, 10, n)),
            "hours": np.clip(rng.normal(36, 10, n), 0, 80).round().astype(np.int32),
            "visits": visits,
            "years_there": np.round(rng.exponential(7.0, n), 1),
            "region": np.array(REGIONS, object)[rng.integers(len(REGIONS), size=n)],
            "job": np.array([*JOBS, None], object)[rng.integers(len(JOBS) + 1, size=n)],
            "school": np.array(SCHOOLS, object)[school],
            "insured": rng.random(n) < 0.8,
            "ill": np.where(rng.random(n) < chance, "yes", "no").astype(object),
        }
    )


def write(path: Path, records: int, columns: int | None) -> None:
    """``numbers`` of so many columns, or ``people``, as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    writer = None
    for start in range(0, records, CHUNK):
        n = min(CHUNK, records - start)
        frame = people(n, rng) if columns is None else numbers(n, columns, rng)
        table = pa.Table.from_pandas(frame, preserve_index=False)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def save_schema(path: Path, columns: int | None) -> int:
    """The schema of ``numbers``, with even cuts; of ``people`` it is drafted from a public sample. How many candidates it has."""
    from discreet import Numeric, Schema, draft_schema
    from discreet.rules.candidates import Candidates

    if columns is None:
        draft = draft_schema(people(5_000, np.random.default_rng(1)), "ill")
        draft.save(path)
        return len(Candidates.of_schema(draft.schema))
    cuts = tuple(round((i + 1) / (CUTS + 1), 3) for i in range(CUTS))
    schema = Schema([Numeric(f"a{i}", cuts=cuts) for i in range(columns)], "y", (0, 1))
    schema.save(path)
    return len(Candidates.of_schema(schema))
