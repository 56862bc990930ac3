"""Folders of files that are written whole or not at all: beside the old one, and then in its place."""

import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path


def write_folder(path: str | PathLike[str], content: Mapping[str, bytes], over: bool = False) -> None:
    """Write files, by their names within a new folder ("code/model.py"); or raise and leave everything as it was.

    What is at the path stays, and is a ``FileExistsError``, unless ``over`` says that it may go. Then the old folder is taken
    away only when the new one is whole, and put back if that cannot take its place.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_folder(Path(folder) / "new", {"a.txt": b"hello", "sub/b.txt": b""})
    ...     sorted(p.name for p in (Path(folder) / "new").rglob("*"))
    ['a.txt', 'b.txt', 'sub']
    """
    place = Path(path)
    parent = place.absolute().parent
    scratch, old = (parent / f".{place.name[:50]}.{secrets.token_hex(8)}.{end}" for end in ("new", "old"))
    os.mkdir(scratch)
    try:
        for name, data in content.items():
            _write(scratch, name, data)
        for folder in {scratch, *((scratch / name).parent for name in content)}:
            _sync(folder)
        if os.path.lexists(place) and not over:
            raise FileExistsError(f"{place} exists")
        _swap(scratch, place.absolute(), old)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    _sync(parent)
    shutil.rmtree(old, ignore_errors=True)


def _write(folder: Path, name: str, data: bytes) -> None:
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _swap(scratch: Path, place: Path, old: Path) -> None:
    there = os.path.lexists(place)
    if there:
        os.rename(place, old)
    try:
        os.rename(scratch, place)
    except BaseException:
        if there:
            os.rename(old, place)
        raise


def _sync(folder: Path) -> None:
    """Names on disk, too, where a folder can be opened."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
