"""Files, folders and databases that are written whole or not at all: beside the old one, and then in its place.

The name beside is random, and made by this process alone: it follows no link that somebody laid there. What was there before
stays until the new content is on disk, and keeps its mode.
"""

import os
import secrets
import shutil
import sqlite3
import stat
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from os import PathLike
from pathlib import Path
from typing import IO, Self

OPEN_FILES_STAY = os.name == "nt"
PAUSES = (0.01, 0.03, 0.1, 0.3, 1.0)  # seconds


class PendingFile:
    """A file whose place and space are taken now, and whose content comes later. Without ``commit`` nothing changes.

    Parameters
    ----------
    path : str or path
        Where the file goes. A symbolic link is followed, so that the link stays and what it leads to is replaced.
    reserve : int, default=0
        How many bytes to set aside at once, so that a full disk is noticed before the content is made.
    over : bool, default=True
        Whether a file that is there is replaced. Otherwise ``commit`` raises ``FileExistsError``, also if it appeared since.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with PendingFile(Path(folder) / "a.txt", reserve=1000) as file:
    ...         _ = file.stream.write(b"hello")
    ...         file.commit()
    ...     (Path(folder) / "a.txt").read_text()
    'hello'
    """

    def __init__(self, path: str | PathLike[str], reserve: int = 0, over: bool = True) -> None:
        self.path = Path(os.path.realpath(path))  # unlike resolve, it takes links in a circle
        self._over = over
        self._scratch = self.path.with_name(f".{self.path.name[:50]}.{secrets.token_hex(8)}.new")  # 255 bytes at most
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT"):  # not everywhere
            flags |= getattr(os, name, 0)
        try:
            descriptor = os.open(self._scratch, flags, 0o666)  # less the umask
        except OSError as error:
            error.filename = str(self.path)  # nobody asked for the other one
            raise
        self.stream: IO[bytes] = os.fdopen(descriptor, "wb")
        try:
            with suppress(FileNotFoundError):
                os.chmod(self._scratch, stat.S_IMODE(os.stat(self.path).st_mode))
            if reserve and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(descriptor, 0, reserve)
        except BaseException:
            self.discard()
            raise

    def commit(self) -> None:
        """Put what was written in the place of the old file. It is on disk when this returns."""
        try:
            self.stream.flush()
            self.stream.truncate()  # what was reserved and not needed
            os.fsync(self.stream.fileno())
            self.stream.close()
            self._move()
        except BaseException:
            self.discard()
            raise
        _sync(self.path.parent)

    def _move(self) -> None:
        if self._over:
            _replace(self._scratch, self.path)
            return
        try:
            os.link(self._scratch, self.path)  # unlike a rename, it fails if the name is taken
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links: take the name first
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            _replace(self._scratch, self.path)
        else:
            self._scratch.unlink()

    def discard(self) -> None:
        """Leave everything as it was. After ``commit`` this does nothing."""
        with suppress(OSError):  # a full disk shows again when the rest of a buffer is written
            self.stream.close()
        with suppress(OSError):
            self._scratch.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()


def _replace(old: Path, new: Path) -> None:
    """Windows refuses while somebody has the file open: reads a ledger, say, or looks for viruses. That passes."""
    for pause in PAUSES if OPEN_FILES_STAY else ():
        try:
            return os.replace(old, new)
        except PermissionError:
            time.sleep(pause)
    os.replace(old, new)


def write_whole(path: str | PathLike[str], content: str | bytes) -> None:
    """Write bytes, or a string in UTF-8, in place of the old file; or raise and leave the old one as it was."""
    with PendingFile(path) as file:
        file.stream.write(content.encode("utf-8") if isinstance(content, str) else content)
        file.commit()


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
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            write_whole(scratch / name, data)
        _sync(scratch)
        if there := os.path.lexists(place):
            if not over:
                raise FileExistsError(f"{place} exists")
            os.rename(place, old)
        try:
            os.rename(scratch, place)
        except BaseException:
            if there:
                os.rename(old, place)
            raise
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    with suppress(OSError):  # the new folder is there
        _sync(parent)
    shutil.rmtree(old, ignore_errors=True)


def _sync(folder: Path) -> None:
    """Names on disk, too."""
    with suppress(PermissionError):  # a folder in which one may write but not look; on Windows, any
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def new_database(path: Path, create: Callable[[sqlite3.Connection], object]) -> None:
    """Make a database in memory, and put it there. If there is one by then, nothing happens."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create(connection)
        content = connection.serialize()
    with PendingFile(path, over=False) as file, suppress(FileExistsError):
        file.stream.write(content)
        file.commit()
