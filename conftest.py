"""The example of a module that needs an extra is run where the extra is installed."""

from importlib.util import find_spec

import pytest

if not find_spec("ibis"):
    collect_ignore = [
        "src/discreet/sources",
        "src/discreet/private_base.py",
        "docs/scale.md",
    ]


@pytest.fixture(autouse=True)
def _a_new_process():
    """What a process remembers of its releases and samples would show in the statements of whichever test comes next."""
    from discreet._utils import provenance
    from discreet.private import reminders

    reminders.forget_all()
    provenance.forget_all()


@pytest.fixture(autouse=True)
def _a_new_folder(request, monkeypatch):
    """What a page's example writes goes there."""
    if isinstance(request.node, pytest.DoctestItem) and request.node.path.suffix == ".md":
        monkeypatch.chdir(request.getfixturevalue("tmp_path"))
