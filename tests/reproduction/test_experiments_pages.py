"""Figures, tables and the page of the experiments, on fits that nobody made."""

import itertools
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from reproduction import figures
from reproduction.drawing import house_style, plain, spread
from reproduction.page import Check, Checklist, Facts, Picture, Section, Table, inlined, write_page
from reproduction.styles import KNOWN, styles
from reproduction.tables import Compared, comparison, pooled, summary, with_error

from ..support.made_up_fits import DATASETS, HALF_WAY, PEERS, made_up_fits

FITS = made_up_fits()
WITH_PEERS = made_up_fits(peers=True)
EVERY_FIGURE = {
    "accuracy": lambda: figures.accuracy_over_epsilon(FITS, "COMPAS"),
    "accuracy with peers": lambda: figures.accuracy_over_epsilon(WITH_PEERS, "German Credit"),
    "noise": lambda: figures.noise_amplitude({"smooth sensitivity": ([10, 1000], [0.5, 0.01])}),
    "noisy counts": lambda: figures.noisy_counts(FITS, "Adult"),
    "vulnerability": lambda: figures.vulnerability(FITS),
    "hyper-parameters": lambda: figures.hyper_parameters(FITS, "German Credit"),
    "roc": lambda: figures.roc(FITS, "COMPAS"),
    "features": lambda: figures.feature_overlap(FITS),
}
FACTS = Facts("python -m reproduction", "a day", {"discreet": "0.4.0"}, 12.0)


class Reader(HTMLParser):
    """Notes tags, texts and ids; fails on tags that are not closed in order."""

    VOID = ("meta", "path", "use", "rect", "br")

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.ids, self.texts = [], [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def all(self, name):
        return [attrs for tag, attrs in self.tags if tag == name]


def labels(figure):
    shared = [figure.get_supxlabel() if hasattr(figure, "get_supxlabel") else "", figure.get_supylabel()]
    x = [a.get_xlabel() for a in figure.axes] + shared[:1]
    y = [a.get_ylabel() for a in figure.axes] + shared[1:]
    return " ".join(x).strip(), " ".join(y).strip()


@pytest.mark.parametrize("name", EVERY_FIGURE)
def test_every_figure_has_labelled_axes(name):
    x, y = labels(EVERY_FIGURE[name]())
    units = {
        "accuracy": ("log scale", "standard errors"),
        "accuracy with peers": ("log scale", "standard errors"),
        "noise": ("records n", "scale"),
        "noisy counts": ("log scale", "standard errors"),
        "vulnerability": ("standard errors", "COMPAS"),
        "hyper-parameters": ("share of records", "standard errors"),
        "roc": ("rate", "rate"),
        "features": ("standard errors", "epsilon"),
    }[name]
    assert units[0] in x
    assert units[1] in y


@pytest.mark.parametrize("name", EVERY_FIGURE)
def test_no_text_of_a_figure_leaves_it_or_lies_on_another(name, monkeypatch):
    figure = EVERY_FIGURE[name]()
    boxes = drawn_texts(figure, monkeypatch)
    assert len(boxes) > 5
    for (text, box), (other, there) in itertools.combinations([*boxes.items()], 2):
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= figure.bbox.width + 1, text
        assert box.y1 <= figure.bbox.height + 1, text
        over_x = min(box.x1, there.x1) - max(box.x0, there.x0)
        over_y = min(box.y1, there.y1) - max(box.y0, there.y0)
        assert min(over_x, over_y) < 2, (text, other)


def drawn_texts(figure, monkeypatch):
    """(text, a number) -> box, in dots, of what is really drawn: axes also have ticks that are not."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    drawn, draw = {}, Text.draw

    def noted(text, renderer):
        if text.get_visible() and text.get_text().strip():
            drawn[text.get_text(), id(text)] = Text.get_window_extent(text, renderer)
        draw(text, renderer)

    canvas = FigureCanvasAgg(figure)
    with house_style():
        canvas.draw()  # settles the layout
        monkeypatch.setattr(Text, "draw", noted)
        canvas.draw()
    return drawn


def test_no_two_methods_look_the_same():
    found = styles([*KNOWN, *(f"method {i}" for i in range(60)), "mass, twice", "mass, thrice"])
    assert len({(s.colour, s.marker, s.dashes) for s in found.values()}) == len(KNOWN) + 62
    assert found["mass, twice"].colour == found["mass"].colour


def test_a_method_that_nobody_knows_is_in_the_figure():
    axis = figures.accuracy_over_epsilon(FITS, "Adult").axes[0]
    assert "a stranger" in {text.get_text() for text in axis.texts}
    assert "a stranger" in {line.get_label() for line in axis.lines}


def test_peers_are_points_with_error_bars_at_their_epsilons():
    axis = figures.accuracy_over_epsilon(WITH_PEERS, "COMPAS").axes[0]
    bars = {container.get_label(): container for container in axis.containers}
    assert bars.keys() == PEERS.keys()  # mass, which is among these fits too, has its curve
    assert bars.keys() <= {text.get_text() for text in axis.texts}
    points, _, (errors,) = bars["DP-EBM"]
    mine = WITH_PEERS.query("experiment == 'peers' and dataset == 'COMPAS' and method == 'DP-EBM'")
    expected = mine.groupby("epsilon")["test_accuracy"].agg(["mean", "sem"])
    np.testing.assert_allclose(np.array(points.get_ydata(), float), expected["mean"])
    np.testing.assert_allclose(np.log10(np.array(points.get_xdata(), float)), [-1, 0, 1], atol=0.15)
    heights = [segment[1][1] - segment[0][1] for segment in errors.get_segments()]
    np.testing.assert_allclose(heights, 4 * expected["sem"])
    assert points.get_linewidth() == 0
    assert len({KNOWN[name].marker for name in PEERS} | {KNOWN[m].marker for m in HALF_WAY}) == len(PEERS | HALF_WAY)


def test_curves_go_through_the_means():
    axis = figures.accuracy_over_epsilon(FITS, "COMPAS").axes[0]
    line = next(line for line in axis.lines if line.get_label() == "mass")
    mine = FITS.query("experiment == 'accuracy' and dataset == 'COMPAS' and method == 'mass'")
    expected = mine.groupby("epsilon")["test_accuracy"].mean()
    np.testing.assert_allclose(line.get_xdata(), expected.index)
    np.testing.assert_allclose(line.get_ydata(), expected)


def test_hyper_parameters_vary_one_at_a_time():
    axis = figures.hyper_parameters(FITS, "COMPAS").axes[0]
    line = next(line for line in axis.lines if line.get_label() == "sm-laplace")
    mine = FITS.query("experiment == 'hyper-parameters' and dataset == 'COMPAS' and method == 'sm-laplace'")
    mine = mine.query("epsilon == 1 and min_support == 0.05 and max_literals == 2")
    np.testing.assert_allclose(line.get_ydata(), mine.groupby("max_length")["test_accuracy"].mean())


def test_fits_that_are_not_there_or_of_two_set_ups_are_refused():
    with pytest.raises(ValueError, match="run it first"):
        figures.accuracy_over_epsilon(FITS, "Titanic")
    mixed = pd.concat([FITS, FITS.assign(setup="C")])
    with pytest.raises(ValueError, match="several set-ups"):
        figures.accuracy_over_epsilon(mixed, "COMPAS")


@pytest.mark.slow
def test_the_same_figure_gives_the_same_files(tmp_path):
    first, _ = figures.save(figures.vulnerability(FITS), tmp_path / "a", "v")
    second, png = figures.save(figures.vulnerability(FITS), tmp_path / "b", "v")
    assert first.read_bytes() == second.read_bytes()
    assert png.read_bytes().startswith(b"\x89PNG")


def test_figures_leave_matplotlib_as_it_was():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    figures.vulnerability(FITS)
    assert dict(mpl.rcParams) == before


@pytest.mark.slow
def test_the_package_is_imported_without_matplotlib():
    modules = "figures, page, tables, styles, drawing"
    code = f"import sys; from reproduction import {modules}; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page of everything that there may be on one."""
    folder = tmp_path_factory.mktemp("page")
    figures.save(figures.vulnerability(FITS), folder, "v")
    figures.save(figures.noise_amplitude({"a < b": ([1, 10], [1, 0.5])}), folder, "n")
    checks = Checklist(
        (Check("1 < 2", "holds", "1 & 2"), Check("2 < 1", "does not hold", ""), Check("?", "in part", ""))
    )
    table = Table(("name", "number"), (("<b>", "0.5"), ("x", "12 ± 3")), "a <caption>")
    sections = [
        Section("First & best", ["<script>alert(1)</script>", Picture("v", "A <caption>.", 'dots "and" bars'), checks]),
        Section("Then", [Picture("v", "Again.", "dots"), Picture("n", "Noise.", "falls"), table]),
    ]
    return write_page(folder, sections, "A <title>", FACTS, ["It <leads>."]).read_text(encoding="utf-8")


def test_the_page_needs_nothing_else(page):
    assert "://" not in page
    assert "@import" not in page
    reader = Reader(page)
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in reader.tags}
    names = re.findall(r'href="([^"]*)"', page) + re.findall(r"url\(([^)]*)\)", page)
    assert names
    assert all(name.startswith("#") and name[1:] in reader.ids for name in names)
    assert len(set(reader.ids)) == len(reader.ids)


def test_the_page_escapes_every_text(page):
    for text in ("&lt;script&gt;", "A &lt;caption&gt;.", "a &lt;caption&gt;", "&lt;b&gt;", "1 &lt; 2", "1 &amp; 2"):
        assert text in page
    for text in ("A &lt;title&gt;", "It &lt;leads&gt;.", "First &amp; best", "dots &quot;and&quot; bars", "a &lt; b"):
        assert text in page


def test_the_page_can_be_read_without_eyes(page):
    reader = Reader(page)
    assert reader.all("html") == [{"lang": "en"}]
    assert [svg["aria-label"] for svg in reader.all("svg")] == ['dots "and" bars', "dots", "falls"]
    headings = [tag for tag, _ in reader.tags if re.fullmatch(r"h\d", tag)]
    assert headings == ["h1", "h2", "h2", "h2"]
    assert {a["scope"] for a in reader.all("th")} == {"col", "row"}
    assert "".join(reader.texts).count("does not hold") == 1


def test_numbers_stand_at_the_right(page):
    assert '<td class="number">12 ± 3</td>' in page
    assert '<th scope="row">x</th>' in page


def test_a_figure_says_the_same_on_the_page_as_in_its_file(tmp_path):
    svg, _ = figures.save(figures.vulnerability(FITS), tmp_path, "v")
    text = svg.read_text(encoding="utf-8")
    said = re.findall(r">([^<>]*\d[^<>]*)</text>", text)
    assert any(re.fullmatch(r"0\.\d{4}", s) for s in said)
    assert re.findall(r">([^<>]*\d[^<>]*)</text>", inlined(text, "", "a")) == said


def test_summaries_agree_with_numpy():
    found = summary(FITS, by=["experiment", "dataset", "method", "epsilon"])
    row = found.query("experiment == 'accuracy' and dataset == 'COMPAS' and method == 'GreedyRL'").iloc[0]
    mine = FITS.query("experiment == 'accuracy' and dataset == 'COMPAS' and method == 'GreedyRL'")["test_accuracy"]
    assert row["mean"] == pytest.approx(np.mean(mine))
    assert row["standard_error"] == pytest.approx(np.std(mine, ddof=1) / np.sqrt(len(mine)))
    assert row["n"] == len(mine)
    assert summary(FITS, ["dataset"], "vulnerability")["n"].tolist() == [10] * len(DATASETS)


def test_pooled_errors_are_over_seeds_not_over_fits():
    rng = np.random.default_rng(0)
    luck = rng.normal(size=50)
    fits = pd.DataFrame(
        [{"method": "m", "epsilon": e, "seed": s, "test_accuracy": luck[s]} for e in (1.0, 2.0, 4.0) for s in range(50)]
    )
    found = summary(pooled(fits, 1), ["method", "epsilon"])
    assert found["epsilon"].tolist() == pytest.approx([2.0])
    assert found["standard_error"][0] == pytest.approx(np.std(luck, ddof=1) / np.sqrt(50))
    pd.testing.assert_frame_equal(pooled(fits, 9)[fits.columns], fits, check_exact=False)


@pytest.mark.parametrize(("measured", "agrees"), [(0.5 + 0.0199, True), (0.5 - 0.0199, True), (0.5 + 0.0201, False)])
def test_numbers_agree_within_four_standard_errors(measured, agrees):
    row = Compared("a", None, 0.5, 0.003, measured, 0.004)  # together 0.005
    assert row.agrees is agrees
    assert comparison([row]).rows[0][-1] == ("agrees" if agrees else "does not agree")


def test_numbers_without_errors_agree_only_if_equal():
    assert Compared("a", 1, 0.5, None, 0.5, 0.0).agrees
    assert not Compared("a", 1, 0.5, 0.0, 0.6, np.nan).agrees
    assert Compared("a", "0.507+", None, None, 0.6, 0.1).agrees is None
    assert comparison([Compared("a", "0.507+", None, None, 0.6, 0.1)]).rows[0][1:3] == ("0.507+", "–")


def test_numbers_are_written_to_the_second_digit_of_their_error():
    assert with_error(0.7912, 0.00042) == "0.79120 ± 0.00042"
    assert with_error(np.nan, 0.1) == "–"
    assert with_error(123.4, 12.0) == "123 ± 12"


def test_names_beside_a_figure_keep_apart():
    rng = np.random.default_rng(1)
    for _ in range(20):
        wanted = rng.random(8) ** 3
        places = np.array(spread(wanted, 0.1))
        assert np.all(np.diff(np.sort(places)) >= 0.1 - 1e-5)
        assert places.min() >= 0
        assert places.max() <= 1 + 1e-5
        assert np.all(np.argsort(places) == np.argsort(wanted))


def test_ticks_are_plain_numbers():
    assert [plain(10.0**k) for k in range(-5, 6)] == (
        ["0.00001", "0.0001", "0.001", "0.01", "0.1", "1", "10", "100", "1,000", "10,000", "100,000"]
    )
