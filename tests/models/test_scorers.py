"""What a model predicts, it predicts as ONNX and as PMML, whatever the values: labels and shares, bit for bit."""

import json
import math
import sys
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from discreet import Boolean, Categorical, Date, Literal, Numeric, Rule, RuleList, Schema, Split, Tree
from discreet._utils.errors import RuleError
from discreet.models.export import FORMATS
from discreet.models.partition import Answer

from ..support import slices
from ..support.fuzzing import RULES as SPECIMEN
from ..support.scorers import IN_JAVA, NAMESPACE, Jpmml, Onnx, ReadPmml, kind_of, scorer
from ..support.strategies import free_rule_lists, free_trees, rule_lists, trees
from .test_exports import COLUMNS, EVERY, HOSTILE, LOADERS, all_as_written, every_list, models, near_table, random_tree

__all__ = ["scorer"]  # a fixture


def check(scorer, model, columns, types=None):
    columns = all_as_written(model.schema, columns)
    labels, shares = scorer(model, columns, types)
    assert labels == model.predict(columns).tolist()
    if shares is not None:
        assert_same_shares(scorer, shares, model.predict_proba(columns))


def assert_same_shares(scorer, shares, expected):
    """To the last bit; but JPMML divides the shares of a leaf by their sum."""
    if isinstance(scorer, Jpmml):
        assert np.abs(shares - expected).max() <= 2**-52
    else:
        assert shares.tolist() == expected.tolist()


def examples(scorer, most):
    """Java takes a while to read a model."""
    tried = most // 4 if scorer in IN_JAVA else slices.examples(most)
    return settings(max_examples=tried, suppress_health_check=list(HealthCheck))


# --- every literal of every kind of column, on every type that it may be stored in ------------------------------------------

STORED = {
    "number": next(values for (kind, arrow), values in EVERY.items() if kind == "number" and str(arrow) == "double"),
    "text": next(values for (kind, _), values in EVERY.items() if kind == "text"),
    "boolean": [None, True, False],
}
POSSIBLE = {Numeric: ["number"], Categorical: ["text", "number"], Boolean: ["boolean", "number"]}


def possible(column):
    return [kind for kind in POSSIBLE[type(column)] if kind in column.value_bins.types]


def test_every_literal(scorer):
    """As a list of all literals of a column, so that each is asked for by the records that the others leave."""
    for column in (c for c in COLUMNS if not isinstance(c, Date)):
        singles = list(every_list(column))
        rules = tuple(Rule(one.rules[0].antecedent, f"l{i}") for i, one in enumerate(singles))
        alone = singles if type(scorer) in (Onnx, ReadPmml) and not getattr(scorer, "as_tree", False) else []
        together = [
            RuleList(order, "none", schema=Schema([column])) for order in (rules, rules[::-1], rules[1::2], rules[::2])
        ]
        for kind in possible(column):
            for model in [*alone, *together]:
                check(scorer, model, {"x": STORED[kind]}, {"x": kind})


# --- any schema, any values ------------------------------------------------------------------------------------------------

NUMBERS = st.one_of(
    st.integers(-7, 7).map(float),
    st.floats(-7, 7),
    st.sampled_from([math.inf, -math.inf, math.nan, -0.0, 1e300, 5e-324, math.nextafter(2, 3), math.nextafter(2, 1)]),
)
TEXTS = st.sampled_from([*"abcd?", "other", "1", "2", "01", "1.0", "TRUE", "yes", "0", "", " 1", "nan", "é\\'`"])
VALUES = {"number": NUMBERS, "text": TEXTS, "boolean": st.booleans()}


@st.composite
def stored_columns(draw, schema):
    n = draw(st.integers(1, 12))
    types = {c.name: draw(st.sampled_from(possible(c))) for c in schema.columns}
    drawn = {name: draw(st.lists(st.none() | VALUES[kind], min_size=n, max_size=n)) for name, kind in types.items()}
    return drawn, types


def test_random_lists_and_trees_on_random_records(scorer):
    @examples(scorer, 80)
    @given(rule_lists() | trees(), st.data())
    def run(drawn, data):
        model, _ = drawn
        assume(not of_dates(model))
        check(scorer, model, *data.draw(stored_columns(model.schema)))

    run()


def of_dates(model):
    return model.schema is not None and any(isinstance(column, Date) for column in model.schema.columns)


def test_dates_are_refused():
    for model in (RuleList.parse("if a < 2024-01-31 then 1 else 0"), Tree.parse("if a < 2024-01-31 then 1 else 0")):
        for write in (model.to_onnx, model.to_pmml, lambda model=model: model.to_sql("sqlite")):
            with pytest.raises(
                RuleError,
                match=r"'a' holds dates, which cannot be written as .*; write Python, or SQL for another engine",
            ):
                write()


# --- any names, categories and labels --------------------------------------------------------------------------------------


def near_tree(tree):
    """Records with values next to those that a tree names."""
    rules = tuple(Rule(condition, "x") for condition in tree.partitions[0].conditions[:-1])
    return near_table(RuleList(rules, "y"))


def can_leave(texts, xml):
    """Whether texts can leave Python, and, if asked, stand in XML."""

    def held(c):
        return c in "\t\n\r" or (c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff")

    return all(
        all(map(held, text)) if xml else text == text.encode(errors="ignore").decode() for text in map(str, texts)
    )


def are_of_one_type(labels, xml):
    numbers = [label for label in labels if not isinstance(label, str)]
    if len(numbers) < len(labels):
        return not numbers
    whole = [x for x in numbers if isinstance(x, int)]
    if len(whole) < len(numbers):
        return all(abs(x) <= 2**53 for x in whole)
    return all(-(2**31) <= x < 2**31 if xml else abs(x) < 2**63 for x in whole)


def test_odd_names_and_labels(scorer):
    refused = []

    @examples(scorer, 200)
    @given(free_rule_lists() | free_trees())
    def run(model):
        assume(not of_dates(model))
        columns = near_tree(model) if isinstance(model, Tree) else near_table(model)
        columns = columns or {"nothing": [None, None]}
        xml = not isinstance(scorer, Onnx)
        labels = model.classes if xml else [a.label for a in model.answers]
        columns_used = [] if model.schema is None else [model.schema[name] for name in model.used_columns]
        types = {c.name: "text" for c in columns_used if isinstance(c, Categorical)}
        categories = [v for c in columns_used if isinstance(c, Categorical) for v in c.categories if v != "?"]
        names = [*model.used_columns, *(labels if xml or isinstance(labels[0], str) else [])]
        if not are_of_one_type(labels, xml) or not can_leave([*names, *(categories if xml else [])], xml):
            refused.append(model)
            with pytest.raises(RuleError):
                scorer(model, columns, types)
        elif can_leave([v for values in columns.values() for v in values], False):
            check(scorer, model, columns, types)

    run()
    assert refused


@pytest.mark.parametrize("word", HOSTILE, ids=ascii)
def test_hostile_words_stay_words(word):
    check_hostile_word(Onnx(), word)
    check_hostile_word(ReadPmml(), word)


@pytest.mark.slow
@pytest.mark.parametrize("scorer", IN_JAVA, ids=lambda s: s.name, indirect=True)
def test_hostile_words_stay_words_in_java(scorer):
    for word in HOSTILE:
        check_hostile_word(scorer, word)


def check_hostile_word(scorer, word):
    rules = (Rule((Literal(word, "=", word),), word, (1, 2)), Rule((Literal(word, "=", f"{word} "),), "2", (3, 1)))
    schema = Schema([Categorical(word, True, [word, f"{word} ", f" {word}"], outside="none")], f"{word}!", ["no", word])
    model = RuleList((rules[0],), Rule((), "no", (5, 1)), ("no", word), schema)
    columns = {word: [word, f"{word} ", f" {word}", word.upper(), "", None]}
    if not isinstance(scorer, Onnx) and not can_leave([word], xml=True):
        with pytest.raises(RuleError, match="XML cannot hold"):
            scorer(model, columns)
        return
    check(scorer, model, columns)


# --- labels, names, and models without tests -------------------------------------------------------------------------------


def test_labels_keep_their_types(scorer):
    pairs = [("x", "y"), (1, 0), (True, False), (0.1, -2.5e-300), (1, 2.5), (True, 2), (-(2**31), 2**31 - 1), ("", " ")]
    for labels in [*pairs, (2**62, -(2**63) + 1)] if isinstance(scorer, Onnx) else pairs:
        model = RuleList((Rule((Literal("a"),), labels[0]),), labels[1])
        given, _ = scorer(model, {"a": [True, False, None]})
        assert given == [labels[0], labels[1], labels[1]]
        if len(set(map(type, labels))) == 1:
            assert set(map(type, given)) == {type(labels[0])}
    # 1 and True are one label; the classes say which
    model = RuleList((Rule((Literal("a"),), 1),), Rule((), False), (False, True))
    given, _ = scorer(model, {"a": [True, False]})
    assert given == [True, False]
    assert set(map(type, given)) == {bool}


def test_a_label_need_not_be_the_class_with_the_largest_share(scorer):
    answers = [
        Answer("b", (9, 1, 0)),
        Answer("c", (5, 5, 5)),
        Answer("a", (-3, -1, 0)),
        Answer("b", (1 / 3, 1e-300, 7)),
    ]
    root = Split(Literal("x"), Split(Literal("y"), *answers[:2]), Split(Literal("y"), *answers[2:]))
    columns = {"x": [True, True, False, None], "y": [True, False, True, None]}
    check(scorer, Tree(root, ("a", "b", "c")), columns)
    rules = [Rule((Literal(name),), a.label, a.counts) for name, a in zip("xy", answers, strict=False)]
    check(scorer, RuleList(tuple(rules), Rule((), "b", (1 / 3, 1e-300, 7)), ("a", "b", "c")), columns)


def test_a_model_without_tests_is_its_default(scorer):
    for model in (
        RuleList((), Rule((), "it's", (1.0, 3.0)), ("no", "it's")),
        Tree(Answer("it's", (1, 3)), ("no", "it's")),
    ):
        check(scorer, model, {"a": [1.0, None, 2.0]})


def test_a_test_that_is_never_true(scorer):
    """Of a category that no value has: there is nothing to compare with."""
    schema = Schema([Categorical("job", False, ["a"], {"g": ["a"]}, "none", "none")])
    model = RuleList((Rule((Literal("job", "!=", "g"), Literal("job", "=", "g")), 1),), 0, schema=schema)
    check(scorer, model, {"job": ["a", "b", None]})
    bounded = Schema([Numeric("x", cuts=[5], low=0, high=3)])
    check(scorer, RuleList((Rule((Literal("x", ">", 5),), 1),), 0, schema=bounded), {"x": [9.0, 1.0, None]})


def test_infinite_numbers_as_categories(scorer):
    """Evaluators of PMML do not agree on a word for them, so none is written."""
    values = [math.inf, -math.inf, 1.0, 1e300, -1e300, sys.float_info.max, -sys.float_info.max, None]
    for category in ("inf", "-inf"):
        for outside in ("other", "none", "missing"):
            schema = Schema([Categorical("x", True, [category, 1], outside=outside)])
            for op in ("=", "!="):
                model = RuleList((Rule((Literal("x", op, category),), "y"),), "n", schema=schema)
                check(scorer, model, {"x": values}, {"x": "number"})
                assert 'inf"' not in model.to_pmml({"x": "number"})


def test_columns_may_have_the_names_of_outputs(scorer):
    names = [
        "label",
        "probabilities",
        "record",
        "rule",
        "confidence",
        "predicted(label)",
        "probability(1)",
        "And_3",
        "y",
    ]
    rules = tuple(Rule((Literal(name, "<=", i),), i % 2) for i, name in enumerate(names))
    schema = Schema([Numeric(name, cuts=[i]) for i, name in enumerate(names)], "label_", [0, 1])
    columns = {name: [9.0] * i + [float(i)] * 9 + [math.nan] for i, name in enumerate(names)}
    check(scorer, RuleList(rules, 1, (0, 1), schema), {name: values[:10] for name, values in columns.items()})


@pytest.mark.parametrize(("n_rules", "n_classes"), [(2_000, 3), (200, 201)], ids=["many rules", "many classes"])
def test_models_may_be_very_long(n_rules, n_classes):
    """Every rule has the share of every class, so a file is as long as both together: 600 MB with 2,000 of each."""
    rules = " else ".join(f"if x{i % 50} = {i} then {i % (n_classes - 1)}" for i in range(n_rules))
    model = RuleList.parse(f"{rules} else -1")
    assert (len(model.rules), len(model.classes)) == (n_rules, n_classes)
    types = {f"x{i}": "text" for i in range(50)}
    columns = {f"x{i}": ["none", str(i), str(n_rules - 50 + i)] for i in range(50)}
    assert {0, n_rules - 50, n_rules} <= set(model.captures(columns).tolist())
    check(Onnx(), model, columns, types)
    check(ReadPmml(), model, columns, types)


# --- whole datasets --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOADERS)
def test_all_rows_of_the_datasets(scorer, name):
    if isinstance(scorer, ReadPmml) and name == "adult" and scorer not in IN_JAVA:
        pytest.skip("Python takes too long")
    data = LOADERS[name]()
    made = [clf.fit(data.data, data.target).model_ for clf in models(data.schema, 3)]
    made.append(random_tree(data.schema, 4, np.random.default_rng(5)))
    columns = {name: data.data[name].astype(object).where(data.data[name].notna(), None).tolist() for name in data.data}
    for model in made:
        of_model = {n: stored(model.schema[n], columns[n]) for n in model.used_columns} or {
            "x": [None] * len(data.data)
        }
        labels, shares = scorer(model, of_model)
        assert labels == model.predict(data.data).tolist()
        if shares is not None:
            assert_same_shares(scorer, shares, model.predict_proba(data.data))


def stored(column, values):
    """The values of a dataset in the type that is expected: what is no number is missing."""
    as_type = {"number": float, "text": str, "boolean": bool}[kind_of(column, {})]
    return [None if v is None else as_type(v) for v in values]


# --- what is refused, and what is said -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        (SPECIMEN, {"types": {"job": "varchar"}}, "types must say"),
        (SPECIMEN, {"types": {"jobs": "text"}}, "'jobs', which the rule list does not know"),
        (SPECIMEN, {"types": {"age": "text"}}, "'age' must be a number in"),
        (SPECIMEN, {"types": {"smokes": "text"}}, "'smokes' must be a (boolean or )?number in"),
        (SPECIMEN, {"types": {"job": "boolean"}}, "'job' must be a text or number in"),
        (RuleList.parse("if a then 1 else no"), {}, "one type"),
        (RuleList.parse(f"if a then {10**20} else 0"), {}, "64 bits"),  # and of more than 32 in PMML, below
        (RuleList.parse(f"if a then {2**60} else 0.5"), {}, "53 bits"),
        (RuleList.parse(f"if a = {2**53} then 1 else 0"), {}, "53 bits"),
        (RuleList((Rule((Literal("a"),), "\ud800"),), "x"), {}, "cannot hold"),
        (RuleList((Rule((Literal("\ud800"),), "y"),), "x"), {}, "rename"),
    ],
)
def test_what_neither_format_can_say_is_refused(model, arguments, message):
    for write in (model.to_onnx, model.to_pmml):
        with pytest.raises(RuleError, match=message):
            write(**arguments)


@pytest.mark.parametrize("odd", ["\0", "\x01", "a\x1b", "\ufffe", "\x0c"])
def test_what_xml_cannot_hold_is_refused(odd):
    category = RuleList((Rule((Literal("a", "=", odd),), "y"),), "x")
    for model in (
        category,
        RuleList((Rule((Literal(odd),), "y"),), "x"),
        RuleList((Rule((Literal("a"),), odd),), "x"),
        RuleList((Rule((Literal("a"),), "y"),), "x", schema=Schema([Boolean("a")], odd)),
    ):
        with pytest.raises(RuleError, match="XML cannot hold"):
            model.to_pmml()
    check(Onnx(), category, {"a": [odd, "a", None]})


def test_integers_that_evaluators_of_pmml_do_not_have_are_refused():
    for label in (2**31, -(2**31) - 1):
        with pytest.raises(RuleError, match="32 bits"):
            RuleList.parse(f"if a then {label} else 0").to_pmml()
    assert 'score="2147483647"' in RuleList.parse(f"if a then {2**31 - 1} else {-(2**31)}").to_pmml()


def test_what_xml_would_change_is_escaped():
    for odd in ("a\r\nb", "\t", "\n", "&amp;", "<!--", "]]>", '"', " "):
        check(ReadPmml(), RuleList((Rule((Literal(odd, "=", odd),), odd),), "x"), {odd: [odd, odd.strip(), None]})


def test_the_string_that_stands_for_a_missing_one():
    model = RuleList.parse("if job is missing then 2 else if job != clerk then 1 else 0")
    session = onnxruntime.InferenceSession(model.to_onnx())
    jobs = np.array([["clerk"], [""], ["boss"]], dtype=object)
    assert session.run(["label"], {"job": jobs})[0].tolist() == [0, 2, 1]
    listed = RuleList((Rule((Literal("job", "=", ""),), 1),), 0)
    with pytest.raises(RuleError, match="category '', which would stand for missing"):
        listed.to_onnx()
    check(Onnx(), listed, {"job": ["", "x", None]}, {"job": "text"})
    for other in (None, 3, "\ud800"):
        with pytest.raises(RuleError, match="missing must be"):
            model.to_onnx(missing=other)


def test_what_an_onnx_file_says_of_itself():
    written = SPECIMEN.to_onnx()
    assert written == SPECIMEN.to_onnx()
    read = onnx.load_from_string(written)
    said = {prop.key: json.loads(prop.value) for prop in read.metadata_props}
    assert said == {"classes": list(SPECIMEN.classes), "missing": ""}
    assert {(o.domain, o.version) for o in read.opset_import} == {("", 17), ("ai.onnx.ml", 3)}
    assert (read.ir_version, read.producer_name) == (8, "discreet")
    assert [put.name for put in read.graph.output] == ["label", "probabilities"]
    assert [put.name for put in read.graph.input] == SPECIMEN.used_columns


def test_what_a_pmml_file_says_of_itself():
    written = SPECIMEN.to_pmml()
    assert written == SPECIMEN.to_pmml()
    root = ElementTree.fromstring(written)
    assert [f.get("name") for f in root.iter(f"{NAMESPACE}DataField")][:-1] == SPECIMEN.used_columns
    assert root.find(f"{NAMESPACE}RuleSetModel//{NAMESPACE}RuleSelectionMethod").get("criterion") == "firstHit"
    assert ElementTree.fromstring(SPECIMEN.to_pmml(as_tree=True)).find(f"{NAMESPACE}TreeModel") is not None
    assert "Timestamp" not in written


def test_onnx_without_its_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"discreet\[onnx\]"):
        SPECIMEN.to_onnx()


def test_the_table_of_formats_writes_what_the_methods_do():
    written = {name: write(SPECIMEN) for name, write in FORMATS.items()}
    sql = {f"model.{dialect}.sql": SPECIMEN.to_sql(dialect) for dialect in ("duckdb", "postgresql", "spark")}
    assert written == sql | {
        "model.py": SPECIMEN.to_python(),
        "model.pmml": SPECIMEN.to_pmml(),
        "model.onnx": SPECIMEN.to_onnx(),
    }


@pytest.mark.slow
def test_pmml_is_valid_by_its_schema():
    """The XSD is in the archive that JPMML's package brings."""
    lxml = pytest.importorskip("lxml.etree")
    home = Path(pytest.importorskip("jpmml_evaluator").__file__).parent
    (archive,) = home.glob("dependencies/pmml-model-[0-9]*.jar")
    with ZipFile(archive) as jar:
        valid = lxml.XMLSchema(lxml.fromstring(jar.read("pmml.xsd")))
    seen = []

    @settings(max_examples=200, suppress_health_check=list(HealthCheck))
    @given(free_rule_lists() | free_trees() | rule_lists().map(lambda d: d[0]) | trees().map(lambda d: d[0]))
    def run(model):
        for as_tree in (False, True):
            try:
                written = model.to_pmml(as_tree=as_tree)
            except RuleError:
                continue
            valid.assertValid(lxml.fromstring(written.encode()))
            seen.append(written)

    run()
    assert any("<RuleSetModel" in text for text in seen)
    assert any("<TreeModel" in text for text in seen)
