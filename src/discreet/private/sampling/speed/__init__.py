"""What decides how long a draw of a whole list takes, and not which list comes out (see the package above).

``reach`` and ``quick_sums`` have upper bounds, which must hold, and be the same whenever the same is asked; ``incumbent`` and
``thresholds`` make decisions, which may be anything; ``deadline`` gives up.
"""
