"""Private cut points: what a choice and a whole column cost on all small neighbours, broken twins, the ledger, statements."""

import itertools
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from discreet import (
    Boolean,
    DPGreedyRuleListClassifier,
    DPOptimalRuleListClassifier,
    Ledger,
    Numeric,
    PrivacyStatement,
    PrivateCounts,
    RuleList,
    Schema,
    private_cuts,
)
from discreet._utils.errors import PrivacyWarning, SchemaError
from discreet._utils.tables import Table, as_table
from discreet.accounting.ledger import BudgetError, Reservation
from discreet.audit.observed import misfit
from discreet.evaluation.cut_points import cuts_by_halving, levels
from discreet.private.mechanisms.quantile import CutsBudget, QuantileSelector, Stretch, rank_losses
from discreet.private.noise.entropy import Entropy
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.queries.cuts import CutQueries
from discreet.sources.memory import MemoryTable
from discreet.sources.plan import Counting

from .test_mass import compositions

E = Fraction(2)
GRID = Schema([Numeric("age", low=0, high=10, n_cuts=9), Boolean("smokes")])


def neighbours(bins, largest):
    """All tables of up to so many records in so many bins, and the same with one record more."""
    for n in range(largest + 1):
        for counts in compositions(n, bins):
            for i in range(bins):
                yield counts, (*counts[:i], counts[i] + 1, *counts[i + 1 :])


# -- one choice -------------------------------------------------------------------------------------------------------

SHARES = [(part, parts) for parts in range(2, 7) for part in range(1, parts)]


def worst_choice(selector, part, parts, bins=4, largest=6):
    known = {}

    def logs(counts):
        if counts not in known:
            known[counts] = selector.log_prob(np.array(counts), part, parts)
        return known[counts]

    return max(float(np.abs(logs(a) - logs(b)).max()) for a, b in neighbours(bins, largest))


class HalfTheNoise(QuantileSelector):
    """As if the loss were monotone."""

    def scale(self, part, parts):
        return super().scale(part, parts) / 2


class ShareForgotten(QuantileSelector):
    """The scale for medians, whatever the quantile."""

    def scale(self, part, parts):
        return super().scale(1, 2)


@pytest.mark.parametrize(("part", "parts"), SHARES)
def test_one_choice_costs_no_more_than_its_epsilon_on_all_small_neighbours(part, parts):
    assert 0.7 * float(E) < worst_choice(QuantileSelector(E), part, parts) <= float(E) + 1e-9


@pytest.mark.parametrize("parts", [2, 4, 6])
def test_half_the_noise_is_caught(parts):
    assert worst_choice(HalfTheNoise(E), 1, parts) > float(E) + 0.1


def test_a_scale_that_forgets_the_share_is_caught():
    assert worst_choice(ShareForgotten(E), 1, 2) <= float(E) + 1e-9
    assert worst_choice(ShareForgotten(E), 1, 4) > float(E) + 0.1


def test_the_loss_is_the_distance_from_the_rank_in_parts_of_a_record():
    counts = np.array([3, 1, 0, 2])  # 6 records; up to each candidate 3, 4, 4
    assert rank_losses(counts, 1, 2).tolist() == [0, 2, 2]
    assert rank_losses(counts, 2, 3).tolist() == [3 * 1, 0, 0]
    assert rank_losses(np.zeros(4, np.int64), 1, 3).tolist() == [0, 0, 0]


@pytest.mark.parametrize(("part", "parts"), [(1, 2), (1, 4), (3, 4)])
def test_opendp_has_the_same_losses_and_asks_for_the_same_scale(part, parts):
    """Of values between the candidates, of which it counts none on neither side."""
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_noisy_max
    from opendp.measures import max_divergence
    from opendp.metrics import symmetric_distance
    from opendp.mod import enable_features
    from opendp.transformations import make_quantile_score_candidates

    enable_features("contrib")
    values = [1.5, 1.6, 2.5, 4.5, 4.6, 4.7]
    domain = vector_domain(atom_domain(T="f64", nan=False))
    scored = make_quantile_score_candidates(domain, symmetric_distance(), [1.0, 2.0, 3.0, 4.0], part / parts)
    assert scored(values) == rank_losses(np.array([0, 2, 1, 0, 3]), part, parts).tolist()
    selector = QuantileSelector(E)
    scale = selector.scale(part, parts)
    choice = make_noisy_max(scored.output_domain, scored.output_metric, max_divergence(), scale, negate=True)
    assert (scored >> choice).map(1) == pytest.approx(float(E), rel=1e-9)


@pytest.mark.parametrize("entropy", [SeededEntropy(0), Entropy()], ids=["seeded", "OpenDP"])
def test_draws_follow_the_distribution_and_half_the_noise_is_seen(entropy):
    counts, e = np.array([2, 5, 0, 1, 4]), Fraction(1, 2)
    drawn = {
        kind: Counter((kind(e).select(counts, 2, 5, entropy),) for _ in range(3_000))
        for kind in (QuantileSelector, HalfTheNoise)
    }
    distribution = {(i,): float(p) for i, p in enumerate(np.exp(QuantileSelector(e).log_prob(counts, 2, 5)))}
    assert sum(distribution.values()) == pytest.approx(1.0)
    assert misfit(drawn[QuantileSelector], distribution) > 1e-5
    assert misfit(drawn[HalfTheNoise], distribution) < 1e-5


# -- a whole column ---------------------------------------------------------------------------------------------------


class Unanswered(Exception):
    """More is asked than was answered."""


class Scripted:
    """Answers as told, and says how likely that is."""

    def __init__(self, counts, script):
        self.counts, self.script, self.log_prob, self.asked = np.array(counts), list(script), 0.0, []

    def distribution(self, s):
        return QuantileSelector(E).log_prob(self.counts[s.first : s.last + 1], s.part, s.parts)

    def cut(self, column, stretches):
        self.asked.append(tuple(stretches))
        if not self.script:
            raise Unanswered
        answers = self.script.pop(0)
        self.log_prob += sum(self.distribution(s)[a - s.first] for s, a in zip(stretches, answers, strict=True))
        return list(answers)


def distribution_of(counts, n_cuts, learner=cuts_by_halving):
    """The exact probability of each set of cuts."""
    found = Counter()
    scripts = [()]
    while scripts:
        script = scripts.pop()
        one = Scripted(counts, script)
        try:
            cuts = learner(one, "age", len(counts) - 1, n_cuts)
        except Unanswered:
            choices = [range(s.first, s.last) for s in one.asked[-1]]
            scripts += [(*script, answers) for answers in itertools.product(*choices)]
        else:
            found[tuple(cuts)] += math.exp(one.log_prob)
    assert sum(found.values()) == pytest.approx(1.0)
    return found


def worst_column(n_cuts, bins, largest, **twin):
    known = {}

    def distribution(counts):
        if counts not in known:
            known[counts] = distribution_of(counts, n_cuts, **twin)
        return known[counts]

    worst = 0.0
    for a, b in neighbours(bins, largest):
        one, other = distribution(a), distribution(b)
        assert one.keys() == other.keys()
        worst = max(worst, max(abs(math.log(one[x] / other[x])) for x in one))
    return worst


@pytest.mark.parametrize(("n_cuts", "bins", "largest"), [(1, 4, 4), (2, 4, 4), (3, 5, 3), (4, 6, 1)])
def test_a_column_costs_its_levels_on_all_small_neighbours(n_cuts, bins, largest):
    worst = worst_column(n_cuts, bins, largest)
    assert worst <= levels(n_cuts) * float(E) + 1e-9
    assert worst > 0.5 * levels(n_cuts) * float(E)


def all_see_everything(queries, column, n_candidates, n_cuts):
    """A broken twin: every quantile from all records, and all of them at the price of one."""
    return sorted(queries.cut(column, [Stretch(0, n_candidates, i + 1, n_cuts + 1) for i in range(n_cuts)]))


def test_quantiles_of_all_records_at_the_price_of_one_level_are_caught():
    assert worst_column(3, 4, 3, learner=all_see_everything) > levels(3) * float(E) + 0.1


@pytest.mark.parametrize("n_cuts", range(1, 40))
def test_the_levels_are_those_of_halving(n_cuts):
    class Middle:
        asked = 0

        def cut(self, column, stretches):
            self.asked += 1
            return [(s.first + s.last) // 2 for s in stretches]

    queries = Middle()
    assert len(cuts_by_halving(queries, "age", 1_000, n_cuts)) == n_cuts
    assert queries.asked == levels(n_cuts) == math.ceil(math.log2(n_cuts + 1))


def test_no_cut_is_chosen_twice_and_a_column_may_run_out_of_candidates():
    rng = np.random.default_rng(0)

    class Anywhere:
        def cut(self, column, stretches):
            return [int(rng.integers(s.first, s.last)) for s in stretches]

    for _ in range(200):
        cuts = cuts_by_halving(Anywhere(), "age", 9, 7)
        assert 1 <= len(cuts) == len(set(cuts)) <= 7
        assert set(cuts) <= set(range(9))


def queries_to(values, reservation, **facts):
    """Of this column of a table, at E for each level."""
    column = Numeric("age", cuts=range(1, 10), low=0, high=10, **facts)
    records = MemoryTable(as_table({"age": values}, ["age"]), [0] * len(values), [0, 1])
    counts = records.count(Counting.by_column(Schema([column]), [column]))
    return CutQueries(counts, [column], CutsBudget(E, E)).open(reservation, Entropy())


def test_queries_charge_first_and_once_a_level_and_refuse_what_overlaps():
    reservation = Reservation(2 * E, Fraction(0))
    queries = queries_to([1, 2, 3], reservation)
    queries._counts = None  # a query that is refused does not get to look at them
    with pytest.raises(RuntimeError, match="overlap"):
        queries.cut("age", [Stretch(0, 5, 1, 2), Stretch(5, 9, 1, 2)])
    with pytest.raises(RuntimeError, match="overlap"):
        queries.cut("age", [Stretch(5, 9, 1, 2), Stretch(0, 4, 1, 2)])
    assert reservation.spent_epsilon == 0
    queries = queries_to([1, 2, 3], reservation)
    assert len(queries.cut("age", [Stretch(0, 4, 1, 2), Stretch(5, 9, 1, 2)])) == 2
    assert reservation.spent_epsilon == E
    queries.cut("age", [Stretch(0, 9, 1, 2)])
    queries._counts = None
    with pytest.raises(BudgetError):
        queries.cut("age", [Stretch(0, 9, 1, 2)])
    assert repr(queries) == "<CutQueries>"


@pytest.mark.parametrize(
    ("outside", "counted"), [("clip", [2, 1, 0, 0, 0, 0, 0, 0, 0, 2]), ("missing", [1, 1, 0, 0, 0, 0, 0, 0, 0, 1])]
)
def test_values_are_counted_as_the_schema_says(outside, counted):
    values = [-5, 1, 1.5, 10, 99, None, math.nan, "many"]
    queries = queries_to(values, Reservation(E, Fraction(0)), outside=outside)
    assert queries._counts["age"].tolist() == counted
    assert queries_to([], Reservation(E, Fraction(0)))._counts["age"].tolist() == [0] * 10


# -- the function -----------------------------------------------------------------------------------------------------


def table(n=300):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"age": rng.uniform(0, 10, n), "smokes": rng.random(n) < 0.5})


def test_with_much_epsilon_they_are_the_quantiles():
    frame = table(10_000)
    grid = Schema([Numeric("age", low=0, high=10, n_cuts=199), Boolean("smokes")], classes=[0, 1])
    for n_cuts in (1, 2, 3, 5, 7):
        schema = private_cuts(frame, grid, {"age": n_cuts}, epsilon=100.0)
        exact = np.quantile(frame["age"], np.arange(1, n_cuts + 1) / (n_cuts + 1))
        assert schema["age"].cuts == pytest.approx(exact, abs=0.06)
        assert (schema["age"].low, schema["age"].high, schema["age"].n_cuts) == (0, 10, None)
        assert schema["smokes"] == grid["smokes"]
        assert schema.classes == (0, 1)
        assert not schema.inferred


def test_candidates_are_the_columns_own_cuts_from_its_low_bound_on():
    column = Numeric("gain", low=0, high=9, cuts=(-5, 0, 3, 6, 9, 12), ranges=((2, 4),))
    values = {"gain": [0] * 50 + [5] * 50}
    schema = private_cuts(values, Schema([column]), {"gain": 1}, epsilon=1000)
    assert schema["gain"] == replace(column, cuts=schema["gain"].cuts)
    assert schema["gain"].cuts in [(0.0,), (3.0,)]  # with as many records up to each
    with pytest.raises(SchemaError, match=r"has 3 cuts between its bounds to choose 3 from"):
        private_cuts(values, Schema([column]), {"gain": 3}, epsilon=1)


def never_read(name, rows):
    if rows.stop > rows.start:
        raise AssertionError("a record was read")
    return np.zeros(0)


UNREAD = Table(["age", "smokes"], 100, never_read)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"cuts": {"agee": 3}}, "no column 'agee'"),
        ({"cuts": {"smokes": 3}}, "only numeric columns"),
        ({"cuts": {"age": 0}}, r"cuts\['age'\] must be an integer"),
        ({"cuts": {"age": 2.0}}, "integer"),
        ({"cuts": {"age": 9}}, "finer grid"),
        ({"cuts": {}}, "cuts must be a dict"),
        ({"cuts": ["age"]}, "cuts must be a dict"),
        ({"schema": Schema([Numeric("age", cuts=range(20)), Boolean("smokes")])}, "public bounds; give it low, high"),
        ({"schema": Schema([Numeric("age", low=0, cuts=range(20)), Boolean("smokes")])}, "public bounds"),
        ({"schema": Schema([Numeric("age", low=0, high=9, n_cuts=9, outside="error")])}, "may not let an error depend"),
        ({"schema": Schema([Numeric("years", low=0, high=9, n_cuts=9)]), "cuts": {"years": 3}}, "does not have"),
        ({"schema": "schema.toml"}, "must be a Schema"),
        ({"epsilon": 0}, "epsilon must be above 0"),
        ({"epsilon": "1"}, "epsilon must be a finite number"),
        ({"epsilon": 1.5}, "ledger has epsilon 1"),
        ({"random_state": "seed"}, "seed"),
    ],
)
def test_mistakes_cost_nothing_and_read_nothing(changed, message):
    ledger = Ledger(epsilon=1.0)
    given = {"X": UNREAD, "schema": GRID, "cuts": {"age": 3}, "epsilon": 0.5, "ledger": ledger} | changed
    with pytest.raises((ValueError, TypeError), match=message):
        private_cuts(**given)
    assert ledger.entries == ()


def test_dates_are_refused_by_their_type():
    ledger = Ledger(epsilon=1.0)
    frame = pd.DataFrame({"age": pd.to_datetime(["2020-01-01"]), "smokes": [True]})
    with pytest.raises(SchemaError, match="dates or times"):
        private_cuts(frame, GRID, {"age": 3}, epsilon=0.5, ledger=ledger)
    assert ledger.entries == ()


def test_records_are_counted_before_it_is_booked_and_not_without_a_budget():
    ledger = Ledger(epsilon=1.0)
    with pytest.raises(SchemaError, match="cannot be read"):
        private_cuts(UNREAD, GRID, {"age": 3}, epsilon=0.5, ledger=ledger)
    assert ledger.spent[0] == 0
    with pytest.raises(BudgetError):
        private_cuts(UNREAD, GRID, {"age": 3}, epsilon=1.5, ledger=ledger)


def test_all_of_it_is_booked_and_spent():
    ledger = Ledger(epsilon=1.0)
    two = Schema([Numeric("age", low=0, high=10, n_cuts=99), Numeric("hours", low=0, high=10, n_cuts=99)])
    frame = table(50_000).rename(columns={"smokes": "hours"})
    frame["hours"] = frame["age"]
    private_cuts(frame, two, {"age": 7, "hours": 2}, epsilon=0.1, ledger=ledger)
    (entry,) = ledger.entries
    assert entry.epsilon == entry.spent_epsilon == entry.proved_epsilon == Fraction(1, 10)
    assert "age, hours" in entry.what


@pytest.mark.parametrize("values", [[], [None] * 5, [3.0] * 5, ["x", b"y", math.inf, -math.inf, 10**400], [[1], {}]])
def test_any_table_is_cut_without_a_word(values, recwarn):
    schema = private_cuts({"age": values, "smokes": [True] * len(values)}, GRID, {"age": 3}, epsilon=1.0)
    assert 1 <= len(schema["age"].cuts) <= 3
    assert not recwarn.list


# -- what it means for models -----------------------------------------------------------------------------------------

LEARNERS = {
    "optimal rule lists": lambda **p: DPOptimalRuleListClassifier(max_length=2, **p),
    "mass": lambda **p: DPGreedyRuleListClassifier(max_length=2, **p),
    "gl-laplace": lambda **p: DPGreedyRuleListClassifier(mechanism="gl-laplace", max_length=2, **p),
    "sm-laplace": lambda **p: DPGreedyRuleListClassifier(
        mechanism="sm-laplace", delta=1e-6, min_support=50, max_length=2, **p
    ),
}
Y = (table()["age"] > 5).astype(int)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_statement_adds_the_cut_points_and_a_ledger_counts_them_once(learner):
    ledger = Ledger(epsilon=3.0, delta=1e-3)
    schema = private_cuts(table(), GRID, {"age": 3}, epsilon=0.1, ledger=ledger)
    plain = LEARNERS[learner](epsilon=0.7, schema=GRID).fit(table(), Y).privacy_
    statements = [
        LEARNERS[learner](epsilon=0.7, schema=schema, ledger=ledger).fit(table(), Y).privacy_ for _ in range(2)
    ]
    for statement in statements:
        assert statement.proved.epsilon == pytest.approx(plain.proved.epsilon + 0.1, abs=1e-12)
        assert statement.proved.delta == plain.proved.delta
        assert statement.published == plain.published
        assert statement.claim_is_proved == plain.claim_is_proved
        assert statement.cut_points == 0.1
        assert "0.1 was spent before, on cut points" in str(statement)
        assert "apart from the cut points" in str(statement)
        assert PrivacyStatement.from_json(statement.to_json()) == statement
    assert "cut points" not in str(plain) + plain.to_json()
    assert ledger.proved[0] == pytest.approx(2 * plain.proved.epsilon + 0.1, abs=1e-9)
    assert ledger.spent[0] == Fraction(15, 10)


def test_a_ledger_that_does_not_know_the_cut_points_books_them_with_the_first_model():
    first, second = (private_cuts(table(), GRID, {"age": 3}, epsilon=e) for e in (0.1, 0.2))
    ledger = Ledger(epsilon=10.0)
    for schema in (first, first, second, first, second):
        statement = LEARNERS["optimal rule lists"](epsilon=1.0, schema=schema, ledger=ledger).fit(table(), Y).privacy_
        assert statement.proved.epsilon == 1 + schema.cuts_epsilon
    assert [float(e.epsilon) for e in ledger.entries] == [1.1, 1.0, 1.2, 1.0, 1.0]
    assert all(e.unused_epsilon == 0 for e in ledger.entries)
    assert ledger.proved[0] == pytest.approx(5.3)
    with pytest.raises(BudgetError, match=r"needs epsilon 1\.1"):
        LEARNERS["optimal rule lists"](epsilon=1.0, schema=first, ledger=Ledger(epsilon=1.0)).fit(table(), Y)


def test_a_ledger_in_a_file_knows_them_again(tmp_path):
    schema = private_cuts(
        table(), GRID, {"age": 3}, epsilon=0.1, ledger=Ledger.open(tmp_path / "ledger.json", epsilon=2.0)
    )
    LEARNERS["mass"](schema=schema, ledger=Ledger.open(tmp_path / "ledger.json")).fit(table(), Y)
    assert Ledger.open(tmp_path / "ledger.json").spent[0] == Fraction(11, 10)


def test_the_schema_keeps_what_was_spent_wherever_it_goes():
    schema = private_cuts(table(), GRID, {"age": 3}, epsilon=0.1)
    finer = replace(schema, columns=(GRID["age"], *schema.columns[1:]))
    twice = private_cuts(table(), finer, {"age": 3}, epsilon=0.7)
    assert (schema.cuts_epsilon, twice.cuts_epsilon, GRID.cuts_epsilon) == (0.1, 0.8, 0)
    for one in (schema, twice):
        for again in (Schema.from_toml(one.to_toml()), Schema.from_dict(one.to_dict()), one.exclude([])):
            assert again == one
        assert one.exclude(["age"]).cuts_epsilon == one.cuts_epsilon
        assert "every model that is learned with this schema counts it" in one.to_toml()
    model = LEARNERS["mass"](schema=twice, exclude=["smokes"]).fit(table(), Y)
    assert model.privacy_.cut_points == 0.8
    assert RuleList.from_json(model.rule_list_.to_json()).schema.cuts_epsilon == 0.8
    by_counts = LEARNERS["mass"]().fit_counts(PrivateCounts.from_table(table(), Y, twice))
    assert by_counts.privacy_ == model.privacy_


def test_with_a_seed_they_can_be_had_again_and_nothing_is_proved():
    ledger = Ledger(epsilon=3.0, allow_unproved=True)
    one, other = (private_cuts(table(), GRID, {"age": 3}, epsilon=0.1, random_state=0, ledger=ledger) for _ in range(2))
    assert one == other
    assert one.inferred
    assert ledger.proved == (math.inf, 1.0)
    assert Schema.from_toml(one.to_toml()).inferred
    with pytest.warns(PrivacyWarning, match="cut points with seeded noise"):
        model = LEARNERS["mass"](schema=one).fit(table(), Y)
    assert model.privacy_.proved is None


def test_cut_points_on_an_inferred_schema_are_not_proved_and_say_so():
    ledger = Ledger(epsilon=1.0, allow_unproved=True)
    with pytest.warns(PrivacyWarning, match="schema was made from records"):
        schema = private_cuts(table(), replace(GRID, inferred=True), {"age": 3}, epsilon=0.1, ledger=ledger)
    assert schema.inferred
    assert ledger.entries[0].proved_epsilon is None


@pytest.mark.parametrize(
    "released",
    ["{ a = 0 }", "{ a = -1 }", '{ a = "1" }', "{ a = true }", "{ a = inf }", "{ a = nan }", '{ "" = 1 }', "1", "[1]"],
)
def test_what_a_schema_says_was_released_is_understood_or_refused(released):
    columns = '\n[columns.age]\ntype = "numeric"\ncuts = [1]\n'
    assert Schema.from_toml(f"released = {{ a = 1 }}{columns}").cuts_epsilon == 1
    with pytest.raises(SchemaError, match=r"\[released\]"):
        Schema.from_toml(f"released = {released}{columns}")
    with pytest.raises(SchemaError, match="twice"):
        replace(GRID, released=(("a", 1.0), ("a", 2.0)))


@pytest.mark.parametrize("wrong", ["-1", '"1"', "true", "NaN"])
def test_a_statement_with_an_odd_part_for_cut_points_is_refused(wrong):
    model = LEARNERS["mass"](schema=private_cuts(table(), GRID, {"age": 3}, epsilon=0.125)).fit(table(), Y)
    text = model.privacy_.to_json()
    assert PrivacyStatement.from_json(text).cut_points == 0.125
    with pytest.raises(ValueError, match="not a discreet privacy statement"):
        PrivacyStatement.from_json(text.replace('"cut_points": 0.125', f'"cut_points": {wrong}'))
