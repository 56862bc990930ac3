"""The example of a module that needs an extra is run where the extra is installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("art") else ["src/discreet/evaluation/membership.py"]
if not find_spec("ibis"):
    collect_ignore += [
        "src/discreet/sources",
        "src/discreet/vault/vault.py",
        "src/discreet/private_base.py",
        "docs/scale.md",
    ]
