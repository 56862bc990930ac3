"""The paper's figures, one function each: from the fits to a matplotlib figure."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .drawing import (
    BAND,
    SOFT,
    apart,
    curve,
    house_style,
    key_below,
    level,
    logarithmic,
    names_at_the_right,
    new_figure,
    plain,
    points_at,
)
from .measures import FALSE_POSITIVE_RATES
from .styles import GREY, Style, styles
from .tables import by_method, pooled, rows, summary

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Curves = Mapping[str, tuple[Sequence[float], Sequence[float]]]  # name -> (x, y)
Styles = Mapping[str, Style]

MEANT = f"(mean ± {BAND} standard errors)"
# What the paper holds fixed while one hyper-parameter varies; German Credit has values of its own.
PAPER = {"max_length": 5, "min_support": 0.05, "max_literals": 2}
PAPER_GERMAN = {"max_length": 5, "min_support": 0.12, "max_literals": 1}
HYPER_PARAMETERS = {
    "max_length": "longest list K\n(rules)",
    "min_support": "minimum support λ\n(share of records)",
    "max_literals": "longest rule\n(literals)",
}
POINTS = 50  # on a curve at most: of more, neighbours are pooled, or noise hides what there is to see
CARDINALITIES = {1: "single literals", 2: "single literals and pairs"}
INTERESTING = (0.1, 20.0)  # the budgets the paper's comparison of noisy counts with noisy Gini is about


def accuracy_over_epsilon(fits: "pd.DataFrame", dataset: str) -> "Figure":
    """Fig. 4: mean test accuracy over epsilon, a curve with a band for each method, a line for those without privacy.

    Of more than 50 epsilons, neighbours are pooled; the axis says so. Peers, if there are any, are points with error bars.
    """
    chosen = choose(fits, "accuracy", dataset)
    others = fits[(fits["experiment"] == "peers") & (fits["dataset"] == dataset)]
    others = others[~others["method"].isin(chosen["method"])]  # the rest of them have curves
    style_of = styles(fits["method"])
    private = chosen["epsilon"].notna()
    with house_style():
        figure = new_figure(7.2, 4.4)
        axis = figure.add_axes((0.095, 0.125, 0.665, 0.785))
        budgets = chosen.loc[private, "epsilon"]
        logarithmic(axis, "x", budgets.min(), budgets.max())
        ends = []
        curves = by_method(summary(pooled(chosen[private], POINTS), ["method", "epsilon"]))
        for i, (name, points) in enumerate(curves):
            curve(axis, points, "epsilon", style_of[name], turn=i / len(curves), label=name)
            last = rows(points)[-1]
            ends.append((name, style_of[name], last.epsilon, last.mean))
        for row in rows(summary(chosen[~private], ["method"])):
            level(axis, row.mean, row.standard_error, style_of[row.method], label=row.method)
            ends.append((row.method, style_of[row.method], budgets.max(), row.mean))
        peers = by_method(summary(others, ["method", "epsilon"]))
        for i, (name, points) in enumerate(peers):
            aside = 0.07 * (i - (len(peers) - 1) / 2)  # side by side, or their bars hide each other
            points_at(axis, points, "epsilon", style_of[name], aside, label=name)
        ends += [(name, style_of[name], 1.0, 0.0) for name, _ in reversed(peers)]
        axis.set(xlabel=_epsilon(chosen), ylabel=f"test accuracy {MEANT}", title=dataset)
        axis.autoscale_view(scalex=False)
        names_at_the_right(figure, axis, ends)
    return figure


def noise_amplitude(curves: Curves, epsilon: float = 1.0) -> "Figure":
    """Fig. 1: the scale of Laplace noise (y) over the number of records n (x), a curve for each kind of sensitivity."""
    with house_style():
        figure = new_figure(7.2, 3.6)
        axis = figure.add_axes((0.105, 0.15, 0.60, 0.74))
        style_of = styles(curves)
        sizes = [n for x, _ in curves.values() for n in x]
        scales = [scale for _, y in curves.values() for scale in y]
        logarithmic(axis, "x", min(sizes), max(sizes))
        logarithmic(axis, "y", min(scales) / 1.5, max(scales) * 3)
        for name, (x, y) in curves.items():
            axis.plot(
                x, y, **style_of[name].line, **style_of[name].point, markevery=(0.07, 0.15), label=name, clip_on=False
            )
        axis.set(xlabel="records n (log scale)", ylabel="scale of the noise (log scale)")
        axis.set_title(f"Laplace noise on Gini impurity, epsilon = {plain(epsilon)}")
        names_at_the_right(figure, axis, [(name, style_of[name], x[-1], y[-1]) for name, (x, y) in curves.items()])
    return figure


def noisy_counts(fits: "pd.DataFrame", dataset: str, value: str = "train_accuracy") -> "Figure":
    """Fig. 2 and 3: noisy Gini (gl-laplace) against noisy counts over epsilon, side by side for each size of rules."""
    chosen = choose(fits, "noisy-counts", dataset)
    style_of = styles(fits["method"])
    cards = sorted(chosen["max_literals"].unique())
    budgets = chosen["epsilon"].dropna()
    with house_style():
        figure = new_figure(7.2, 3.9)
        figure.set_layout_engine("constrained", wspace=0.06)
        axes = figure.subplots(1, len(cards), sharey=True, squeeze=False)[0]
        for axis, card in zip(axes, cards, strict=True):
            logarithmic(axis, "x", budgets.min(), budgets.max())
            _over_epsilon(axis, chosen[chosen["max_literals"] == card], value, style_of)
            low, high = INTERESTING
            axis.axvspan(low, high, color=SOFT, linewidth=0, zorder=0, label=f"epsilon {plain(low)} to {plain(high)}")
            axis.set_xlabel(_epsilon(chosen).replace("; ", ";\n"))
            axis.set_title(CARDINALITIES.get(card, f"rules of up to {card} literals"), weight="normal")
        axes[0].set_ylabel(f"{value.replace('train_', 'training ').replace('_', ' ')}\n{MEANT}")
        figure.suptitle(dataset, x=0.01, ha="left", weight="bold", size=12)
        key_below(figure, axes)
    return figure


def _over_epsilon(axis: "Axes", fits: "pd.DataFrame", value: str, style_of: Styles) -> None:
    said = {"gl-laplace": "noisy Gini (gl-laplace)", "noisy-counts": "noisy counts"}
    private = fits["epsilon"].notna()
    for row in rows(summary(fits[~private], ["method"], value)):
        level(axis, row.mean, row.standard_error, style_of[row.method], said.get(row.method, row.method))
    curves = by_method(summary(pooled(fits[private], POINTS), ["method", "epsilon"], value))
    for i, (name, points) in enumerate(curves):
        curve(axis, points, "epsilon", style_of[name], turn=i / len(curves), label=said.get(name, name))


def _epsilon(fits: "pd.DataFrame") -> str:
    together = -(-fits.groupby("method", observed=True)["epsilon"].nunique().max() // POINTS)
    return "epsilon (log scale" + (f"; up to {together} neighbouring values pooled)" if together > 1 else ")")


def vulnerability(fits: "pd.DataFrame") -> "Figure":
    """Table III as a figure: for each dataset the vulnerability of each method, by the formula and as it was published."""
    chosen = choose(fits[fits["setup"] == "B"], "tables")
    style_of = styles(fits["method"])
    datasets = list(chosen["dataset"].unique())
    formulas = {"vulnerability": "by the paper's formula, P[r | y]", "vulnerability_joint": "as published, P[r, y]"}
    with house_style():
        figure = new_figure(7.2, 0.9 + len(datasets) * (0.5 + 0.3 * chosen["method"].nunique()))
        figure.set_layout_engine("constrained", wspace=0.05, hspace=0.06)
        axes = figure.subplots(len(datasets), len(formulas), sharex="row", sharey="row", squeeze=False)
        for dataset, row in zip(datasets, axes, strict=True):
            for column, axis in zip(formulas, row, strict=True):
                _dots(axis, summary(chosen[chosen["dataset"] == dataset], ["method"], column), style_of)
                axis.axvline(0.5, color=GREY, linewidth=1.2)
            row[0].set_ylabel(dataset.replace(" ", "\n"), weight="bold")
        for axis, title in zip(axes[0], formulas.values(), strict=True):
            axis.set_title(title, weight="normal")
        figure.supxlabel(f"vulnerability V {MEANT}; at 0.5 an attacker might as well toss a coin", size=10)
    return figure


def _dots(axis: "Axes", means: "pd.DataFrame", style_of: Styles, digits: int = 4) -> None:
    for place, row in enumerate(rows(means)):
        style = style_of[row.method]
        error: dict[str, Any] = {"xerr": BAND * row.standard_error, "capsize": 3, "linewidth": 1.4}
        axis.errorbar(row.mean, place, color=style.colour, fmt=style.marker or "o", markersize=6, **error)
        note: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "va": "bottom", "size": 8.5}
        paper = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axis.annotate(f"{row.mean:.{digits}f}", (row.mean, place), (0, 7), bbox=paper, **note)
    axis.set_yticks(range(len(means)), means["method"])
    axis.set_ylim(len(means) - 0.5, -0.9)
    axis.grid(axis="y", visible=False)
    axis.locator_params(axis="x", nbins=4)
    axis.margins(x=0.15)


def hyper_parameters(fits: "pd.DataFrame", dataset: str, fixed: Mapping[str, float] | None = None) -> "Figure":
    """Section V.D: test accuracy over K, lambda and the size of rules, each while the others are ``fixed``.

    A row of panels for each epsilon. A method that a parameter does not touch has a level line there.
    """
    chosen = choose(fits, "hyper-parameters", dataset)
    fixed = fixed or (PAPER_GERMAN if dataset == "German Credit" else PAPER)
    style_of = styles(fits["method"])
    budgets = sorted(chosen["epsilon"].dropna().unique())
    with house_style():
        figure = new_figure(7.2, 1.5 + 2.1 * len(budgets))
        figure.set_layout_engine("constrained", wspace=0.04, hspace=0.06)
        axes = figure.subplots(len(budgets), len(HYPER_PARAMETERS), sharey=True, sharex="col", squeeze=False)
        for row, epsilon in zip(axes, budgets, strict=True):
            here = chosen[(chosen["epsilon"] == epsilon) | chosen["epsilon"].isna()]
            for axis, parameter in zip(row, HYPER_PARAMETERS, strict=True):
                _over_parameter(axis, here, parameter, fixed, style_of)
            row[0].set_title(f"epsilon = {plain(epsilon)}", weight="normal")
        for axis, words in zip(axes[-1], HYPER_PARAMETERS.values(), strict=True):
            axis.set_xlabel(words)
        figure.supylabel(f"test accuracy {MEANT}", size=10)
        figure.suptitle(dataset, x=0.01, ha="left", weight="bold", size=12)
        key_below(figure, list(axes.flat), columns=5)
    return figure


def _over_parameter(
    axis: "Axes", fits: "pd.DataFrame", parameter: str, fixed: Mapping[str, float], style_of: Styles
) -> None:
    for other in HYPER_PARAMETERS.keys() - {parameter}:
        fits = fits[fits[other].isna() | (fits[other] == fixed[other])]
    points = summary(fits, ["method", parameter])
    for name, mine in by_method(points):
        if mine[parameter].nunique() < 2:
            level(axis, mine["mean"].iloc[0], mine["standard_error"].iloc[0], style_of[name], label=name)
        else:
            curve(axis, mine, parameter, style_of[name], label=name)
    axis.axvline(fixed[parameter], color=SOFT, linewidth=7, zorder=0, label="the paper's choice")
    values = apart([fixed[parameter], *sorted(points[parameter].dropna().unique())])
    axis.set_xticks(values, [plain(v) for v in values])
    axis.grid(axis="x", visible=False)
    axis.margins(x=0.12)


def roc(fits: "pd.DataFrame", dataset: str) -> "Figure":
    """Mean ROC curves on logarithmic axes, which show whether an attack is ever sure of anyone; beside them the advantage."""
    chosen = choose(fits, "membership", dataset)
    style_of = styles(fits["method"])
    x = FALSE_POSITIVE_RATES
    with house_style():
        figure = new_figure(7.2, 4.15)
        figure.set_layout_engine("constrained", wspace=0.06)
        ratio, gain = figure.subplots(1, 2)
        logarithmic(ratio, "x", x[0], 1)
        logarithmic(ratio, "y", x[0], 1)
        logarithmic(gain, "x", x[0], 1)
        for name, mine in chosen.groupby("method", observed=True):
            curves = np.stack(mine["black_box_tpr"].tolist())
            mean, error = curves.mean(0), BAND * curves.std(0, ddof=1) / len(curves) ** 0.5
            style = style_of[str(name)]
            for axis, away in ((ratio, 0.0), (gain, x)):
                axis.plot(x, mean - away, **style.line | {"linewidth": 1.6}, label=name)
            gain.fill_between(x, mean - error - x, mean + error - x, color=style.colour, alpha=0.13, linewidth=0)
        ratio.plot([x[0], 1], [x[0], 1], color=GREY, linewidth=0.9, zorder=1, label="guessing")
        gain.axhline(0, color=GREY, linewidth=0.9, zorder=1)
        ratio.set(xlabel="false positive rate (log scale)", ylabel="true positive rate (log scale)", aspect="equal")
        gain.set(xlabel="false positive rate (log scale)", ylabel=f"true − false positive rate\n{MEANT}")
        gain.set_box_aspect(1)
        ratio.set_title(dataset)
        key_below(figure, [ratio], columns=5)
    return figure


def feature_overlap(fits: "pd.DataFrame") -> "Figure":
    """Table IV as a figure: the share of GreedyRL's important features that private lists rest on too."""
    chosen = choose(fits, "importance")
    style_of = styles(fits["method"])
    readings = {
        "overlap_top5": "of the five most important",
        "overlap_positive": "of those that matter at all",
    }
    budgets = sorted(chosen["epsilon"].unique())
    with house_style():
        figure = new_figure(7.2, 0.9 + len(budgets) * (0.5 + 0.3 * chosen["method"].nunique()))
        figure.set_layout_engine("constrained", wspace=0.05, hspace=0.06)
        axes = figure.subplots(len(budgets), len(readings), sharex="col", sharey=True, squeeze=False)
        for epsilon, row in zip(budgets, axes, strict=True):
            for column, axis in zip(readings, row, strict=True):
                _dots(axis, summary(chosen[chosen["epsilon"] == epsilon], ["method"], column), style_of, digits=2)
            row[0].set_ylabel(f"epsilon {plain(epsilon)}", weight="bold")
        for axis, title in zip(axes[0], readings.values(), strict=True):
            axis.set_title(title, weight="normal")
        figure.supxlabel(f"share of features in common with GreedyRL {MEANT}", size=10)
    return figure


def choose(fits: "pd.DataFrame", experiment: str, dataset: str | None = None) -> "pd.DataFrame":
    """The fits of one experiment, on one dataset if given. They must be there, and be of one set-up."""
    chosen = fits[fits["experiment"] == experiment]
    if dataset is not None:
        chosen = chosen[chosen["dataset"] == dataset]
    where = f"experiment {experiment!r}" + (f" on {dataset}" if dataset else "")
    if chosen.empty:
        raise ValueError(f"there are no fits of {where}; run it first")
    if chosen["setup"].nunique() > 1:
        raise ValueError(f"the fits of {where} have several set-ups; pass one: fits[fits.setup == ...]")
    return chosen


def save(figure: "Figure", folder: str | Path, name: str) -> tuple[Path, Path]:
    """Write name.svg and name.png (200 dots per inch) into a folder. The same figure gives the same SVG, byte for byte."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    svg, png = folder / f"{name}.svg", folder / f"{name}.png"
    with house_style():
        figure.savefig(svg, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
        figure.savefig(png, dpi=200)
    return svg, png
