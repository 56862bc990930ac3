"""Tries the wheel and the sdist in dist/, each in an empty environment: `python -m tools.try_dist` (`make dist`).

Both must hold every file that git tracks in src/discreet; installed, outside of this repository, they must load the data and
schemas, learn, save a model, write a report, and answer on the command line.
"""

import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
TRIED = """
import discreet, pathlib, sys
from discreet import DPOptimalRuleListClassifier, SavedModel
from discreet.datasets import load_adult, load_compas, load_german_credit
from discreet.report.html import to_html

assert pathlib.Path(discreet.__file__).is_relative_to(sys.prefix), discreet.__file__
assert (pathlib.Path(discreet.__file__).parent / "py.typed").exists()
for load in (load_adult, load_compas, load_german_credit):
    data = load()
    assert data.DESCR and len(data.schema.columns) and len(data.frame)
data = load_compas(sensitive=False)
clf = DPOptimalRuleListClassifier(epsilon=1.0, schema=data.schema).fit(data.data, data.target)
assert str(clf.privacy_.proved) == "epsilon = 1"
assert "<style>" in to_html(clf)
SavedModel.of(clf).save("model.json")
"""


def tracked() -> set[str]:
    """The files of the package, by their places in it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "src/discreet"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return {name.removeprefix("src/") for name in listed.split("\0") if name}


def contents(package: Path) -> set[str]:
    """The files of the package that a wheel or an sdist holds, by the same places."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as wheel:
            return {name for name in wheel.namelist() if name.startswith("discreet/")}
    with tarfile.open(package) as sdist:
        inside = {name.partition("/")[2] for name in sdist.getnames()}
    return {name.removeprefix("src/") for name in inside if name.startswith("src/discreet/")}


def try_installed(package: Path) -> None:
    """Install it into an empty environment, and use it from an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(f"{folder}/venv", with_pip=True)
        binaries = Path(folder, "venv", "bin")
        pip = [binaries / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        subprocess.run([*pip, str(package)], check=True, cwd=folder)
        for command in (
            [binaries / "python", "-c", TRIED],
            [binaries / "discreet", "show", "model.json", "--format", "sql"],
            [binaries / "discreet", "--version"],
        ):
            subprocess.run(command, check=True, cwd=folder)


def main() -> None:
    """Try what is in dist/."""
    packages = sorted([*(ROOT / "dist").glob("*.whl"), *(ROOT / "dist").glob("*.tar.gz")])
    if [package.suffix for package in packages] != [".whl", ".gz"]:
        sys.exit("dist/ must hold one wheel and one sdist")
    for package in packages:
        if missing := tracked() - contents(package):
            sys.exit(f"{package.name} lacks {', '.join(sorted(missing))}")
        if surplus := contents(package) - tracked():
            sys.exit(f"{package.name} holds what git does not know: {', '.join(sorted(surplus))}")
        try_installed(package)
        print(
            f"{package.name}: {package.stat().st_size / 1e6:.1f} MB, {len(tracked())} files of the package, installed and tried"
        )


if __name__ == "__main__":
    main()
