"""Files are written whole or not at all."""

import os
import resource
import stat

import pytest

from discreet import Ledger
from discreet._utils import writing
from discreet._utils.writing import PendingFile, write_whole


def test_the_old_file_stays_until_the_new_one_is_complete(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with PendingFile(path) as file:
        file.stream.write(b"new")
        assert path.read_text() == "old"
        file.commit()
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_what_is_not_committed_leaves_nothing(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with PendingFile(path, reserve=10_000) as file:
        file.stream.write(b"half")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_reserved_space_is_given_back(tmp_path):
    with PendingFile(tmp_path / "a", reserve=100_000) as file:
        file.stream.write(b"abc")
        file.commit()
    assert (tmp_path / "a").stat().st_size == 3


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_the_mode_of_the_old_file_is_kept(tmp_path, mode):
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(mode)
    write_whole(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_no_space_is_noticed_before_anything_is_written(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    path = tmp_path / "a"
    path.write_text("old")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))  # as on a full disk
    try:
        with pytest.raises(OSError, match=r"large|space"):
            PendingFile(path, reserve=100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_file_that_may_not_be_replaced_stays(tmp_path):
    path = tmp_path / "a"
    with PendingFile(path, over=False) as file:
        file.stream.write(b"new")
        path.write_text("came first")
        with pytest.raises(FileExistsError):
            file.commit()
    assert path.read_text() == "came first"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("links", [True, False])
def test_a_new_name_is_taken_also_where_there_are_no_links(tmp_path, monkeypatch, links):
    def refused(*_):
        raise PermissionError

    if not links:
        monkeypatch.setattr(os, "link", refused)
    with PendingFile(tmp_path / "a", over=False) as file:
        file.stream.write(b"new")
        file.commit()
    assert (tmp_path / "a").read_text() == "new"
    assert os.listdir(tmp_path) == ["a"]


def test_long_names_are_written(tmp_path):
    write_whole(tmp_path / ("é" * 127), "new")
    assert len(os.listdir(tmp_path)) == 1


def test_a_file_that_somebody_has_open_is_replaced_as_soon_as_he_is_done(tmp_path, monkeypatch):
    """Windows refuses to replace what is open."""
    replace, refused = os.replace, []

    def refuses_twice(old, new):
        if len(refused) < 2:
            refused.append(new)
            raise PermissionError(13, "Access is denied")
        replace(old, new)

    monkeypatch.setattr(os, "replace", refuses_twice)
    with pytest.raises(PermissionError):
        write_whole(tmp_path / "file", "new")
    assert list(tmp_path.iterdir()) == []
    refused.clear()
    monkeypatch.setattr(writing, "OPEN_FILES_STAY", True)
    write_whole(tmp_path / "file", "new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert len(refused) == 2


def test_files_are_written_as_bytes_whatever_the_system_makes_of_lines(tmp_path, monkeypatch):
    flags = []
    plain = os.open
    monkeypatch.setattr(os, "O_BINARY", 1 << 40, raising=False)
    monkeypatch.setattr(
        os, "open", lambda path, given, *mode: (flags.append(given), plain(path, given & ~(1 << 40), *mode))[1]
    )
    write_whole(tmp_path / "file", "a\nb\n")
    assert flags[0] & 1 << 40
    assert (tmp_path / "file").read_bytes() == b"a\nb\n"


def test_a_folder_that_is_not_there_is_named_and_no_file_of_ours(tmp_path):
    for make in (write_whole, lambda path, _: Ledger.open(path, epsilon=1)):
        with pytest.raises(FileNotFoundError) as caught:
            make(tmp_path / "nowhere" / "ledger.db", b"")
        assert str(tmp_path / "nowhere" / "ledger.db") in str(caught.value)
        assert ".new" not in str(caught.value)
