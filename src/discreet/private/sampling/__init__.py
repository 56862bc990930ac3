"""Draws of whole lists by the exponential mechanism.

    problem.py      what is drawn from: lists and their weights
    reference.py    the law by its definition, and a draw that looks at every list: slow and obvious
    law/            two fast draws. What decides which list comes out with which probability, each step with its identity
    speed/          what decides how long they take: bounds, incumbents, thresholds, the time limit
    optimum.py      the best list, without noise and without privacy

``law`` takes two kinds of things from ``speed``: **upper bounds**, which must hold, and **decisions** (what to divide, in which
portions), which may be anything. ``speed`` takes nothing from ``law`` and draws no random number. So as long as its bounds hold,
nothing in ``speed`` can change the law; each bound says what would break otherwise, and which test finds out. (A time limit that
strikes ends a draw in an error: ``speed/deadline.py``.) The wall between the rooms is in tests/private/test_two_rooms.py, which
also tries decisions at random, and bounds that hold but are loose.
"""
