"""Draws what growth.py measured, given as JSON: python draw_growth.py FOUND.json PICTURE.svg"""

import json
import sys
from pathlib import Path

from reproduction.drawing import house_style, logarithmic, new_figure
from reproduction.styles import BLUE, GREEN, VERMILION

Curves = dict[str, dict[str, list[tuple[int, float, float]]]]


def draw(found: Curves, path: Path) -> None:
    """Seconds above, memory below; over records on the left, over columns on the right."""
    labels = {
        "records": ([10**5, 10**6, 10**7], ["100k", "1M", "10M"]),
        "columns": ([20, 40, 80], ["20", "40", "80"]),
    }
    seconds = [point[1] for curves in found.values() for curve in curves.values() for point in curve]
    with house_style():
        figure = new_figure(8, 6)
        figure.set_layout_engine("constrained", wspace=0.05, hspace=0.05)
        axes = figure.subplots(2, 2, sharey="row", sharex="col")
        for column, (panel, curves) in enumerate(found.items()):
            for i, ((name, curve), colour) in enumerate(zip(curves.items(), (VERMILION, BLUE, GREEN), strict=True)):
                style = {"marker": "os^"[i], "color": colour, "label": name, "linewidth": 1.4, "markersize": 5}
                axes[0, column].plot([p[0] for p in curve], [p[1] for p in curve], **style)
                axes[1, column].plot([p[0] for p in curve], [p[2] / 2**20 for p in curve], **style)
            sizes = labels[panel][0]
            logarithmic(axes[0, column], "y", min(seconds) * 0.7, max(seconds) * 1.5)
            logarithmic(axes[1, column], "x", min(sizes) * 0.8, max(sizes) * 1.25)
            axes[1, column].set_xticks(*labels[panel])
            axes[1, column].set_xlabel(f"{panel} (log scale)")
        axes[1, 0].set_ylim(bottom=0)
        axes[0, 0].set_ylabel("seconds for a whole fit (log scale)")
        axes[1, 0].set_ylabel("peak memory of the process, MiB")
        handles, names = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=3, fontsize=8.5)
        figure.savefig(path, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]))
