"""``discreet demo``."""

import json
from typing import Any

import click

from . import common
from .show import coloured
from .terminal import open_console, say_json

# (question, minimum support of the paper's private learner: a public number, chosen without a look at the records)
QUESTIONS = {
    "COMPAS": ("will a defendant be charged again?", 300),
    "Adult": ("does a person earn more than $50,000 a year?", 2000),
    "German Credit": ("is a loan a good risk?", 100),
}
SEEDS = click.IntRange(0, 2**32 - 1)


@click.command()
@common.option_with_default("--epsilon", "-e", type=float, default=1.0, help="The epsilon of each private model.")
@common.option_with_default(
    "--max-length", "-k", type=common.SOME, default=5, help="Most rules in a list, the default included."
)
@common.option_with_default("--max-literals", type=click.IntRange(1, 3), default=1, help="Most conditions in a rule.")
@common.option_with_default("--max-depth", type=click.IntRange(0, 4), default=3, help="Depth of the trees.")
@common.option_with_default("--max-columns", type=common.SOME, default=3, help="Columns of the score cards.")
@common.option_with_default("--seed", type=SEEDS, default=0, help="Seed of the split into training and test records.")
@common.as_json_option
def demo(
    epsilon: float, max_length: int, max_literals: int, max_depth: int, max_columns: int, seed: int, as_json: bool
) -> None:
    """Learn rule lists, a tree and a score card on each of the three datasets, with and without privacy, and show them."""
    from rich.panel import Panel
    from rich.text import Text
    from sklearn.model_selection import train_test_split

    from ..datasets import load_adult, load_compas, load_german_credit
    from ..estimators.cards import DPScoreCardClassifier
    from ..estimators.greedy import DPGreedyRuleListClassifier, GreedyRuleListClassifier
    from ..estimators.optimal import DPOptimalRuleListClassifier
    from ..estimators.trees import DPOptimalTreeClassifier

    console, progress = open_console(), open_console(stderr=True)
    results, statement, at = [], "", f"epsilon {epsilon:g}"
    loaders = {"COMPAS": load_compas, "Adult": load_adult, "German Credit": load_german_credit}
    for name, (question, support) in QUESTIONS.items():
        with progress.status(f"{name}: loading and learning ..."):
            data = loaders[name](sensitive=False)
            train, test, y_train, y_test = train_test_split(data.data, data.target, train_size=0.8, random_state=seed)
            shared: dict[str, Any] = {"max_length": max_length, "max_literals": max_literals, "schema": data.schema}
            private: dict[str, Any] = {"epsilon": epsilon, "schema": data.schema}
            models = {
                f"a list drawn whole, {at}": DPOptimalRuleListClassifier(epsilon=epsilon, **shared),
                f"a tree drawn whole, {at}": DPOptimalTreeClassifier(max_depth=max_depth, **private),
                f"a score card, {at}": DPScoreCardClassifier(max_columns=max_columns, **private),
                f"the paper's sm-laplace, {at}": DPGreedyRuleListClassifier(
                    mechanism="sm-laplace", epsilon=epsilon, delta=1e-9, min_support=support, **shared
                ),
                "GreedyRL, no privacy": GreedyRuleListClassifier(**shared),
            }
            try:
                for model in models.values():
                    model.fit(train, y_train)
            except ValueError as error:
                raise click.UsageError(str(error)) from None
        body = Text(f"{len(data.data):,} records, {len(data.feature_names)} columns, sensitive ones left out.", "dim")
        for learner, model in models.items():
            scores = {"train": model.score(train, y_train), "test": model.score(test, y_test)}
            accuracy = f"accuracy {scores['train']:.3f} training, {scores['test']:.3f} test"
            heading = "\n\n", (learner, "bold underline"), f"   {accuracy}\n\n"
            body.append_text(Text.assemble(*heading, coloured(model.model_)))
            learned = json.loads(model.model_.to_json())
            result = {"dataset": name, "learner": learner, "accuracy": scores, "model": learned}
            if hasattr(model, "privacy_"):
                statement = statement or str(model.privacy_)
                body.append_text(Text(f"\n\nproved: {model.privacy_.proved}", "green"))
                result["privacy"] = json.loads(model.privacy_.to_json())
            results.append(result)
        if not as_json:
            title = Text.assemble((name, "bold"), f": {question}")
            console.print(Panel(body, title=title, title_align="left", padding=(1, 2)))
    if as_json:
        say_json(results)
    else:
        console.print(Panel(statement, title="What the first list promises", title_align="left", padding=(1, 2)))
        console.print(
            "Accuracies are measured on records that we may show; on private ones they are not covered.", style="dim"
        )
