"""Draws of rule lists and trees by the exponential mechanism.

    problem.py                              what is drawn from: lists and their weights
    reference.py                            the distribution by its definition, list by list and tree by tree: slow and obvious
    list_sums.py, limited_lists.py          short lists: all of them are added up
    choices.py, elements.py, envelope.py    longer lists: what decides which one comes out with which probability, with identities
    bounds.py, thresholds.py, deadline.py    what decides how long that takes: bounds, decisions, the time limit
    trees/                                  trees: all of them are added up
    optimum.py                              the best list and the best tree, without noise and without privacy

What decides which list comes out takes two kinds of things from what decides how long it takes: **upper bounds**, which must
hold, and **decisions** (what to divide, in which portions), which may be anything. The latter takes nothing from the former and
draws no random number. So as long as its bounds hold, nothing in it can change the distribution; each bound says what would break
otherwise, and which test finds out. (A time limit that strikes ends a draw in an error: ``deadline.py``.) This wall is in
tests/private/test_pruning.py, which also tries decisions at random, and bounds that hold but are loose.
"""
