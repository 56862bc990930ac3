"""docs/tables.md between its marks, docs/tables-by-table.md, the picture and what `discreet plan` knows, from the results."""

import json
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from methods import DEFAULTS, METHODS, OPEN, OURS, PEERS
from picture import LEAST, drawn
from summary import Results, Rows
from tables import TABLES, Table, half

BEGIN, END = "<!-- benchmarks/compare begins -->\n", "<!-- benchmarks/compare ends -->\n"
MEASURES = {
    "accuracy": "Accuracy",
    "balanced": "Balanced accuracy",
    "area": "Area under the ROC curve",
    "loss": "Log loss",
    "calibration": "Calibration error",
}
SHORT = {
    "list": "list", "tree-3": "tree 3", "tree-4": "tree 4", "tree-2-2": "tree 2, 2", "card": "card",
    "mass": "mass", "sm-laplace": "sm-lap.",
    "dp-ebm": "DP-EBM", "dp-ebm-boolean": "EBM, Boolean", "dp-xgboost": "DP-XGB.", "dp-logistic": "DP logistic",
    "dp-forest": "DP forest", "dp-tree": "DP tree", "dp-bayes": "DP Bayes",
    "majority": "majority", "cart-3": "CART 3", "cart-4": "CART 4", "logistic": "logistic", "boosting": "boosting",
}  # fmt: skip
KINDS = {"list": "list", "tree-3": "tree", "tree-2-2": "tree in stages 2, 2", "card": "card"}  # for `discreet plan`
PICTURED = 1.0
SIZES = ((0, 100), (100, 1_000), (1_000, 10_000), (10_000, float("inf")))  # records times epsilon
CHOICES = (  # of defaults: what could be taken in place of what
    ("tree-3", "list"),
    ("tree-4", "tree-3"),
    ("tree-2-2", "tree-3"),
    ("card", "tree-3"),
)


def write(rows: Rows, docs: Path, advice: Path, missing: int) -> None:
    """Everything, of the tables that have results; while fits are missing, the page says so."""
    results = Results(rows)
    tables = [table for table in TABLES if table.name in results.facts]
    if not tables:
        return
    page = docs / "tables.md"
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    text = "\n".join([extent(rows, missing, results, tables), *sections(results, tables)])
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", encoding="utf-8")
    (docs / "tables-by-table.md").write_text(by_table(results, tables), encoding="utf-8")
    (docs / "tables.svg").write_text(drawn(results, tables, PICTURED), encoding="utf-8")
    lines = ",\n ".join(json.dumps(for_planning(results, table)) for table in tables)
    advice.write_text(f"[{lines}]\n", encoding="utf-8")


def for_planning(results: Results, table: Table) -> dict[str, object]:
    """What `discreet plan` says of tables like it: accuracy and ranking of ours, and of the majority and boosting."""

    def ours(measure: str) -> dict[str, dict[str, float]]:
        means = {
            e: {kind: results.mean(table.name, m, e, measure) for m, kind in KINDS.items()} for e in results.epsilons
        }
        return {f"{e:g}": {k: round(v, 4) for k, v in of.items() if v is not None} for e, of in means.items()}

    def alone(method: str, measure: str) -> float:
        return round(results.mean(table.name, method, None, measure) or 0.0, 4)

    facts = results.facts[table.name]
    return {
        "title": table.title,
        "records": trained_on(results, table),
        "columns": facts["columns"],
        "classes": facts["classes"],
        "majority": alone("majority", "accuracy"),
        "boosting": alone("boosting", "accuracy"),
        "boosted_area": alone("boosting", "area"),
        "accuracy": ours("accuracy"),
        "area": ours("area"),
    }


def trained_on(results: Results, table: Table) -> int:
    """How many records each fit learns from."""
    return int(0.7 * results.facts[table.name]["used"])


def extent(rows: Rows, missing: int, results: Results, tables: list[Table]) -> str:
    """How much was done, how long it took, and which tables are not in the picture."""
    minutes = sum(row.get("spent", 0.0) for row in rows.values()) / 60
    text = (
        f"{len(tables)} tables; {len(rows):,} fits, predictions and measures included, took {minutes:.0f} minutes of processor "
        "time."
    )
    if out := [link(t) for t in tables if results.share_of_the_way(t.name, "majority", PICTURED, LEAST) is None]:
        text += (
            f" {len(tables) - len(out)} tables are in the picture and under *What to expect*, all but {', '.join(out)}: there, "
            "boosting without privacy gains less than a point of accuracy over the majority class, or was not run."
        )
    if missing:
        splits = 1 + max(job.split for job in rows)
        text = f"**Not complete: {missing:,} fits are missing; there are up to {splits} splits so far.** {text}"
    return f"{text}\n"


def sections(results: Results, tables: list[Table]) -> list[str]:
    """Of the first page."""
    return [
        "## What to expect\n",
        by_size(results, tables),
        "## Ahead, level, behind\n",
        counts_page(results, tables),
        "## Where a private peer is ahead in accuracy\n",
        behind(results, tables),
        "## Defaults, by halves\n",
        by_halves(results, tables),
        *(
            means(results, tables, epsilon, measure)
            for measure in ("accuracy", "balanced", "area")
            for epsilon in results.epsilons
        ),
        "## The tables\n",
        listed(results, tables),
    ]


def grid(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown; numbers to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def number(value: float | None, digits: int = 3) -> str:
    """Without the zero before the point.

    >>> number(0.5), number(-0.25), number(1.25), number(None)
    ('.500', '-.250', '1.250', '')
    """
    if value is None:
        return ""
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def counts_page(results: Results, tables: list[Table]) -> str:
    """For each measure: on how many tables our default list and our default tree are ahead, level and behind, of each peer."""
    text = (
        "On how many tables the default list, tree and score card are ahead / level / behind, for each peer on the tables that "
        'it takes. The last column has all peers at once: "behind" if any of them is ahead of us, "ahead" if we are ahead of '
        "all. Halves A and B are every second table.\n\n"
    )
    for measure in ("accuracy", "balanced", "area", "loss"):
        rows = []
        for epsilon in results.epsilons:
            for ours in DEFAULTS:
                cells = [
                    tally([verdict(results, t, ours, [p], epsilon, measure) for t in tables]) for p in results.peers
                ]
                every = [verdict(results, t, ours, results.peers, epsilon, measure) for t in tables]
                halves = [tally([v for t, v in zip(tables, every, strict=True) if half(t) == h]) for h in "AB"]
                rows.append([f"epsilon {epsilon:g}, {SHORT[ours]}", *cells, f"**{tally(every)}**", *halves])
        head = [MEASURES[measure], *(SHORT[p] for p in results.peers), "all", "half A", "half B"]
        text += grid(head, rows) + "\n"
    return text


def by_size(results: Results, tables: list[Table]) -> str:
    """How far each method gets, and how well it ranks, by records times epsilon."""

    def way(table: str, method: str, epsilon: float) -> float | None:
        return results.share_of_the_way(table, method, epsilon, LEAST)

    def area(table: str, method: str, epsilon: float) -> float | None:
        return results.mean(table, method, epsilon, "area")

    return (
        "How much of the way from the majority class to boosting without privacy a method gets: medians over cases, each a table "
        "at an epsilon, with so many records times epsilon. **Bold:** the best of the methods that were run on all cases of the "
        "row. A number in brackets says that a method was run on so many of them only (two classes, or a tree of depth 4 where "
        "it takes few seconds): such a cell cannot be compared with the others, because its cases may be the easier ones. "
        "`discreet plan` shows the same for the tables that are nearest to yours.\n\n"
        + medians(results, tables, way, percent)
        + "\nTwo of ours on the same cases, those that both were run on, and on how many of these the first is higher:\n\n"
        + same_cases(results, tables, way, percent)
        + "\nHow well they rank, by the area under the ROC curve (.5 is no order at all), in the same way, of all tables:\n\n"
        + medians(results, tables, area, number)
        + "\n"
        + same_cases(results, tables, area, number)
    )


Value = Callable[[str, str, float], float | None]  # of a table, a method and an epsilon


def medians(results: Results, tables: list[Table], value: Value, shown: Callable[[float], str]) -> str:
    """Of each method, by records times epsilon; only those with all cases are compared."""
    methods = results.methods(OURS, PEERS)
    rows = []
    for size, inside in cases_by_size(results, tables).items():
        found = {m: [v for t, e in inside if (v := value(t, m, e)) is not None] for m in methods}
        every = max(map(len, found.values()))
        best = max((shown(median(v)) for v in found.values() if v and len(v) == every), key=as_number, default=None)
        cells = []
        for values in found.values():
            text = shown(median(values)) if values else ""
            if values and len(values) < every:
                text += f" ({len(values)})"
            cells.append(f"**{text}**" if text and text == best else text)
        rows.append([size, str(every), *cells])
    return grid(["records × epsilon", "cases", *(SHORT[m] for m in methods)], rows)


def same_cases(results: Results, tables: list[Table], value: Value, shown: Callable[[float], str]) -> str:
    """Medians of two methods over the cases that both have, and how often the first is higher."""
    rows = []
    for size, inside in cases_by_size(results, tables).items():
        cells = []
        for pair in CHOICES:
            found = [(value(t, pair[0], e), value(t, pair[1], e)) for t, e in inside]
            both = [(a, b) for a, b in found if a is not None and b is not None]
            new, old = ([v[i] for v in both] for i in (0, 1))
            ahead = f"{sum(a > b for a, b in both)} of {len(both)}"
            cells.append(f"{shown(median(new))} : {shown(median(old))} ({ahead})" if both else "")
        rows.append([size, *cells])
    return grid(["records × epsilon", *(f"{SHORT[new]} : {SHORT[old]}" for new, old in CHOICES)], rows)


def cases_by_size(results: Results, tables: list[Table]) -> dict[str, list[tuple[str, float]]]:
    """Tables and epsilons, by records times epsilon."""
    found = {}
    for low, high in SIZES:
        size = f"below {high:,}" if not low else f"above {low:,}" if high == float("inf") else f"{low:,} to {high:,}"
        cases = [(t.name, e) for t in tables for e in results.epsilons if low <= trained_on(results, t) * e < high]
        if cases:
            found[size] = cases
    return found


def percent(value: float) -> str:
    """Of the way; how far behind the majority does not matter any more from some point on.

    >>> percent(0.666), percent(-0.001), percent(-3.2)
    ('67%', '0%', '< -100%')
    """
    return "< -100%" if value < -1 else f"{round(value, 2) + 0.0:.0%}"  # no -0


def as_number(text: str) -> float:
    """What ``percent`` or ``number`` has written, to compare what is shown.

    >>> as_number("67%"), as_number(".5"), as_number("< -100%")
    (67.0, 0.5, -100.0)
    """
    return float(text.strip("<% "))


def by_halves(results: Results, tables: list[Table]) -> str:
    """What other defaults would gain, on both halves."""
    rows = []
    for new, old in CHOICES:
        for epsilon in results.epsilons:
            cells = []
            for h in "AB":
                found = [results.difference(t.name, new, old, epsilon, "accuracy") for t in tables if half(t) == h]
                means = np.array([d.mean for d in found if d is not None])
                wins = tally([d.verdict for d in found if d is not None])
                error = means.std(ddof=1) / len(means) ** 0.5 if len(means) > 1 else None
                cells += ["" if error is None else f"{number(means.mean().item())} (± {number(error.item())})", wins]
            rows.append([f"{SHORT[new]} instead of {SHORT[old]}, epsilon {epsilon:g}", *cells])
    return (
        "What one model gains in accuracy over another, on the tables that both were run on: the mean over tables with its "
        "standard error, and on how many it is ahead / level / behind. A default is changed only if half A asks for it, and half "
        "B, which is not looked at while choosing, agrees.\n\n"
        + grid(["", "half A", "tables", "half B", "tables"], rows)
    )


def verdict(results: Results, table: Table, ours: str, others: list[str], epsilon: float, measure: str) -> str | None:
    """The worst of the verdicts against others; None where there is nothing to compare."""
    found = [results.difference(table.name, ours, other, epsilon, measure) for other in others]
    verdicts = {difference.verdict for difference in found if difference is not None}
    return next((v for v in ("behind", "level", "ahead") if v in verdicts), None)


def tally(verdicts: list[str | None]) -> str:
    """Ahead / level / behind.

    >>> tally(["ahead", "ahead", "level", None])
    '2 / 1 / 0'
    """
    return " / ".join(str(verdicts.count(v)) for v in ("ahead", "level", "behind"))


def behind(results: Results, tables: list[Table]) -> str:
    """A line for each table, epsilon and default of ours."""
    lines = []
    for table in tables:
        for epsilon in results.epsilons:
            for ours in DEFAULTS:
                found = {p: results.difference(table.name, ours, p, epsilon, "accuracy") for p in results.peers}
                ahead = [
                    f"{SHORT[p]} by {number(-d.mean)} (± {number(d.error)})"
                    for p, d in found.items()
                    if d and d.verdict == "behind"
                ]
                if ahead:
                    lines.append(f"- {link(table)}, epsilon {epsilon:g}, {METHODS[ours].title}: {', '.join(ahead)}\n")
    return "".join(lines) or "On none.\n"


def means(results: Results, tables: list[Table], epsilon: float, measure: str) -> str:
    """Every method on every table."""
    private = results.methods(OURS, PEERS)
    methods = [*private, *results.methods(OPEN)]
    rows = []
    for table in tables:
        cells = {m: results.mean(table.name, m, epsilon, measure) for m in methods}
        best = max((v for m, v in cells.items() if v is not None and m in private), default=None)
        shown = [
            f"**{number(v)}**" if v is not None and v == best and m in private else number(v) for m, v in cells.items()
        ]
        rows.append([link(table), f"{round(trained_on(results, table) * epsilon):,}", *shown])
    head = ["table", "records × epsilon", *(SHORT[m] for m in methods)]
    return f"## {MEASURES[measure]}, epsilon {epsilon:g}\n\n{grid(head, rows)}"


def listed(results: Results, tables: list[Table]) -> str:
    """What they are."""
    rows = []
    for table in tables:
        facts = results.facts[table.name]
        used = f"{facts['used']:,}" if facts["used"] < facts["records"] else "all"
        shares = f"{facts['smallest']:.1%} to {facts['largest']:.1%}"
        numbers = [f"{facts[name]:,}" for name in ("public", "columns", "classes")]
        words = [half(table), question(table), table.source, table.licence, table.why]
        rows.append([link(table), f"{facts['records']:,}", used, *numbers, shares, *words])
    head = [
        "table",
        "records",
        "used",
        "public part",
        "columns",
        "classes",
        "shares of classes",
        "half",
        "question",
        "source",
        "licence",
        "why",
    ]
    return grid(head, rows)


def question(table: Table) -> str:
    """With its mark."""
    return table.target if table.target.endswith("?") else f"{table.target}?"


def link(table: Table) -> str:
    """To its section of the other page."""
    return f"[{table.title}](tables-by-table.md#{table.title.lower().replace(' ', '-')})"


def by_table(results: Results, tables: list[Table]) -> str:
    """A section for each table, with everything that was measured."""
    text = (
        "# Public tables, one by one\n\nWritten by `make compare` ([what was compared, and how](tables.md)). Means over splits; "
        "seconds are processor time of one fit, MiB what a fit adds to the memory that the table takes, size how many "
        "conditions, or numbers, there are to read. The last columns: by how much the default list, tree and card are more "
        "accurate, with the standard error of the paired difference.\n"
    )
    for table in tables:
        facts = results.facts[table.name]
        splits = max(len(results.of(table.name, m, e)) for m in METHODS for e in (*results.epsilons, None))
        text += (
            f"\n## {table.title}\n\nThe question: {question(table)} {facts['records']:,} records, of which "
            f"{facts['used']:,} are split 70/30, {splits} times; {facts['columns']} columns, {facts['classes']} classes. "
            f"{table.source} ({table.licence}).\n"
        )
        for epsilon in results.epsilons:
            text += f"\nEpsilon {epsilon:g}:\n\n{measured(results, table, epsilon)}"
        text += "\nWithout privacy:\n\n" + measured(results, table, None)
    return text


def measured(results: Results, table: Table, epsilon: float | None) -> str:
    """All methods at one epsilon, or all that need none."""
    rows = []
    for name, method in METHODS.items():
        if method.epsilons is not (epsilon is not None):
            continue
        found = {m: results.mean(table.name, name, epsilon, m) for m in (*MEASURES, "size", "seconds", "bytes")}
        if found["accuracy"] is None:
            if reason := results.reason(table.name, name, epsilon):
                rows.append([f"{method.title} ({reason})", *[""] * (len(MEASURES) + 3 + len(DEFAULTS))])
            continue
        differences = []
        for ours in DEFAULTS:
            d = (
                results.difference(table.name, ours, name, epsilon, "accuracy")
                if epsilon is not None and method.group != OURS
                else None
            )
            differences.append("" if d is None else f"{number(d.mean)} (± {number(d.error)})")
        rows.append([method.title, *(number(found[m]) for m in MEASURES), f"{found['size']:,.0f}", f"{found['seconds']:.2f}",
                     f"{found['bytes'] / 2**20:,.0f}", *differences])  # fmt: skip
    head = [
        "",
        *(name.lower() for name in MEASURES.values()),
        "size",
        "seconds",
        "MiB",
        *(f"{SHORT[ours]} ahead by" for ours in DEFAULTS),
    ]
    return grid(head, rows)
