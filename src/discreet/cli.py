"""The command line. Heavy imports happen inside the commands, so that ``--help`` answers at once."""

from typing import TYPE_CHECKING, Any

import click

from . import __version__

if TYPE_CHECKING:
    from rich.text import Text

    from .rules import RuleList


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", message="discreet %(version)s")
def main() -> None:
    """Learn rule lists that people can read."""


@main.command()
@click.option(
    "--max-length", "-k", type=click.IntRange(min=1), default=5, show_default=True, help="Rules, with the default."
)
@click.option("--max-card", type=click.IntRange(1, 3), default=1, show_default=True, help="Literals in a rule.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Of the split into training and test records.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as JSON.")
def demo(max_length: int, max_card: int, seed: int, as_json: bool) -> None:
    """Learn a rule list on each of the three datasets, and show it."""
    import json
    import time

    from rich.console import Console
    from rich.panel import Panel
    from rich.text import Text
    from sklearn.model_selection import train_test_split

    from .datasets import load_adult, load_compas, load_german_credit
    from .estimators import GreedyRuleListClassifier

    console, progress = Console(), Console(stderr=True)
    results = []
    questions = {
        "COMPAS": (load_compas, "will a defendant be charged again?"),
        "Adult": (load_adult, "does a person earn more than $50,000 a year?"),
        "German Credit": (load_german_credit, "is a loan a good risk?"),
    }
    for name, (load, question) in questions.items():
        with progress.status(f"{name}: loading and learning ..."):
            data = load(sensitive=False)
            train, test, y_train, y_test = train_test_split(data.data, data.target, train_size=0.8, random_state=seed)
            start = time.perf_counter()
            model = GreedyRuleListClassifier(max_length=max_length, max_card=max_card, schema=data.schema)
            model.fit(train, y_train)
            seconds = time.perf_counter() - start
            scores = {"train": model.score(train, y_train), "test": model.score(test, y_test)}
        results.append({"dataset": name, "accuracy": scores, "model": json.loads(model.rule_list_.to_json())})
        if not as_json:
            facts = (
                f"{len(data.data):,} records, {len(data.feature_names)} columns, sensitive ones left out. "
                f"Learned in {seconds * 1000:.0f} ms. Accuracy: {scores['train']:.3f} training, {scores['test']:.3f} test."
            )
            body = Text.assemble(_coloured(model.rule_list_), "\n\n", (facts, "dim"))
            console.print(Panel(body, title=f"[bold]{name}[/bold]: {question}", title_align="left", padding=(1, 2)))
    if as_json:
        click.echo(json.dumps(results, indent=1))
    else:
        console.print("These lists are learned without privacy: the paper's baseline GreedyRL.", style="dim")


LABEL_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")


def _coloured(rule_list: "RuleList") -> "Text":
    """A rule list in colour, a line a rule, with the share of its label among the records that it captured in training."""
    from rich.text import Text

    lines: list[Text] = []
    for i, rule in enumerate(rule_list):
        last = i == len(rule_list) - 1
        opening = ("always " if last and i == 0 else "else " if last else "if " if i == 0 else "else if ", "bold")
        condition: list[Any] = [] if last else [" and ".join(map(str, rule.antecedent)), (" then ", "bold")]
        where = rule_list.classes.index(rule.label)
        label = (str(rule.label), f"bold {LABEL_COLOURS[where % len(LABEL_COLOURS)]}")
        line = Text.assemble(opening, *condition, label)
        counts = rule.counts or (0.0,)
        if (total := sum(counts)) > 0:
            line.append(f"   {counts[where] / total:.0%} of {total:,.0f}", "dim")
        lines.append(line)
    return Text("\n").join(lines)
