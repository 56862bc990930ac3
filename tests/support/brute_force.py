"""Everything over again, record by record and value by value, as plainly as it can be said. The reference for tests."""

import datetime
import math

from discreet import Boolean, Categorical, Date, Numeric


def text(value):
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def is_missing(column, value):
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    if isinstance(column, Date):
        return day(value) is None
    if isinstance(column, Numeric):
        beyond = (column.low is not None and value < column.low) or (column.high is not None and value > column.high)
        return beyond and column.outside == "missing"
    if isinstance(column, Boolean):
        return text(value).lower() not in ("0", "1", "true", "false", "yes", "no")
    return category_names(column, value) is None


def day(value):
    """The day of a date, of a time (in UTC if it has a zone) or of a text as Python writes them; None if it is none."""
    if isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, datetime.datetime):
        return (value if value.tzinfo is None else value.astimezone(datetime.UTC)).date()
    return value if isinstance(value, datetime.date) else None


def category_names(column: Categorical, value):
    """The names that `=` is true of, or None if the value counts as missing."""
    listed = {text(c) for c in column.categories} | {text(c) for _, cs in column.groups for c in cs}
    if text(value) not in listed:
        return {"other": {"other"}, "missing": None}.get(column.outside, set())
    if not column.groups:
        return {text(value)}
    names = {group for group, cs in column.groups if text(value) in map(text, cs)}
    return names or ({"other"} if column.ungrouped == "other" else set())


def holds(column, literal, value):
    """Whether a literal is true of one raw value."""
    op, wanted = literal.op, literal.value
    if op in ("is missing", "is not missing"):
        return is_missing(column, value) == (op == "is missing")
    if is_missing(column, value):
        return False
    if isinstance(column, Boolean):
        return (text(value).lower() in ("1", "true", "yes")) == (op == "is true")
    if isinstance(column, Categorical):
        return (text(wanted) in category_names(column, value)) == (op == "=")
    if isinstance(column, Date):
        value = day(value)
    elif column.low is not None:
        value = max(value, column.low)
    if getattr(column, "high", None) is not None:
        value = min(value, column.high)
    if op in ("in", "not in"):
        return (wanted[0] <= value <= wanted[1]) == (op == "in")
    return {"<=": value <= wanted, "<": value < wanted, ">=": value >= wanted, ">": value > wanted}[op]


def rule_holds(schema, rule, data, i):
    return all(holds(schema[x.column], x, data[x.column][i]) for x in rule.antecedent)


def captured_by(schema, rules, data, n):
    """The number of the first rule that is true of each record; len(rules) if none is."""
    return [next((k for k, r in enumerate(rules) if rule_holds(schema, r, data, i)), len(rules)) for i in range(n)]


def greedy(masks, y, n_rules):
    """GreedyRL on candidates given as Boolean arrays over records: the chosen numbers.

    Lowest Gini; among equals (within 1e-9 n on the mass) the smaller captured side, then the earlier rule.
    """

    def mass(labels):
        n = len(labels)
        return (n - sum((labels == c).sum() ** 2 for c in set(y)) / n) / 2 if n else 0.0

    import numpy as np

    chosen, free, tolerance = [], np.ones(len(y), bool), 1e-9 * len(y)
    while len(chosen) < n_rules:
        keys = []
        for k, mask in enumerate(masks):
            inside = mask & free
            if inside.any():
                keys.append((mass(y[inside]) + mass(y[free & ~mask]), int(inside.sum()), k))
        best = min((key[0] for key in keys), default=np.inf)
        if best >= mass(y[free]) - 2 * tolerance:
            break
        rule = min((size, k) for m, size, k in keys if m <= best + tolerance)[1]
        chosen.append(rule)
        free &= ~masks[rule]
    return chosen
