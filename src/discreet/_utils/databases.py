"""New files of SQLite that are there whole or not at all."""

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from .writing import PendingFile


def new_database(path: Path, create: Callable[[sqlite3.Connection], object]) -> None:
    """Make a database elsewhere, and put it there. If there is one by then, nothing happens."""
    with TemporaryDirectory() as folder:
        with closing(sqlite3.connect(Path(folder, "new"), isolation_level=None)) as connection:
            create(connection)
        content = Path(folder, "new").read_bytes()
    with PendingFile(path, over=False) as file, suppress(FileExistsError):
        file.stream.write(content)
        file.commit()
