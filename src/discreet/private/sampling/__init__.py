"""Draws of rule lists and trees by the exponential mechanism.

    problem.py                              what is drawn from: lists and their weights
    reference.py                            the distribution by its definition, list by list and tree by tree: slow and obvious
    list_sums.py, limited_lists.py          short lists: all of them are summed
    choices.py, elements.py, envelope.py    longer lists: these decide the distribution, with identities
    bounds.py, thresholds.py, deadline.py   pruning, which decides only the run time: bounds, decisions, the time limit
    trees/                                  trees: all of them are summed
    optimum.py                              the best list and the best tree, without noise and without privacy

The modules that decide the distribution take two things from pruning: **upper bounds**, which must hold, and **decisions** (what
to divide, in which portions), which may be anything. Pruning imports nothing from them and draws no random number. So as long as
its bounds hold, it cannot change the distribution; each bound says what would break otherwise, and which test finds out. (A time
limit that strikes ends a draw in an error: ``deadline.py``.) tests/private/test_pruning.py checks this, also with random
decisions, and with bounds that hold but are loose.
"""
