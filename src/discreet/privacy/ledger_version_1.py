"""Version 1 of a ledger's file, of discreet 0.5 and before: one JSON document, replaced at every change.

It took releases about which nothing is proved, so such a ledger goes on taking them.
"""

import json
from dataclasses import replace
from fractions import Fraction

from .amounts import read_pair
from .entries import Entry, Whole, entry_from

FORMAT, VERSION = "discreet ledger", 1
CUTS, OF = "cut points ", " of "


def read_version_1(text: bytes) -> tuple[Whole, list[Entry]]:
    """What a file of version 1 says. What cannot be read raises one of ``UNREADABLE``."""
    data = json.loads(text.decode("utf-8"))
    if data["format"] != FORMAT or data["version"] != VERSION or not isinstance(data["entries"], list):
        raise ValueError
    epsilon, delta = read_pair((data["epsilon"], data["delta"]))
    if delta >= 1:
        raise ValueError
    entries = [entry_from(entry) for entry in data["entries"]]
    return Whole(epsilon, delta, True, None), [replace(e, cut_points=_cut_points(e)) for e in entries]


def _cut_points(entry: Entry) -> tuple[tuple[str, Fraction], ...]:
    """The cut points that ``private_cuts`` booked, in its very words.

    Those that were booked together with a model are not found: what they cost cannot be told from the model's price. They are
    booked once more with the next model that rests on them: too much, never too little.
    """
    name, of, _ = entry.what.removeprefix(CUTS).partition(OF)
    is_release = entry.what.startswith(CUTS) and of and name.startswith("cuts-") and " " not in name
    return ((name, entry.epsilon),) if is_release else ()
