"""How whole fits grow with records and with columns: time and memory. Draws docs/growth-wide.svg, with matplotlib."""

from pathlib import Path

from children import ask, megabytes, run
from jobs import LISTS, TREES

RECORDS, COLUMNS, BASE = (100_000, 1_000_000, 10_000_000), (20, 40, 80), {"records": 1_000_000, "columns": 40}
MODELS = {
    "tree, stages (2, 2), through DuckDB": ("source", TREES, {"stages": [2, 2]}),
    "list, rules_per_draw=2, through DuckDB": ("source", LISTS, {"rules_per_draw": 2}),
    "list, rules_per_draw=2, from the file": ("file", LISTS, {"rules_per_draw": 2}),
}


def measure(folder: Path, records: list[int] | None, picture: Path) -> None:
    """Print and draw all curves. ``records``: fewer, to try it; then nothing is drawn."""
    several = tuple(records or RECORDS)
    base = BASE if records is None else BASE | {"records": max(records)}
    found: dict[str, dict[str, list[tuple[int, float, float]]]] = {"records": {}, "columns": {}}
    for panel, sizes in (("records", several), ("columns", COLUMNS)):
        for size in sizes:
            table = base | {panel: size}
            path, schema = folder / "wide.parquet", folder / "wide.toml"
            ask("write_table", path=path, schema=schema, **table)
            for name, (how, model, parameters) in MODELS.items():
                taken = ask("fit", how=how, path=path, schema=schema, model=model, parameters=parameters)
                found[panel].setdefault(name, []).append((size, taken["seconds"], taken["bytes"]))
                pairs = table["columns"] * (table["columns"] - 1) / 2
                print(
                    f"{table['records']:,} records, {table['columns']} columns, {name}: {taken['seconds']:.2f} s, "
                    f"{taken['seconds'] / table['records'] * 1e6:.2f} microseconds a record, "
                    f"{taken['seconds'] / table['records'] / pairs * 1e9:.2f} nanoseconds a record and pair of columns, "
                    f"{megabytes(taken['bytes'])}",
                    flush=True,
                )
            path.unlink()
    if records is None:
        import json

        data = folder / "found.json"
        data.write_text(json.dumps(found))
        run(Path(__file__).parent / "draw_growth.py", data, picture)
