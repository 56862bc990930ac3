"""``discreet show``, and how a rule list looks in a terminal."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.text import Text

    from ..rules import RuleList

LABEL_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")


def coloured(rule_list: "RuleList") -> "Text":
    """A rule list in colour, a line a rule, with the share of its label among the (noisily) counted records it captured."""
    from rich.text import Text

    lines: list[Text] = []
    for i, rule in enumerate(rule_list):
        last = i == len(rule_list) - 1
        opening = ("always " if last and i == 0 else "else " if last else "if " if i == 0 else "else if ", "bold")
        condition: list[Any] = [] if last else [" and ".join(map(str, rule.antecedent)), (" then ", "bold")]
        where = rule_list.classes.index(rule.label)
        label = (str(rule.label), f"bold {LABEL_COLOURS[where % len(LABEL_COLOURS)]}")
        line = Text.assemble(opening, *condition, label)
        counts = [max(0.0, c) for c in rule.counts or ()]
        if (total := sum(counts)) > 0:
            line.append(f"   {counts[where] / total:.0%} of {total:,.0f}", "dim")
        lines.append(line)
    return Text("\n").join(lines)
