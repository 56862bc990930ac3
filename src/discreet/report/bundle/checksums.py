"""The checksums of a folder: which files there are, and whether each is what it was.

Names in a folder, and in its list, are somebody else's: no file is opened but those that are found, and no link followed.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..._utils.errors import ModelError
from ..._utils.escaping import is_unicode

SUMS = "SHA256SUMS"
MOST_FILES = 1_000
LARGEST_FILE = 1 << 28
STATES = {True: "holds", False: "does not hold", None: "could not be checked"}

Found = dict[str, bytes | None]  # by name, what is in a folder; None for what is not a file or cannot be read


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. ``holds`` is None if it could not be checked."""

    what: str
    holds: bool | None
    why: str = ""

    @property
    def state(self) -> str:
        """In words."""
        return STATES[self.holds]


def sha256_of(data: bytes) -> str:
    """In hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def sums_of(checksums: Mapping[str, str]) -> bytes:
    """As ``sha256sum --check`` reads them."""
    return "".join(f"{checksums[name]}  {name}\n" for name in sorted(checksums)).encode("utf-8")


def files_in(folder: Path, prefix: str = "", deeper: int = 3) -> Found:
    """What is in a folder."""
    with os.scandir(folder) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    if len(listed) > MOST_FILES:
        raise ModelError("there are too many files in the folder for a release")
    found: Found = {} if listed or not prefix else {prefix: None}  # an empty folder is no part of a release
    for entry in listed:
        name = prefix + entry.name
        if not is_unicode(name):
            raise ModelError("not a release folder: a file name in it is not UTF-8")
        if entry.is_dir(follow_symlinks=False) and deeper:
            found |= files_in(folder / entry.name, f"{name}/", deeper - 1)
        else:
            found[name] = _read(folder / entry.name)
    return found


def _read(path: Path) -> bytes | None:
    """A regular file of a sensible size. It is looked at once it is open, so that it cannot be swapped for a pipe or a link."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(path, flags), "rb") as file:
            about = os.fstat(file.fileno())
            return file.read() if stat.S_ISREG(about.st_mode) and about.st_size <= LARGEST_FILE else None
    except OSError:
        return None


def check_sums(found: Found) -> Iterator[Check]:
    """Every file against SHA256SUMS. That itself must be, byte by byte, what the files come to."""
    sums = found.get(SUMS)
    if sums is None:
        yield Check(f"{SUMS} is there", False, "without it nothing can be said about the others")
        return
    lines = [line.partition(b"  ") for line in sums.split(b"\n") if line]
    listed = {name.decode("utf-8", "replace"): digest.decode("ascii", "replace") for digest, _, name in lines}
    actual = {name: None if data is None else sha256_of(data) for name, data in found.items() if name != SUMS}
    for name in sorted({*listed, *actual}):
        why = ""
        if name not in actual:
            why = "it is not there"
        elif name not in listed:
            why = f"{SUMS} does not list it: it was added"
        elif actual[name] is None:
            why = "it is not a file, or it is too large"
        elif actual[name] != listed[name]:
            why = f"its checksum is not the one in {SUMS}"
        yield Check(f"{name} is unchanged", not why, why)
    same = sums_of({name: digest or "" for name, digest in actual.items()}) == sums
    yield Check(f"{SUMS} is what the files come to", same, "" if same else "something above was changed, or this file")
