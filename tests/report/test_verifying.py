"""A changed byte in any file of a release is found, and so are papers that say something else than the model."""

import json
import os
from dataclasses import replace

import pytest

from discreet import Ledger, RuleList, SavedModel, verify_release, write_release
from discreet._utils.errors import ModelError
from discreet.report.bundle import verifying
from discreet.report.bundle.record import NOT_INSTALLED, sha256_of, sums_of

from .test_release import STATEMENT, saved


@pytest.fixture
def release(tmp_path):
    saved().save(tmp_path / "model.json")
    write_release(tmp_path / "model.json", tmp_path / "release", table_name="Admissions")
    return tmp_path / "release"


def failing(folder):
    return {check.what for check in verify_release(folder).checks if check.holds is False}


def all_files(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def sum_again(folder):
    """What a forger does."""
    (folder / "SHA256SUMS").unlink()
    sums = sums_of({name: sha256_of((folder / name).read_bytes()) for name in all_files(folder)})
    (folder / "SHA256SUMS").write_bytes(sums)


def test_an_untouched_release_holds(release):
    assert failing(release) == set()
    assert all(check.holds is not None for check in verify_release(release).checks)


def test_a_changed_byte_in_any_file_is_found(release):
    for name in all_files(release):
        path = release / name
        before = path.read_bytes()
        places = range(0, len(before), max(1, len(before) // 7)) if name != "SHA256SUMS" else range(len(before))
        for place in [*places, len(before) - 1]:
            path.write_bytes(before[:place] + bytes([before[place] ^ 1]) + before[place + 1 :])
            if name == "SHA256SUMS":
                assert not all(check.holds for check in verifying.check_sums(verifying.files_in(release))), place
            else:
                assert f"{name} is unchanged" in failing(release), (name, place)
        for changed in (b"", before + b"\n", before[:-1]):
            path.write_bytes(changed)
            assert not verify_release(release).ok, name
        path.write_bytes(before)
    assert verify_release(release).ok


def test_a_file_that_is_gone_or_added_or_is_none_is_found(release):
    (release / "code" / "model.py").unlink()
    assert "code/model.py is unchanged" in failing(release)
    (release / "code" / "model.py").symlink_to(release / "README.md")
    assert "code/model.py is unchanged" in failing(release)
    (release / "code" / "model.py").unlink()
    os.mkfifo(release / "code" / "model.py")
    assert "code/model.py is unchanged" in failing(release)
    (release / "signed.md").write_text("me")
    assert "signed.md is unchanged" in failing(release)
    (release / "empty").mkdir()  # holds nothing, and says nothing
    (release / "SHA256SUMS").unlink()
    assert "SHA256SUMS is there" in failing(release)


@pytest.mark.parametrize(
    "name", ["README.md", "report.html", "checklist.md", "code/model.postgresql.sql", "disclosure.schema.json"]
)
def test_a_paper_that_was_forged_with_its_checksum_is_found(release, name):
    path = release / name
    path.write_text(path.read_text().replace("0.5", "0.1").replace("25", "24"))
    sum_again(release)
    assert failing(release) == {f"{name} agrees with the model"}


def test_a_record_that_was_forged_with_its_checksum_is_found(release):
    record = json.loads((release / "disclosure.json").read_text())
    record["privacy"]["proved"]["epsilon"] = 0.1
    (release / "disclosure.json").write_text(json.dumps(record, indent=1) + "\n")
    sum_again(release)
    assert "disclosure.json agrees with the model" in failing(release)


def test_a_model_that_was_swapped_is_found(release):
    other = replace(saved(), model=RuleList.parse("if age_y <= 45 then 1 else 0", (0, 1), saved().model.schema))
    other.save(release / "model.json")
    sum_again(release)
    assert "disclosure.json agrees with the model" in failing(release)
    (release / "model.json").write_text("{}")
    assert "model.json is a model, unchanged since it was saved" in failing(release)


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", b"[]", b"{", b"[" * 100_000, b'{"format": "discreet disclosure record", "version": true}', b"null"],
)
def test_a_record_that_is_none_is_found(release, content):
    (release / "disclosure.json").write_bytes(content)
    assert "disclosure.json is a discreet disclosure record" in failing(release)


@pytest.mark.parametrize("part", ["model", "software", "code", "table", "release"])
def test_a_record_with_a_part_of_another_type_is_found(release, part):
    record = json.loads((release / "disclosure.json").read_text())
    for value in (None, [], 3, {"left_out": 3}):
        (release / "disclosure.json").write_text(json.dumps(record | {part: value}))
        assert not verify_release(release).ok


def test_a_list_of_checksums_opens_no_file_elsewhere(release, tmp_path):
    (tmp_path / "secret").write_text("x")
    sums = (release / "SHA256SUMS").read_bytes()
    (release / "SHA256SUMS").write_bytes(sums + f"{sha256_of(b'x')}  ../secret\n".encode())
    assert "../secret is unchanged" in failing(release)


def test_papers_of_another_version_are_compared_but_for_the_version(tmp_path, monkeypatch):
    saved().save(tmp_path / "model.json")
    with monkeypatch.context() as there:
        for module in ("markdown", "record"):
            there.setattr(f"discreet.report.bundle.{module}.__version__", "99.0")
        for module in ("pmml", "onnx_graph"):
            there.setattr(f"discreet.models.export.{module}.__version__", "99.0")
        write_release(tmp_path / "model.json", tmp_path / "release")
    found = verify_release(tmp_path / "release")
    assert found.ok, [check for check in found.checks if not check.holds]
    page = tmp_path / "release" / "report.html"
    page.write_text(page.read_text().replace("0.5", "0.1"))
    sum_again(tmp_path / "release")
    found = verify_release(tmp_path / "release")
    assert found.state == "could not be checked"
    assert [check.what for check in found.checks if check.holds is None] == ["report.html agrees with the model"]


def test_a_format_that_was_not_installed_there_or_is_not_here_is_not_compared(tmp_path, monkeypatch):
    from discreet.models.export import FORMATS

    saved().save(tmp_path / "model.json")

    def cannot(model):
        raise ImportError("no package")

    made = {"model.other": lambda model: b"\0" + str(model).encode()}
    lacking = {"model.other": cannot}
    for folder, there, here, unknown in (("a", made, lacking, 1), ("b", lacking, made, 0), ("c", made, made, 0)):
        monkeypatch.setattr("discreet.report.bundle.record.FORMATS", FORMATS | there)
        write_release(tmp_path / "model.json", tmp_path / folder)
        left_out = json.loads((tmp_path / folder / "disclosure.json").read_text())["code"]["left_out"]
        assert left_out.get("code/model.other") == (NOT_INSTALLED if there is lacking else None)
        monkeypatch.setattr("discreet.report.bundle.record.FORMATS", FORMATS | here)
        found = verify_release(tmp_path / folder)
        assert found.holds is (None if unknown else True), folder
        assert sum(check.holds is None for check in found.checks) == unknown, folder


def test_a_ledger_that_does_not_know_the_model_is_told(tmp_path):
    ledger, other = Ledger.open(tmp_path / "ledger.json", 1.0), Ledger(1.0)
    with ledger.reserve(0.5, 0, "another"):
        pass
    saved(ledger=ledger.snapshot()).save(tmp_path / "model.json")
    write_release(tmp_path / "model.json", tmp_path / "release")
    for given, why in ((ledger, "names no entry"), (other, "names no entry")):
        check = verify_release(tmp_path / "release", given).checks[-1]
        assert check.holds is False
        assert why in check.why
    named = replace(ledger.snapshot(), number=1, release="r")
    for given, snapshot, why in (
        (other, named, "another ledger"),
        (ledger, named, "another release"),
        (ledger, replace(named, release=ledger.entries[0].release), "another checksum"),
    ):
        assert why in verifying._on_ledger(saved(ledger=snapshot), "0" * 64, given).why


def test_what_is_no_folder_is_no_release(tmp_path):
    (tmp_path / "file").write_text("x")
    for name in ("file", "nothing"):
        with pytest.raises(ModelError, match="not a release folder"):
            verify_release(tmp_path / name)
    (tmp_path / "empty").mkdir()
    assert not verify_release(tmp_path / "empty").ok


def test_what_cannot_be_checked_is_said(release):
    said = " ".join(verify_release(release).cannot)
    for word in ("ledger", "signed", "schema", "who made this folder"):
        assert word in said


def test_the_statement_of_a_release_is_that_of_the_model(release):
    assert verify_release(release).promise == f"Private, with {STATEMENT.proved}"
    assert SavedModel.load(release / "model.json") == saved()
