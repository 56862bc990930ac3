"""Why should I believe this epsilon? Three levels of checks, from single choices to fits as a user makes them.

1. **Exact, one choice** (``choices.py``, ``draws.py``): the mechanism's exact probabilities on all pairs of neighbouring nodes
   up to a size, for two rules; and on extreme nodes for many.
2. **Exact, whole fit** (``learners.py``): the complete distribution of what a classifier returns, from its own code
   (``explore.py``).
3. **Observed** (``observed.py``): many fits, a lower bound for epsilon that they prove, and whether they follow the exact
   distribution; and many draws of each sampler.

No record is needed: all tables are made up.
"""

from .run import AuditCheck, Report, Row, audit

__all__ = ["AuditCheck", "Report", "Row", "audit"]
