"""Figures, tables and verdicts of `python -m reproduction --beyond`: a page to read, and Markdown for docs/reproduction.md."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .beyond import COLUMNS, EPSILONS, FORESTS, LISTS, NOT_PRIVATE, RANDOM_FORESTS, TREES
from .conclusion import Sentence, sentences
from .drawing import curve, house_style, level, logarithmic, names_at_the_right, new_figure
from .figures import MEANT, save
from .page import Facts, Picture, Section, Table, write_page
from .setups import DATASETS
from .styles import styles
from .tables import NOTHING, rows, summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = {"lists": (*LISTS, "GreedyRL"), "trees and forests": (*TREES, *FORESTS, *RANDOM_FORESTS, "best tree")}
SHOWN = (0.1, 1.0, 10.0)  # epsilons in the tables

TEXT = (
    "Lists on the paper's features have rules of up to two literals where the paper's have; optimal lists, and all lists on all "
    "columns, of one. Trees have depth 4 on the paper's features of COMPAS and Adult, and depth 3 elsewhere. "
    "Forests are three trees of depth 3: drawn whole or greedy on parts of the records, with shares of epsilon, or with shares "
    "and half of the columns each. Random forests are 15 random trees of depth 10 on parts of the records. GreedyRL and the "
    "best tree are not private."
)


def write_beyond_page(fits: Any, folder: Path, facts: Facts) -> Path:
    """Draw the figures, and write index.html and beyond.md."""
    pictures = []
    for setup, columns in COLUMNS.items():
        for dataset in DATASETS:
            name = f"beyond-{dataset}-{setup}".lower().replace(" ", "-")
            save(accuracy(fits, dataset, setup), folder, name)
            pictures.append(Picture(name, f"{dataset}, {columns}", f"test accuracy over epsilon, {dataset}, {columns}"))
    found = sentences(fits)
    tables = [table(fits, setup) for setup in COLUMNS]
    (folder / "beyond.md").write_text(markdown(found, tables, pictures, fits, facts), encoding="utf-8")
    verdicts = Table(
        ("the paper's conclusion", "what was found"), tuple((s.quoted, _without_marks(s.verdict)) for s in found)
    )
    lead = [
        f"{len(fits):,} fits, {fits.seed.nunique()} splits of each dataset. Nothing here is private: the noise is seeded."
    ]
    sections = [
        Section("The conclusion, sentence by sentence", [verdicts]),
        Section("Accuracy over epsilon", [TEXT, *pictures]),
        Section("In numbers", tables),
    ]
    return write_page(folder, sections, "Beyond the paper", facts, lead)


def _without_marks(text: str) -> str:
    """Markdown as plain text."""
    return re.sub(r"\[(.*?)\]\(.*?\)", r"\1", text).replace("**", "").replace("`", "")


def accuracy(fits: Any, dataset: str, setup: str) -> "Figure":
    """Mean test accuracy over epsilon: lists above, trees and forests below, on the same scale."""
    chosen = fits[(fits["experiment"] == "beyond") & (fits["dataset"] == dataset) & (fits["setup"] == setup)]
    with house_style():
        figure = new_figure(7.2, 7.4)
        axes = [figure.add_axes((0.095, bottom, 0.6, 0.385)) for bottom in (0.53, 0.065)]
        lowest = _lowest(chosen)
        kept = []
        for axis, (title, methods) in zip(axes, PANELS.items(), strict=True):
            logarithmic(axis, "x", EPSILONS[0], EPSILONS[-1])
            kept.append(_curves(axis, chosen, methods, lowest))
            axis.set(ylabel=f"test accuracy {MEANT}")
            axis.set_title(title, weight="normal")
            axis.autoscale_view(scalex=False)
        high = max(axis.get_ylim()[1] for axis in axes)
        for axis, ends in zip(axes, kept, strict=True):
            axis.set_ylim(lowest, high)
            names_at_the_right(figure, axis, ends)
        width = min(axis.get_position().width for axis in axes)
        for axis in axes:
            box = axis.get_position()
            axis.set_position((box.x0, box.y0, width, box.height))
        axes[1].set_xlabel("epsilon (log scale)")
        figure.text(0.012, 0.978, f"{dataset}, {COLUMNS[setup]}", weight="bold", size=12, va="center")
    return figure


def _lowest(fits: Any) -> float:
    """What is shown begins a little below the accuracies from epsilon 0.1 on; some methods fall far below them before."""
    means = summary(fits[fits["epsilon"].isna() | (fits["epsilon"] > 0.09)], ["method", "epsilon"])["mean"]
    return float(means.min() - 0.1 * (means.max() - means.min()))


def _curves(axis: "Axes", fits: Any, methods: tuple[str, ...], lowest: float) -> list[Any]:
    style_of, ends = styles(methods), []
    for i, name in enumerate(methods):
        mine = fits[fits["method"] == name]
        if name in NOT_PRIVATE:
            (row,) = rows(summary(mine, ["method"]))
            level(axis, row.mean, row.standard_error, style_of[name], label=name)
            ends.append((f"{name} (not private)", style_of[name], EPSILONS[-1], row.mean))
            continue
        points = summary(mine, ["method", "epsilon"])
        points = points[points["epsilon"] > max([0.0, *points.loc[points["mean"] < lowest, "epsilon"]])]
        curve(axis, points, "epsilon", style_of[name], turn=i / len(methods), label=name)
        last = rows(points)[-1]
        ends.append((name, style_of[name], last.epsilon, last.mean))
    return ends


def table(fits: Any, setup: str) -> Table:
    """A row for each method, a column for each dataset and epsilon: mean test accuracy in percent and its standard error."""
    here = fits[fits["setup"] == setup]
    private = {(r.dataset, r.method, r.epsilon): r for r in rows(summary(here, ["dataset", "method", "epsilon"]))}
    levels = {(r.dataset, r.method): r for r in rows(summary(here, ["dataset", "method"]))}
    lines = []
    for method in (*LISTS, *TREES, *FORESTS, *RANDOM_FORESTS, *NOT_PRIVATE):
        cells = []
        for dataset in DATASETS:
            for epsilon in SHOWN:
                found = (
                    levels.get((dataset, method)) if method in NOT_PRIVATE else private.get((dataset, method, epsilon))
                )
                cells.append(NOTHING if found is None else f"{100 * found.mean:.2f} ({100 * found.standard_error:.2f})")
        lines.append((method, *cells))
    header = [
        f"{dataset} {epsilon:g}" if i == 0 else f"{epsilon:g}"
        for dataset in DATASETS
        for i, epsilon in enumerate(SHOWN)
    ]
    return Table(
        ("", *header), tuple(lines), f"{COLUMNS[setup]}: test accuracy in percent (standard error), by epsilon"
    )


def markdown(found: list[Sentence], tables: list[Table], pictures: list[Picture], fits: Any, facts: Facts) -> str:
    """What docs/reproduction.md has between its marks (tools/beyond_docs.py puts it there)."""
    lines = ["| the paper's conclusion | what was found |", "|---|---|"]
    lines += [f"| “{s.quoted}” | {s.verdict} |" for s in found]
    lines += ["", f"{TEXT} Bands are two standard errors wide on either side.", ""]
    lines += [f"![Test accuracy over epsilon: {p.caption}]({p.name}.svg)" for p in pictures]
    minutes, seconds = divmod(round(facts.seconds), 60)
    lines += [
        "",
        f"`{facts.command}`, {facts.date}: {len(fits):,} fits, {fits.seed.nunique()} splits; the last run took {minutes} min "
        f"{seconds} s (it goes on where it was stopped), discreet {facts.versions['discreet']}.",
    ]
    for one in tables:
        lines += ["", f"**{one.caption}**", "", "| " + " | ".join(one.header) + " |", "|---" * len(one.header) + "|"]
        lines += ["| " + " | ".join(row) + " |" for row in one.rows]
    return "\n".join(lines) + "\n"
