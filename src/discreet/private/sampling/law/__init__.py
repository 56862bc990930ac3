"""What decides the law of a draw of a whole list.

To read for the first sampler: ``choices``, ``elements``, ``proposals``, ``order``, ``weight``, ``margin``, ``envelope``; for the
second: ``choices``, ``gumbel``, ``search``.
"""
