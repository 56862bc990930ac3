"""Cut points computed from the records with differential privacy, for where a fine public grid will not do."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._utils.errors import SchemaError
from .._utils.parameters import as_written, check_integer
from .._utils.provenance import was_sample
from .._utils.redaction import SEE_LEDGER, redacted
from .._utils.tables import as_table
from ..accounting.costs import for_person
from ..accounting.ledger import Ledger
from ..accounting.statement import Guarantee, PrivacyStatement
from ..private.counts.counts import Counts
from ..private.mechanisms.quantile import CutsBudget, Stretch
from ..private.queries.cuts import CutQueries
from ..private.release import CountedSource, Plan, Terms, release
from ..schema import Schema
from ..schema.columns import Numeric
from ..schema.schema import check_private_schema, sorted_classes
from ..sources.engine import EngineTable, is_engine_table
from ..sources.memory import MemoryTable, check_types
from ..sources.plan import Counting

NOT_A_COLUMN = "not a column of the table"


@redacted(SEE_LEDGER)
def private_cuts(
    X: Any,
    schema: Schema,
    cuts: Mapping[str, int],
    *,
    epsilon: float,
    ledger: Ledger | None = None,
    records_per_person: int = 1,
    random_state: Any = None,
) -> Schema:
    """A schema whose columns are cut near the quantiles of the records, computed with differential privacy.

    Try a fine public grid first: it costs nothing (docs/cut-points.md). Cuts are chosen from those that the columns have in
    ``schema``: give them a fine grid, ``low``, ``high`` and ``n_cuts``. Adding or removing one record changes the chance of any
    outcome by a factor of at most ``e^epsilon``. Who learns from the same records afterwards has spent this epsilon, too: the
    schema keeps it, and the statement of each model adds it.

    Parameters
    ----------
    X : data frame or array
        The records. The target is not looked at. Of an ibis table (``open_table``) only counts come here.
    schema : Schema
        What is public about them.
    cuts : dict
        For each column to be cut, how many cuts it is to get, e.g. ``{"age": 7}``. 1, 3, 7 or 15 make the most of epsilon: q
        cuts cost as much as the next such number. It may become fewer where many records share a value.
    epsilon : float
        The privacy budget, shared by all these columns.
    ledger : Ledger, default=None
        Where to book it. What is wrong with the parameters, the schema or the types of columns costs nothing.
    records_per_person : int, default=1
        How many records a person may have: epsilon is then that of a person. Say the same when you learn.
    random_state : int, default=None
        A seed, for experiments. The cuts are then not private: the schema is marked as ``inferred``, and nothing is proved about
        what is learned with it.

    Returns
    -------
    Schema
        With the new cuts instead of the old ones; its ``cuts_epsilon`` says what they cost (for a single record).

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import Ledger, Numeric, Schema, private_cuts
    >>> ages = np.random.default_rng(0).normal(40, 10, size=(100_000, 1))
    >>> grid = Schema([Numeric("age", low=0, high=100, n_cuts=99)])
    >>> ledger = Ledger(epsilon=1.0)
    >>> schema = private_cuts(ages, grid, {"age": 3}, epsilon=0.1, ledger=ledger)
    >>> schema["age"].cuts
    (33.0, 40.0, 47.0)
    >>> schema.cuts_epsilon, float(ledger.remaining[0])
    (0.1, 0.9)
    """
    terms = Terms(epsilon, ledger, records_per_person, random_state)
    check_private_schema(schema)
    grids = _grids(schema, cuts)
    alone = Schema(tuple(grids.values()), target=NOT_A_COLUMN)
    classes = sorted_classes(alone)  # of labels nothing is used: they are all alike
    if is_engine_table(X):
        source: CountedSource = EngineTable(X.mutate(**{NOT_A_COLUMN: classes[0]}), alone, classes)
    else:
        table = as_table(X, schema.names)
        check_types(table, list(grids.values()))
        source = MemoryTable(table, np.full(len(table), classes[0]), classes)
    budget = CutsBudget.split(terms.record_price, [levels(int(cuts[name])) for name in grids])
    because = terms.reasons_for_no_proof(schema, drafted := was_sample(X))
    proved = None if because else Guarantee.of(terms.price, 0.0)
    name = f"cuts-{secrets.token_hex(4)}"
    price = budget.epsilon  # of a record, as fits will read it in the schema: 0.1, or 1/30 of which no decimal is exact
    paid = name, float(price) if as_written(float(price)) == price else price
    costs = for_person(budget.costs, int(records_per_person))
    statement = PrivacyStatement("cut points", None, proved, tuple(because), costs=costs)
    plan = CutPlan(
        terms=terms,
        schema=schema,
        statement=statement,
        counting=Counting.by_column(alone, tuple(grids.values())),
        kind="these cuts",
        what=f"cut points {name} of {', '.join(grids)}",
        cut_points=paid,
        budget=budget,
        grids=grids,
        n_cuts={name: int(cuts[name]) for name in grids},
    )
    found = {
        name: replace(schema[name], cuts=chosen, n_cuts=None, spacing="equal")  # type: ignore[call-arg]
        for name, chosen in release(plan, source).value.items()
    }
    columns = tuple(found.get(column.name, column) for column in schema.columns)
    if random_state is not None or drafted:
        return replace(schema, columns=columns, inferred=True)
    return replace(schema, columns=columns, released=(*schema.released, paid))


def _grids(schema: Schema, cuts: Mapping[str, int]) -> dict[str, Numeric]:
    """Each column to be cut, with nothing but the candidates for its cuts."""
    if not isinstance(cuts, Mapping) or not cuts:
        raise ValueError('cuts must be a dict that says how many cuts each column is to get: cuts={"age": 7}')
    grids = {}
    for name, n_cuts in cuts.items():
        column = schema[name]
        if not isinstance(column, Numeric):
            raise SchemaError(f"cuts names column {name!r}, which is {column.kind}; only numeric columns have cuts")
        if column.low is None or column.high is None:
            raise SchemaError(
                f"column {name!r}: cuts are chosen between public bounds; give it low, high and n_cuts in the schema"
            )
        check_integer(f"cuts[{name!r}]", n_cuts, at_least=1)
        candidates = tuple(c for c in column.all_cuts if column.low <= c < column.high)
        if len(candidates) <= n_cuts:
            raise SchemaError(
                f"column {name!r} has {len(candidates)} cuts between its bounds to choose {n_cuts} from; "
                "give it a finer grid in the schema, e.g. n_cuts = 100"
            )
        grids[name] = replace(column, cuts=candidates, n_cuts=None, spacing="equal", ranges=())
    return grids


@dataclass(frozen=True, kw_only=True)
class CutPlan(Plan):
    """So many cuts of some columns, from the candidates that their grids have."""

    budget: CutsBudget
    grids: Mapping[str, Numeric]
    n_cuts: Mapping[str, int]

    def queries(self, counts: Counts) -> CutQueries:
        """Levels of cut points."""
        return CutQueries(counts, tuple(self.grids.values()), self.budget)

    def run(self, queries: CutQueries) -> dict[str, tuple[float, ...]]:
        """The cuts of each column."""
        return {
            name: tuple(grid.cuts[i] for i in cuts_by_halving(queries, name, len(grid.cuts), self.n_cuts[name]))
            for name, grid in self.grids.items()
        }


def levels(n_cuts: int) -> int:
    """How many levels it takes: 1 cut one, 2 or 3 two, 4 to 7 three, 8 to 15 four."""
    return n_cuts.bit_length()


def cuts_by_halving(queries: CutQueries, column: str, n_candidates: int, n_cuts: int) -> list[int]:
    """The numbers of up to ``n_cuts`` candidates, in order; fewer where a stretch has no candidate left.

    The middle one first, then those of both sides at once, and so on. Given the cuts so far, what lies between them is
    disjoint, so a whole level costs what one choice costs: q cuts are paid for ``levels(q)`` times instead of q times
    (docs/theory/accounting.md). What is asked next depends on the answers alone.
    """
    found: list[int] = []
    wanted = [(0, n_candidates, n_cuts)]  # from which candidate to which, and how many cuts
    while wanted:
        # the n-th of 2n - 1 cuts is the middle one: half of the records are to be below it
        stretches = [Stretch(first, last, (n + 1) // 2, n + 1) for first, last, n in wanted]
        answers = queries.cut(column, stretches)
        found += answers
        sides = []
        for (first, last, n), cut in zip(wanted, answers, strict=True):
            sides += [(first, cut, (n - 1) // 2), (cut + 1, last, n // 2)]
        wanted = [(first, last, min(n, last - first)) for first, last, n in sides if min(n, last - first) > 0]
    return sorted(found)
