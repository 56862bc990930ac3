"""The report agrees with the model, all of it escaped, in one file that loads nothing."""

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
import sklearn
from sklearn.pipeline import make_pipeline

from discreet import (
    DPGreedyRuleListClassifier,
    DPOptimalRuleListClassifier,
    GreedyRuleListClassifier,
    Ledger,
    PrivacyStatement,
    Rule,
    RuleList,
    SavedModel,
    Schema,
)
from discreet._utils.html import plain
from discreet.accounting.statement import SEEDED, Guarantee
from discreet.datasets import load_compas
from discreet.models.display.summary import Chance, summarize
from discreet.models.display.wording import bound, factor, number, percent, sentence
from discreet.report.html import to_html

from ..support.reported_models import LISTS, MAKERS, MARK, NAMES, model

NAMED = [maker.__name__ for maker in MAKERS]
VOID = {"meta", "input", "rect", "line", "path", "br", "wbr", "img", "link", "base"}
# What loads something or runs code. The page's own script has no attributes; its hash is in the policy.
ACTIVE_TAGS = {"img", "link", "base", "iframe", "object", "embed", "form", "audio", "video", "source", "image", "use"}
ATTRIBUTES_THAT_LOAD = {"src", "srcset", "data", "action", "formaction", "poster", "background", "xlink:href"}


class Page(HTMLParser):
    """A page as a browser's parser sees it."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.open, self.headings, self.scripts, self.styles = [], [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        assert len(attributes) == len(dict(attributes)), f"an attribute twice in <{tag}>"
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        inside = self.open[-1] if self.open else ""
        {"script": self.scripts, "style": self.styles}.get(inside, self.texts).append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.texts).replace("\u202f", " ").replace("\u00a0", " "))


def page(name):
    return Page(to_html(model(name)))


@pytest.mark.parametrize("name", NAMED)
def test_a_page_is_one_well_formed_file_that_loads_nothing(name):
    text = to_html(model(name))
    assert text.encode("utf-8").decode("utf-8") == text
    seen = Page(text)
    assert "http:" not in text
    assert "https:" not in text
    assert "url(" not in "".join(seen.styles)
    assert "@import" not in "".join(seen.styles)
    for tag, attributes in seen.tags:
        assert tag not in ACTIVE_TAGS
        assert not ATTRIBUTES_THAT_LOAD & set(attributes), tag
        assert not [a for a in attributes if a.startswith("on")], tag
        if "href" in attributes:
            assert attributes["href"].startswith("#")
    (script,) = seen.scripts
    (policy,) = (a["content"] for t, a in seen.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy
    assert "fetch" not in script
    assert "innerHTML" not in script


@pytest.mark.parametrize("name", NAMED)
def test_headings_go_down_one_by_one_and_links_lead_somewhere(name):
    seen = page(name)
    assert seen.headings[0] == 1
    assert seen.headings.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(seen.headings, seen.headings[1:], strict=False))
    ids = [a["id"] for _, a in seen.tags if "id" in a]
    assert len(ids) == len(set(ids))
    for _, attributes in seen.tags:
        for key in ("href", "for", "aria-labelledby"):
            if key in attributes:
                assert attributes[key].lstrip("#") in ids
    assert ("html", {"lang": "en"}) in seen.tags
    pictures = [a for tag, a in seen.tags if tag == "svg"]
    assert (
        sum(not (a.get("role") == "img" and a.get("aria-label")) for a in pictures) == 1
    )  # the curve: a table says the same
    for tag, attributes in seen.tags:
        if tag == "th":
            assert attributes["scope"] in ("col", "row")


@pytest.mark.parametrize("name", ["hostile", "hostile_tree"])
def test_hostile_names_are_shown_as_they_are_and_nothing_more(name):
    text, seen = to_html(model(name)), page(name)
    assert text.count("<script") == 1
    assert text.count("<style") == 1
    assert MARK not in "".join(seen.scripts + seen.styles)
    for shown in NAMES[:5]:
        assert shown in seen.text
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\u202a-\u202e\ud800-\udfff]", text)
    outside = [d for d in seen.texts if MARK in d]
    assert len(outside) > 10


def test_a_renderer_that_forgets_to_escape_would_be_found(monkeypatch):
    monkeypatch.setattr("discreet._utils.html.plain", str)
    for name in ("hostile", "hostile_tree"):
        with pytest.raises(AssertionError):
            test_hostile_names_are_shown_as_they_are_and_nothing_more(name)


@pytest.mark.parametrize("name", [m.__name__ for m in LISTS if m.__name__ not in ("bare", "hostile")])
def test_numbers_are_those_of_the_model(name):
    rules, summary, text = model(name).rule_list, summarize(model(name)), page(name).text
    whole = sum(max(0.0, c) for rule in rules for c in rule.counts)
    left = whole
    for rule, step in zip(rules, summary.steps, strict=True):
        support = sum(max(0.0, c) for c in rule.counts)
        assert step.counts == rule.counts
        assert math.isclose(step.support, support)
        assert math.isclose(step.reaching, left, abs_tol=1e-6)
        if support:
            assert step.shares == pytest.approx([max(0.0, c) / support for c in rule.counts])
            assert step.taken == pytest.approx(support / left)
        left -= support
        for count in rule.counts:
            assert number(count) in text
        for literal in rule.antecedent:
            assert literal.column in text
    assert summary.total == pytest.approx(whole)
    assert 0 <= summary.right <= 1


def test_bars_are_as_wide_as_their_shares():
    rules = RuleList((Rule.parse("a then 1"),), Rule((), 0, (30, 10)), (0, 1))
    rules = replace(rules, rules=(replace(rules.rules[0], counts=(15, 45)),))
    widths = [
        a["width"] for tag, a in Page(to_html(SavedModel(rules))).tags if tag == "rect" and "class-" in a["class"]
    ]
    assert [float(w) for w in widths[:4]] == [25, 75, 75, 25]  # the cards
    assert [float(w) for w in widths[4:]] == [15, 45, 30, 10]  # the flow: shares of all 100


def test_a_proved_model_says_so_and_what_it_means():
    text = page("adult").text
    assert "Private, with epsilon = 1" in text
    assert "73.2" in text
    assert "2.72" in text
    assert str(model("adult").privacy) in text
    assert "NOT PRIVATE" not in text.upper()
    assert "asked for, but nothing is proved" not in text


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "compas",
            [
                "Not private",
                "The noise was seeded (random_state)",
                "not proved here",
                "nothing is proved for this model",
            ],
        ),
        ("inferred", ["Not private", "It was made from the records themselves: no promise covers"]),
        ("unprotected", ["Learned without privacy", "exact counts", "This model has no epsilon"]),
        ("hostile", ["Almost no protection", "epsilon = 50", "All of its noisy counts are zero or below"]),
        ("bare", ["released no class counts"]),
        ("wine", ["class_0", "class_1", "class_2", "No ledger was kept"]),
        ("proved_with_delta", ["Private, with epsilon = 1", "and a little more for delta"]),
    ],
)
def test_what_has_to_be_said_is_said(name, says):
    text = page(name).text
    for words in says:
        assert words in text


@pytest.mark.parametrize("name", ["compas", "inferred", "unprotected", "hostile"])
def test_nothing_calls_a_model_private_that_is_not(name):
    text = page(name).text
    assert "Private, with" not in text
    assert "This is proved" not in text
    assert "(this model)" not in text or name == "hostile"


def test_unproved_without_a_seed_is_not_proved_but_not_as_loud():
    statement = PrivacyStatement("sm-laplace", Guarantee(1.0, None), None, ("delta = 1/n^2 follows n; give a delta",))
    rules = RuleList.parse("if a then 1 else 0")
    kinds = [
        summarize(SavedModel(rules, s)).verdict.kind for s in (statement, replace(statement, because=(SEEDED,)), None)
    ]
    assert kinds == ["unproved", "broken", "none"]


def test_the_ledger_is_there():
    text = page("adult").text
    for words in (
        "1.5 of it was spent, in 2 releases",
        f"number 2 in the ledger, under the name {model('adult').ledger.release}",
    ):
        assert words in text.replace(" </b>", "").replace("  ", " ")


def test_a_ledger_with_a_release_about_which_nothing_is_proved_is_loud():
    data, ledger = load_compas(), Ledger(epsilon=5, allow_unproved=True)
    DPGreedyRuleListClassifier(schema=data.schema, random_state=0, ledger=ledger).fit(data.data, data.target)
    clf = DPGreedyRuleListClassifier(schema=data.schema, ledger=ledger).fit(data.data, data.target)
    text = Page(to_html(clf)).text
    assert "Private, with epsilon = 1" in text
    assert "Nothing is proved about 1 of the releases, nor about all of them together" in text


def test_columns_are_sorted_by_what_became_of_them():
    saved = model("adult")
    roles = {name: role for role, names in summarize(saved).columns.items() for name in names}
    used = {literal.column for rule in saved.rule_list for literal in rule.antecedent}
    assert {n for n, r in roles.items() if r == "used"} == used
    assert {n for n, r in roles.items() if r == "excluded"} == {"sex", "race"}
    assert {n for n, r in roles.items() if r == "ignored"} == {"fnlwgt"}
    assert set(roles) == set(saved.rule_list.schema.names)


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"epsilon": 1.0, "counts_share": 0.1}, 0.1),
        ({"epsilon": 0.5, "counts_share": 0.5, "mechanism": "mass"}, 0.25),
        ({"epsilon": 0.5, "counts_share": 0.5, "mechanism": "mass", "records_per_person": 5}, 0.05),
        ({"epsilon": 1.0, "mechanism": "sm-laplace"}, 1 / 14),
        ({"epsilon": 1.0, "mechanism": "gl-laplace"}, 1 / 9),
        ({"epsilon": 1.0, "counts_share": 0}, None),
        ({"epsilon": "one", "counts_share": 0.1}, None),
        ({"mechanism": "somebody else's"}, None),
    ],
)
def test_the_noise_of_counts_follows_from_public_parameters(parameters, expected):
    statement = PrivacyStatement(
        parameters.get("mechanism", "exact draw over all rule lists"), None, Guarantee(1.0, 0.0)
    )
    saved = SavedModel(RuleList.parse("if a then 1 else 0"), statement, "X", {"max_length": 5} | parameters)
    assert saved.counts_epsilon == (None if expected is None else pytest.approx(expected))


@pytest.mark.slow
def test_the_margin_of_counts_is_kept_in_nineteen_of_twenty_cases():
    data = load_compas(sensitive=False)
    inside = n = 0
    for _ in range(400):
        clf = DPGreedyRuleListClassifier(epsilon=0.4, max_length=2, schema=data.schema).fit(data.data, data.target)
        summary, where = summarize(clf), clf.rule_list_.captures(data.data)
        for i, rule in enumerate(clf.rule_list_):
            for label, count in zip(clf.rule_list_.classes, rule.counts, strict=True):
                inside += abs(count - ((where == i) & (data.target == label)).sum()) <= summary.margin
                n += 1
    assert n > 1000
    assert 0.93 < inside / n < 0.985


@pytest.mark.parametrize(
    ("epsilon", "fifty", "factor_"),
    [(0.1, "52.5 %", "1.11"), (1, "73.2 %", "2.72"), (5, "99.4 %", "149"), (50, ">99.9 %", None)],
)
def test_chances_are_rounded_up(epsilon, fifty, factor_):
    chance = Chance(epsilon)
    assert bound(chance.fifty) == fifty.replace(" ", "\u00a0")
    assert factor_ is None or factor(chance.factor) == factor_
    assert chance.fifty == pytest.approx(math.exp(epsilon) / (1 + math.exp(epsilon)))
    assert chance.after(0.01) <= 0.01 * math.exp(epsilon)
    assert Chance(epsilon, 1e-3).fifty > chance.fifty or epsilon == 50


def test_small_helpers():
    assert [percent(x) for x in (0, 0.001, 0.5, 0.999, 1)] == [
        x.replace("_", "\u00a0") for x in ("0_%", "under 1_%", "50_%", "over 99_%", "100_%")
    ]
    assert [number(x) for x in (-3, 1234.0, 0.0, -0.5)] == ["\u22123", "1,234", "0", "\u22120.5"]
    assert plain("<a href='x'>&") == "&lt;a href=&#x27;x&#x27;&gt;&amp;"


@pytest.mark.parametrize(
    "rules",
    [
        RuleList((), "yes", ("no", "yes")),
        RuleList((), Rule((), "yes", (0, 0)), ("no", "yes")),
        RuleList((), Rule((), "yes", (-5, -1)), ("no", "yes"), Schema.of_booleans(["a"])),
        RuleList.parse(" else ".join(f"if c{i} then {i}" for i in range(300)) + " else 0"),
        RuleList.parse("if a is missing and b in [1, 2] and c not in [3, 4.5] then 1 else 0"),
    ],
    ids=["empty", "zero counts", "negative counts", "long", "odd literals"],
)
@pytest.mark.parametrize("statement", [None, PrivacyStatement("mass", None, Guarantee(1e-6, 0.0))])
def test_odd_lists_have_a_report(rules, statement):
    assert Page(to_html(SavedModel(rules, statement))).headings
    assert Page(rules._repr_html_()).texts


def test_a_report_of_a_classifier_is_that_of_its_model():
    data = load_compas()
    clf = DPOptimalRuleListClassifier(schema=data.schema).fit(data.data, data.target)
    assert to_html(clf) == to_html(SavedModel.of(clf)) == to_html(SavedModel.from_json(SavedModel.of(clf).to_json()))


def test_the_package_ships_what_the_page_needs():
    from importlib.resources import files

    assert {"tree.css", "across.css", "scale.js"} <= {f.name for f in files("discreet.report").iterdir()}


# --- notebooks -------------------------------------------------------------------------------------------------------------


def fitted(learner, **parameters):
    data = load_compas()
    return learner(schema=data.schema, **parameters).fit(data.data, data.target)


@pytest.mark.parametrize(
    ("clf", "line"),
    [
        (fitted(DPOptimalRuleListClassifier), "Private, with epsilon = 1"),
        (fitted(DPGreedyRuleListClassifier, random_state=1), "Not private"),
        (fitted(GreedyRuleListClassifier), "Learned without privacy"),
    ],
)
def test_a_notebook_shows_the_list_and_a_line_on_privacy(clf, line):
    for html in (clf._repr_html_(), clf._repr_mimebundle_()["text/html"]):
        seen = Page(html)
        assert line in seen.text
        assert "records" in seen.text
        assert not seen.scripts
        for rule in clf.rule_list_:
            assert all(literal.column in seen.text for literal in rule.antecedent)
    assert clf._repr_mimebundle_()["text/plain"] == repr(clf)
    assert "Private" not in Page(clf.rule_list_._repr_html_()).text
    assert len(html) < 20_000


def test_before_fitting_a_notebook_shows_what_scikit_learn_shows():
    clf = GreedyRuleListClassifier()
    assert "sk-" in clf._repr_html_()
    assert "sk-" in clf._repr_mimebundle_()["text/html"]
    assert "discreet-list" not in clf._repr_html_()
    assert "sk-" in make_pipeline(fitted(GreedyRuleListClassifier))._repr_html_()


def test_a_notebook_that_wants_text_gets_text():
    clf = fitted(GreedyRuleListClassifier)
    with sklearn.config_context(display="text"):
        assert not hasattr(clf, "_repr_html_")
        assert list(clf._repr_mimebundle_()) == ["text/plain"]


@pytest.mark.parametrize("name", ["hostile", "hostile_tree"])
def test_hostile_names_in_a_notebook(name):
    html = model(name).model._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert NAMES[0] in Page(html).text
    html.encode("utf-8")


def test_an_edited_file_gets_no_report():
    text = model("adult").to_json()
    data = json.loads(text)
    data["privacy"]["proved"]["epsilon"] = 0.01
    with pytest.raises(ValueError, match="changed after it was saved"):
        to_html(SavedModel.from_json(json.dumps(data)))


def in_short(name):
    """The verdict at the top of a page, and the tiles below it: label, number and small print of each."""
    html = to_html(model(name))
    verdict = html[html.index('<div class="verdict') : html.index('<dl class="facts"')]
    tiles = re.findall(r"<div><dt>(.*?)</dt><dd>(.*?)<small>(.*?)</small></dd></div>", html)
    return re.sub(r"\s+", " ", Page(verdict).text), {
        label: tuple(Page(part).text for part in parts) for label, *parts in tiles
    }


@pytest.mark.parametrize("name", ["adult", "proved_with_delta", "bare", "wine", "hostile"])
def test_what_a_promise_rests_on_stands_beside_it(name):
    verdict, _ = in_short(name)
    assert "against everyone" in verdict or name == "hostile"
    for assumption in model(name).privacy.assumes:
        assert Page(sentence(assumption)).text in verdict
    assert "one record in the table" in verdict or "more records" in verdict


@pytest.mark.parametrize("name", ["compas", "inferred", "unprotected"])
def test_nothing_holds_against_everyone_where_nothing_is_proved(name):
    verdict, tiles = in_short(name)
    assert "against everyone" not in verdict
    assert tiles["Guessing whether a person is in the table"][0] == "no limit"


def test_tiles_follow_the_model():
    _, adult = in_short("adult")
    _, unprotected = in_short("unprotected")
    _, bare = in_short("bare")
    rules = model("unprotected").rule_list
    classes = np.sum([rule.counts for rule in rules], axis=0)
    right, often = unprotected["Right about"]
    assert f"{100 * sum(rule.counts[rules.classes.index(rule.label)] for rule in rules) / classes.sum():.0f}" in right
    assert (
        f"always saying {rules.classes[int(classes.argmax())]} gets {100 * classes.max() / classes.sum():.0f} %"
        in often
    )
    assert model("adult").rule_list.used_columns[0] in adult["Columns that rules use"][1]
    kept_out = sum(column.kind == "ignore" for column in model("adult").rule_list.schema.columns)
    assert f"{kept_out} kept out" in adult["Columns that rules use"][1]
    assert "kept out" not in unprotected["Columns that rules use"][1]
    assert "1.5" in adult["Budget left when saved"][0]
    assert bare["Budget left"][0] == "not counted"
    assert "Budget left when saved" not in unprotected
    assert "Right about" not in bare


def test_people_with_several_records_are_told_what_holds_for_them():
    X, y = np.zeros((50, 2), bool), np.arange(50) % 2
    for k, said in ((1, "about one record"), (3, "people with at most 3 records")):
        page = to_html(DPOptimalRuleListClassifier(epsilon=1.0, records_per_person=k).fit(X, y))
        assert said in page


def test_sums_of_mostly_noise_are_no_headline():
    rng = np.random.default_rng(0)
    for n, there in ((60, False), (20_000, True)):
        X = rng.integers(0, 2, (n, 2)).astype(bool)
        page = to_html(DPOptimalRuleListClassifier(epsilon=1.0).fit(X, X[:, 0].astype(int)))
        assert ("Learned from" in page) is there
