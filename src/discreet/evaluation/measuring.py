"""What every measurement of a model on private records has in common: from a model, records and a price to noisy histograms."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .._utils.errors import RuleError
from .._utils.samples import was_sample
from .._utils.tables import as_table
from ..accounting.costs import DISCRETE_LAPLACE, repeated
from ..accounting.ledger import Reservation
from ..accounting.statement import Guarantee, PrivacyStatement, neighbours_of
from ..models.model import Model, model_of
from ..private.noise.entropy import Entropy, Integers
from ..private.queries.evaluation import Division, epsilon_each, noisy_histograms
from ..private.release import ASSUMES, SCHEMA_IS_PUBLIC, Release, Terms, release
from ..schema import Schema
from ..schema.private import check_private_schema, sorted_classes
from ..sources.engine import EngineTable, is_engine_table
from ..sources.memory import check_labels, check_types
from ..sources.vault import Vault
from .origin import origin_of


def model_to_measure(model: Any) -> Model:
    """The model, if it can be measured."""
    rules = model_of(model)
    if rules is None or rules.schema is None:
        raise RuleError(
            "model must be a rule list or another model with a schema, or a fitted classifier of this package"
        )
    return rules


@dataclass(frozen=True)
class Measurement:
    """What is to be counted: for each division, a histogram of the places of records (``private/queries/evaluation.py``).

    ``schema`` describes the columns that divide the records. None is the model's own.
    """

    kind: str  # for people: "this accuracy"
    mechanism: str  # for the statement
    what: str  # for the ledger
    places: Integers
    n_places: int
    divisions: Sequence[Division] = (Division(),)
    schema: Schema | None = None


def measure(
    measurement: Measurement, model: Any, X: Any, y: Any, terms: Terms, model_is_public: bool
) -> tuple[list[Integers], float, PrivacyStatement]:
    """The noisy histograms, the epsilon of the noise in each of their bins, and what is promised."""
    rules, divisions = model_to_measure(model), measurement.divisions
    assert rules.schema is not None
    whole_schema = replace(rules.schema, classes=rules.classes)
    dividing = [d.column for d in divisions if d.column is not None]
    groups = whole_schema if measurement.schema is None else measurement.schema
    # the columns that rules use are enough; with all of them there might be as many patterns as records
    used = [c for c in whole_schema.columns if c.name in rules.used_columns]
    used += [groups[name] for name in dividing if name not in rules.used_columns]
    schema = replace(whole_schema, columns=tuple(used) or whole_schema.columns)
    check_private_schema(whole_schema)
    check_private_schema(schema)
    if is_engine_table(X):
        if y is not None:
            raise ValueError("y must be None where X is an ibis table: the model's schema names the column of labels")
        source = EngineTable(X, schema, sorted_classes(schema))

        def fill() -> Vault:
            return Vault.filled_by(source, schema, sorted_classes(schema))
    else:
        table = as_table(X, whole_schema.names)
        check_types(table, schema.used)
        check_labels(y, rules.classes, len(table))

        def fill() -> Vault:
            return Vault.from_table(table, y, schema)

    origin = origin_of(model, rules, model_is_public)
    of_groups = measurement.schema if dividing else None
    reasons = (*terms.reasons_for_no_proof(of_groups, was_sample(X, y)), *origin.because)
    because = tuple(dict.fromkeys(reasons))
    proved = None if because else Guarantee.of(terms.price, 0.0)
    assumes = (*ASSUMES, *origin.assumes)
    if whole_schema.released:
        counted = "that its own statement counts" if origin.counts_cuts else "that are counted above"
        but = f"but for the cut points of the model's schema {counted}, {SCHEMA_IS_PUBLIC}"
        assumes = tuple(but if a == SCHEMA_IS_PUBLIC else a for a in assumes)
    # of a model without a statement of its own, nobody has counted the cut points yet
    counted_before = whole_schema.released if origin.counts_cuts else ()
    released_cuts = dict.fromkeys((*whole_schema.released, *(() if of_groups is None else of_groups.released)))
    cuts = tuple(paid for paid in released_cuts if paid not in counted_before)
    costs = repeated(DISCRETE_LAPLACE, epsilon_each(terms.price, divisions), len(divisions))
    statement = PrivacyStatement(
        measurement.mechanism,
        None,
        proved,
        because,
        assumes,
        neighbours_of(int(terms.records_per_person)),
        costs=costs,
    )
    planned = Release(measurement.kind, measurement.what, terms, whole_schema, statement, rests_on=cuts)

    def draw(vault: Vault, reservation: Reservation, entropy: Entropy) -> list[Integers]:
        places, n_places = measurement.places, measurement.n_places
        return noisy_histograms(vault, rules, places, n_places, divisions, terms.record_price, reservation, entropy)

    delta = Fraction(0) if terms.ledger is None else terms.ledger.delta
    released = release(planned, fill, draw)
    return released.value, float(epsilon_each(terms.record_price, divisions)), released.privacy.at_delta(delta)
