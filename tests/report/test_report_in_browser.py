"""The report in a real browser: on a phone, on a desktop, light, dark, on paper; offline; without complaints.

It needs Chromium, ``pip install playwright`` (which drives the system's Chromium) and ``npm install --no-save axe-core``.
Screenshots are kept in the folder that SCREENSHOTS names, if it is set, to be looked at.
"""

import os
import shutil
from pathlib import Path

import pytest

from discreet import Categorical, Literal, Rule, RuleList, SavedModel, Schema
from discreet.report.html import to_html

from ..support.reported_models import MAKERS, MARK, model

pytestmark = pytest.mark.slow

PHONE, DESKTOP = (360, 740), (1100, 850)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE = Path(os.environ.get("AXE", Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"))
VIEWS = [(size, scheme) for size in (PHONE, DESKTOP) for scheme in ("light", "dark")]


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    with sync_api.sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield running
        running.close()


@pytest.fixture
def visit(browser, tmp_path):
    """Open a page offline; everything that it says to the console or asks of the network is written down."""
    contexts = []

    def open_page(text, size=DESKTOP, scheme="light", **options):
        path = tmp_path / "report.html"
        path.write_text(text, encoding="utf-8")
        width, height = size
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, offline=True, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.heard, page.asked = [], []
        page.on("console", lambda message: page.heard.append(message.text))
        page.on("pageerror", lambda error: page.heard.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


def problems(page):
    """What axe-core finds."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed: npm install --no-save axe-core")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    return [(v["impact"], v["id"], [node["html"][:200] for node in v["nodes"]]) for v in found]


def keep(page, name):
    if folder := os.environ.get("SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


@pytest.mark.parametrize(("size", "scheme"), VIEWS, ids=lambda x: x if isinstance(x, str) else str(x[0]))
@pytest.mark.parametrize("name", [maker.__name__ for maker in MAKERS])
def test_a_page_is_good_everywhere(visit, name, size, scheme):
    page = visit(to_html(model(name)), size, scheme)
    keep(page, f"{name}-{size[0]}-{scheme}")
    assert page.heard == []
    assert len(page.asked) == 1, "it asks for nothing but itself"
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0], "it scrolls sideways"
    assert page.evaluate(f"typeof window.{MARK}") == "undefined", "somebody else's script ran"
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    assert dark == (scheme == "dark")
    assert not problems(page)


BROKEN_WORDS = """() => {
  const broken = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; node = walk.nextNode();) {
    if (!node.parentElement.closest('table')) continue;
    for (const word of node.data.matchAll(/[^\\s\\u002d]+/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map(r => Math.round(r.top)));
      if (lines.size > 1) broken.push(word[0]);
    }
  }
  return broken;
}"""


def with_long_words(n_letters):
    """A list whose column, category and class are words of so many letters, with counts."""
    column, category, label = ((letter * n_letters) for letter in "abc")
    rule = Rule((Literal(column, "=", category),), label, (12_345, 23_456, 34_567))
    schema = Schema([Categorical(column, categories=[category, "x"])], "y", ["no", label, "perhaps"])
    return SavedModel(RuleList((rule,), Rule((), "no", (3_000, 200, 10)), ("no", label, "perhaps"), schema))


@pytest.mark.parametrize("n_letters", [8, 16, 24])
def test_tables_break_no_word_on_a_phone(visit, n_letters):
    page = visit(to_html(with_long_words(n_letters)), PHONE)
    keep(page, f"words-of-{n_letters}")
    assert page.evaluate(BROKEN_WORDS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


def test_tables_break_what_no_phone_can_hold(visit):
    page = visit(to_html(with_long_words(400)), PHONE)
    keep(page, "words-of-400")
    assert page.evaluate(BROKEN_WORDS)
    assert page.evaluate("Math.max(...[...document.querySelectorAll('.wide')].map(w => w.scrollWidth))") < 5 * PHONE[0]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


def test_problems_would_be_found(visit):
    text = to_html(model("wine")).replace('lang="en"', "").replace("--soft: #565d63", "--soft: #cccccc")
    page = visit(text.replace('"use strict";', '"use strict"; fetch("https://example.org/");'))
    found = {rule for _, rule, _ in problems(page)}
    assert {"color-contrast", "html-has-lang"} <= found
    assert any("Content Security Policy" in message for message in page.heard), "a changed script does not run"


def test_the_scale_moves_with_the_keyboard(visit):
    page = visit(to_html(model("adult")))
    slider = page.locator("#scale-epsilon")
    assert page.locator("#scale").is_visible()
    assert page.locator("#scale-now").inner_text() == "1"
    assert page.locator("#scale-chance").inner_text() == "73.2\u00a0%"
    assert page.locator("#scale-factor").inner_text() == "2.72"
    before = page.locator("#scale-dot").bounding_box()
    slider.focus()
    page.keyboard.press("End")
    assert page.locator("#scale-now").inner_text() == "20"
    assert page.locator("#scale-chance").inner_text() == ">99.9\u00a0%"
    assert "epsilon 20" in slider.get_attribute("aria-valuetext")
    after = page.locator("#scale-dot").bounding_box()
    assert after["x"] > before["x"]
    assert after["y"] < before["y"]
    page.keyboard.press("Home")
    assert page.locator("#scale-chance").inner_text() == "50.3\u00a0%"


def test_the_numbers_of_the_scale_are_those_of_the_table(visit):
    page = visit(to_html(model("unprotected")))
    for row in page.locator("#epsilon tbody tr").all():
        epsilon, factor, fifty = row.locator("th, td").all_inner_texts()[:3]
        page.evaluate(
            "e => { const s = document.getElementById('scale-epsilon'); s.value = Math.log10(e);"
            " s.dispatchEvent(new Event('input')); }",
            float(epsilon),
        )
        assert page.locator("#scale-now").inner_text() == epsilon
        assert page.locator("#scale-factor").inner_text() == factor
        assert page.locator("#scale-chance").inner_text() == fifty


def test_without_a_script_the_table_says_the_same(visit):
    page = visit(to_html(model("adult")), java_script_enabled=False)
    assert not page.locator("#scale").is_visible()
    assert page.locator("#epsilon tr.own").inner_text().replace("\u00a0", " ").split("\t")[1:3] == ["2.72", "73.2 %"]


def test_on_paper_it_is_light_and_has_no_slider(visit):
    page = visit(to_html(model("adult")), scheme="dark")
    page.emulate_media(media="print")
    keep(page, "adult-print")
    assert not page.locator("#scale").is_visible()
    assert not page.locator("nav").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    if folder := os.environ.get("SCREENSHOTS"):
        page.pdf(path=Path(folder) / "adult.pdf", format="A4", print_background=True)


@pytest.mark.parametrize("name", ["wine", "small_tree"])
def test_a_notebook_shows_the_short_form(visit, name):
    for scheme, paper, ink in (("light", "#fff", "#111"), ("dark", "#111", "#eee")):
        short = model(name).model._repr_html_()
        body = f"<!DOCTYPE html><html lang=en><title>n</title><body style='background:{paper};color:{ink}'><main>{short}</main>"
        page = visit(body, (700, 400), scheme)
        keep(page, f"notebook-{name}-{scheme}")
        assert page.heard == []
        assert not [p for p in problems(page) if p[0] in ("serious", "critical")]
