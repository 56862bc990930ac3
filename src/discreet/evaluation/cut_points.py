"""Cut points computed from the records with differential privacy, for where a fine public grid will not do."""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._utils.errors import SchemaError
from .._utils.parameters import as_written, check_integer
from .._utils.provenance import was_sample
from .._utils.redaction import SEE_LEDGER, redacted
from .._utils.tables import Table, as_table
from ..accounting.costs import for_person
from ..accounting.ledger import Ledger, Reservation
from ..accounting.statement import Guarantee, PrivacyStatement
from ..estimators.algorithms.cuts import cuts_by_halving, levels
from ..private.mechanisms.quantile import CutsBudget
from ..private.noise.entropy import Entropy
from ..private.queries.cut_doors import CutDoors
from ..private.release import Release, Terms, release
from ..schema import Label, Schema
from ..schema.columns import Numeric
from ..schema.schema import check_private_schema, sorted_classes
from ..sources.engine import EngineTable, is_engine_table
from ..sources.memory import check_types
from ..sources.vault import Vault


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
    if is_engine_table(X):
        counting = {name: _counted(X, grid) for name, grid in grids.items()}

        def fill() -> dict[str, Vault]:
            return {name: Vault.filled_by(*source) for name, source in counting.items()}
    else:
        table = as_table(X, schema.names)
        check_types(table, list(grids.values()))

        def fill() -> dict[str, Vault]:
            return {name: _alone(table, grid) for name, grid in grids.items()}

    budget = CutsBudget.split(terms.record_price, [levels(int(cuts[name])) for name in grids])
    because = terms.reasons_for_no_proof(schema, drafted := was_sample(X))
    proved = None if because else Guarantee.of(terms.price, 0.0)
    name = f"cuts-{secrets.token_hex(4)}"
    price = (
        budget.epsilon
    )  # for a single record, as fits will read it in the schema: 0.1, or 1/30 of which no decimal is exact
    paid = name, float(price) if as_written(float(price)) == price else price
    costs = for_person(budget.costs, int(records_per_person))
    statement = PrivacyStatement("cut points", None, proved, tuple(because), costs=costs)
    what = f"cut points {name} of {', '.join(grids)}"

    def draw(vaults: dict[str, Vault], reservation: Reservation, entropy: Entropy) -> dict[str, tuple[float, ...]]:
        found = {}
        for column, grid in grids.items():
            doors = CutDoors(vaults[column], budget.choice_epsilon, reservation, entropy)
            numbers = cuts_by_halving(doors, len(grid.cuts), int(cuts[column]))
            found[column] = tuple(grid.cuts[i] for i in numbers)
        return found

    planned = Release("these cuts", what, terms, schema, statement, cut_points=paid)
    found = release(planned, fill, draw).value
    columns = [
        replace(c, cuts=found[c.name], n_cuts=None, spacing="equal")  # type: ignore[call-arg]
        if c.name in found
        else c
        for c in schema.columns
    ]
    if random_state is not None or drafted:
        return replace(schema, columns=tuple(columns), inferred=True)
    return replace(schema, columns=tuple(columns), released=(*schema.released, paid))


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


def _alone(table: Table, grid: Numeric) -> Vault:
    """A vault that holds this column alone. Of its labels nothing is used: they are all alike."""
    schema = Schema((grid,))
    return Vault.from_table(table, np.full(len(table), sorted_classes(schema)[0]), schema)


def _counted(table: Any, grid: Numeric) -> tuple[EngineTable, Schema, tuple[Label, ...]]:
    """The same of an ibis table: what fills the vault. A column of this name holds the labels."""
    schema = Schema((grid,), target=f"not {grid.name}")
    classes = sorted_classes(schema)
    return EngineTable(table.mutate(**{f"not {grid.name}": classes[0]}), schema, classes), schema, classes
