import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Boolean, Numeric, Schema
from discreet._utils.tables import as_table
from discreet.datasets import load_adult, load_compas, load_german_credit
from discreet.private.counts import counting
from discreet.private.counts.counting import PatternCounter
from discreet.private.counts.patterns import Packing, PatternsInProgress, Tally, rules_on_patterns
from discreet.rules.candidates import Candidates
from discreet.sources.memory import blocks_of

from ..support import brute_force
from ..support.strategies import problems, schemas, tables


def fill(schema, *chunks):
    patterns = PatternsInProgress(schema.columns, len(schema.classes))
    for data, y in chunks:
        for block in blocks_of(as_table(data), schema.columns, y):
            patterns.add(*block)
    return patterns.finish()


def content(patterns):
    bins = (
        np.column_stack([patterns.bins(i) for i in range(len(patterns.columns))]) if len(patterns) else np.zeros((0, 0))
    )
    return bins.tolist(), patterns.counts.tolist()


@given(st.data())
def test_patterns_do_not_depend_on_order_or_chunks(data):
    schema = data.draw(schemas())
    table, y = data.draw(tables(schema))
    whole = content(fill(schema, (table, y)))
    order = data.draw(st.permutations(range(len(y))))
    assert content(fill(schema, ({k: v[order] for k, v in table.items()}, y[order]))) == whole
    cuts = sorted(data.draw(st.lists(st.integers(0, len(y)), max_size=3)))
    parts = zip([0, *cuts], [*cuts, len(y)], strict=True)
    assert content(fill(schema, *(({k: v[a:b] for k, v in table.items()}, y[a:b]) for a, b in parts))) == whole


@given(st.data())
def test_patterns_hold_each_pattern_once_with_its_class_counts(data):
    schema = data.draw(schemas())
    table, y = data.draw(tables(schema))
    expected = {}
    encoded = np.array([c.encode(table[c.name]) for c in schema.columns]).T
    for pattern, label in zip(map(tuple, encoded.tolist()), y, strict=True):
        expected.setdefault(pattern, [0] * len(schema.classes))[label] += 1
    bins, counts = content(fill(schema, (table, y)))
    assert {tuple(b): c for b, c in zip(bins, counts, strict=True)} == expected
    assert len(bins) == len(expected)


@settings(deadline=None)
@given(problems(), st.data())
def test_counts_equal_brute_force_over_records(problem, data):
    candidates, table, y = problem
    schema = candidates.schema
    counter = PatternCounter(fill(schema, (table, y)), candidates)
    prefix = data.draw(st.lists(st.integers(0, len(candidates) - 1), max_size=3))
    alive = [not any(brute_force.rule_holds(schema, candidates[r], table, i) for r in prefix) for i in range(len(y))]
    early = counter.left(prefix).tolist()
    left, captured = counter.counts(prefix)
    assert early == counter.left(prefix).tolist() == left.tolist()
    classes = range(len(schema.classes))
    assert left.tolist() == [sum(a and label == c for a, label in zip(alive, y, strict=True)) for c in classes]
    for r, rule in enumerate(candidates):
        inside = [a and brute_force.rule_holds(schema, rule, table, i) for i, a in enumerate(alive)]
        assert captured[:, r].tolist() == [
            sum(t and label == c for t, label in zip(inside, y, strict=True)) for c in classes
        ]


def test_blocks_of_patterns_give_the_same_counts(monkeypatch):
    data = load_compas(binary=True)
    candidates = Candidates.of_schema(data.schema, 2)
    patterns = fill(data.schema, (data.data, data.target.to_numpy()))
    whole = PatternCounter(patterns, candidates).counts([5, 60])
    monkeypatch.setattr(counting, "BLOCK_BYTES", 8 * 28 * 100)
    counter = PatternCounter(patterns, candidates)
    assert len(counter._blocks) > 3
    assert (counter.counts([5, 60]).captured == whole.captured).all()
    assert (counter.counts([5, 60]).left == whole.left).all()


@pytest.mark.parametrize("load", [load_compas, load_german_credit])
@pytest.mark.parametrize("binary", [False, True])
def test_single_literals_are_counted_bin_by_bin(monkeypatch, load, binary):
    data = load(binary=binary)
    candidates = Candidates.of_schema(data.schema, 1)
    number = {label: i for i, label in enumerate(data.schema.classes or (0, 1))}
    patterns = fill(data.schema, (data.data, data.target.map(number).to_numpy()))
    prefixes = ([], [3], [3, 40], [0, 1, 2, 50])
    whole = [PatternCounter(patterns, candidates).counts(prefix) for prefix in prefixes]
    monkeypatch.setattr(counting, "BLOCK_BYTES", 2_000)
    counter = PatternCounter(patterns, candidates)
    assert counter._whole is None
    for prefix, (left, captured) in zip(prefixes, whole, strict=True):
        assert (counter.counts(prefix).left == left).all()
        assert counter.counts(prefix).captured.tolist() == captured.tolist()


def test_the_papers_patterns():
    for load, records, n_patterns in ((load_compas, 7214, 48), (load_adult, 48842, 540)):
        data = load(binary=True, sensitive=False)
        patterns = fill(data.schema, (data.data, data.target.to_numpy()))
        assert len(patterns) == n_patterns
        assert patterns.counts.sum() == records
        assert patterns.counts[:, 1].sum() == data.target.sum()


def test_memory_of_prefixes_stays_within_its_limit():
    schema = Schema.of_booleans(["a", "b"], classes=(0, 1))
    candidates = Candidates.of_schema(schema, 2)
    patterns = fill(schema, ({"a": np.array([True, False]), "b": np.array([True, True])}, np.array([0, 1])))
    one = len(candidates) * 2 * 8
    counter = PatternCounter(patterns, candidates, memory=2 * one)
    for prefix in ([], [0], [1], [2], [0, 1]):
        node = counter.counts(prefix)
        assert sum(n.captured.nbytes for n in counter._memory.values()) <= 2 * one
        assert counter.counts(reversed(prefix)) is node  # remembered, whatever the order
    tight = PatternCounter(patterns, candidates, memory=0)
    assert (tight.counts([0]).captured == PatternCounter(patterns, candidates).counts([0]).captured).all()


@given(st.lists(st.integers(2, 1000), min_size=1, max_size=40), st.integers(0, 30), st.integers(0, 2**32))
def test_packing_comes_back_and_keeps_distinct_rows_apart(radices, n, seed):
    rng = np.random.default_rng(seed)
    rows = np.array([rng.integers(r, size=n) for r in radices]).T.reshape(n, len(radices))
    packing = Packing(radices)
    keys = packing.pack(list(rows.T), n)
    words = packing.words(keys)
    assert (np.column_stack([packing.unpack(words, i) for i in range(len(radices))]) == rows).all()
    # sorting keys sorts rows by the last column first
    assert (rows[np.argsort(keys, kind="stable")] == rows[np.lexsort(rows.T)]).all()


@pytest.mark.parametrize("n_cuts", [1, 40])  # patterns of one word, and of two
def test_no_records_are_no_patterns(n_cuts):
    schema = Schema([Numeric(f"c{i}", low=0, high=100, n_cuts=n_cuts) for i in range(20)], target="y", classes=[0, 1])
    patterns = PatternsInProgress(schema.used, 2)
    assert (patterns._packing.n_words > 1) == (n_cuts == 40)
    found = patterns.finish()
    assert (len(found), found.bins(19).tolist(), found.counts.shape) == (0, [], (0, 2))
    truth, counts = rules_on_patterns(found, Candidates.of_tests(schema))
    assert (truth.shape, counts.shape) == ((20 * n_cuts, 0), (2, 0))


@given(st.lists(st.lists(st.integers(0, 20), max_size=30), max_size=8), st.booleans())
def test_a_tally_counts(chunks, long_keys):
    tally = Tally(np.zeros(0, "S16" if long_keys else np.uint64))
    tally.SMALLEST_BUFFER = 10
    for chunk in chunks:
        keys = np.array(chunk, dtype=np.uint64)
        tally.add(np.array([f"{k:02}" for k in chunk], dtype="S16") if long_keys else keys)
    keys, counts = tally.result()
    flat = [k for chunk in chunks for k in chunk]
    assert [int(k) for k in keys] == sorted(set(flat))
    assert counts.tolist() == [flat.count(k) for k in sorted(set(flat))]


@given(
    st.lists(
        st.tuples(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9)), max_size=30), st.booleans()),
        max_size=8,
    ),
    st.booleans(),
)
def test_a_tally_counts_what_was_counted_before(chunks, long_keys):
    """Chunks of keys with how often each was seen, among chunks of keys alone."""
    tally, expected = Tally(np.zeros(0, "S16" if long_keys else np.uint64)), {}
    tally.SMALLEST_BUFFER = 10
    for chunk, counted in chunks:
        keys = np.array([k for k, _ in chunk], dtype=np.uint64)
        keys = np.array([f"{k:02}" for k, _ in chunk], dtype="S16") if long_keys else keys
        tally.add(keys, np.array([n for _, n in chunk], dtype=np.uint64) if counted else None)
        for key, n in chunk:
            expected[key] = expected.get(key, 0) + (n if counted else 1)
    keys, counts = tally.result()
    assert dict(zip(map(int, keys), counts.tolist(), strict=True)) == expected
    assert [int(k) for k in keys] == sorted(expected)


def test_a_tally_of_counts_outgrows_four_bytes():
    tally = Tally(np.zeros(0, np.uint64))
    tally.add(np.array([3], np.uint64), np.array([2**33], np.uint64))
    tally.add(np.array([3, 1], np.uint64))
    keys, counts = tally.result()
    assert (keys.tolist(), counts.tolist()) == ([1, 3], [1, 2**33 + 1])


def test_a_pattern_that_is_none_is_not_counted():
    schema = Schema.of_booleans(["a"], classes=(0, 1))
    patterns = PatternsInProgress(schema.columns, 2)
    assert patterns.places == [(0, 2)]
    for words, labels in (([6], [0]), ([0], [2]), ([-2], [0])):
        with pytest.raises(AssertionError, match="an impossible pattern"):
            patterns.add_counted([np.array(words)], np.array(labels), np.array([1]))
    patterns.add_counted([np.array([], np.int16)], np.array([], np.int16), np.array([], np.int64))
    assert len(patterns.finish()) == 0


def test_a_tally_outgrows_four_bytes():
    tally = Tally(np.zeros(0, np.uint64))
    tally.add(np.zeros(3, np.uint64))
    tally._sort_in()
    tally._counts[0] = 2**32 - 1
    tally._total = 2**32 - 1
    tally.add(np.zeros(5, np.uint64))
    assert tally.result()[1].tolist() == [2**32 + 4]


def test_many_columns_need_more_than_one_word():
    rng = np.random.default_rng(0)
    schema = Schema(tuple(Boolean(f"c{i}") for i in range(120)), classes=(0, 1))
    X = rng.random((500, 120)) < 0.5
    X[250:] = X[:250]
    y = rng.integers(2, size=500)
    patterns = fill(schema, ({f"c{i}": X[:, i] for i in range(120)}, y))
    assert len(patterns) == 250
    assert sorted(map(tuple, content(patterns)[0])) == sorted(map(tuple, X[:250].astype(int).tolist()))
    assert patterns.counts.sum(0).tolist() == np.bincount(y).tolist()


def test_patterns_are_not_shown_or_copied():
    patterns = fill(Schema.of_booleans(["a"], classes=(0, 1)), ({"a": np.array([True])}, np.array([0])))
    counter = PatternCounter(patterns, Candidates.of_schema(Schema.of_booleans(["a"])))
    for thing in (patterns, counter):
        for leak in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="cannot be pickled or copied"):
                leak(thing)
        assert "1" not in repr(thing)
