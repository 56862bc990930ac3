"""From all fits to figures, tables, verdicts on the paper's claims, and one page to read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from . import amplitude, comparisons, figures, peers
from .claims import claims
from .page import Checklist, Facts, Picture, Section, Table, write_page
from .setups import DATASETS
from .tables import comparison, summary, with_error

SIZES = [int(n) for n in np.unique(np.geomspace(20, 1e5, 60).astype(int))]


def write_results_page(fits: Any, folder: Path, facts: Facts) -> Path:
    """Draw every figure that there are fits for, and write index.html."""
    sections = [
        Section("What the paper claims, and what we find", [Checklist(tuple(claims(fits)))]),
        Section(
            "The paper's numbers",
            [
                "Expected numbers were measured with the authors' code, in the set-up that each really comes from. A difference "
                "is in standard errors; up to four count as agreement.",
                comparison(comparisons.compared(fits)),
                "German Credit cannot be compared so: the authors' file was never published. What an independent run on the "
                "public records gives is the middle column.",
                comparisons.german_credit(fits),
                "Standard errors of the mean test accuracy (Table I, set-up A).",
                comparisons.standard_errors(fits),
            ],
        ),
        _amplitude(folder),
    ]
    for heading, experiment, draw, text in (
        (
            "Accuracy over epsilon (Figure 4)",
            "accuracy",
            figures.accuracy_over_epsilon,
            "Test accuracy with five published methods, and ours: rule by rule (mass), and optimal lists and trees. Optimal "
            "lists have one rule less, optimal trees depth 4, and both were fitted on fewer splits. Bands are two standard "
            "errors wide on either side. Set-up A.",
        ),
        (
            "Noisy counts or noisy Gini (Figures 2 and 3)",
            "noisy-counts",
            figures.noisy_counts,
            "Noise on the counts of every rule, or on its impurity? Few rules (single literals) beside many (pairs). Set-up C.",
        ),
        (
            "Hyper-parameters (Section V.D)",
            "hyper-parameters",
            figures.hyper_parameters,
            "One parameter at a time away from the published ones.",
        ),
    ):
        pictures = _pictures(fits, folder, experiment, draw)
        if pictures:
            sections.append(Section(heading, [text, *pictures]))
        if experiment == "accuracy" and (fits.experiment == "peers").any():
            sections.append(peers.section(fits))
    sections += [_vulnerability(fits, folder), *_features(fits, folder), _attacks(fits, folder)]
    lead = [
        f"{len(fits):,} fits on {fits.dataset.nunique()} datasets. The experiments of Ly et al., Smooth Sensitivity for Learning "
        "Differentially-Private yet Accurate Rule Lists, again; with our learners in the same pictures.",
        "Nothing here is private: the noise is seeded, and the published methods choose among rules mined from the records.",
    ]
    return write_page(folder, sections, "The paper, again", facts, lead)


def _amplitude(folder: Path) -> Section:
    curves = {name: (np.array(points).T[0], np.array(points).T[1]) for name, points in amplitude.scales(SIZES).items()}
    figures.save(figures.noise_amplitude(curves), folder, "amplitude")
    text = "What a choice of sm-laplace and of gl-laplace gets at the first node, at epsilon 1, K = 5 and lambda 0.05."
    return Section(
        "How much noise (Figure 1)",
        [text, Picture("amplitude", "Noise over the number of records", "Two falling and level curves")],
    )


def _pictures(fits: Any, folder: Path, experiment: str, draw: Callable[..., Any]) -> list[Picture]:
    found = []
    for dataset in DATASETS:
        if ((fits.experiment == experiment) & (fits.dataset == dataset)).any():
            name = f"{experiment}-{dataset}".lower().replace(" ", "-")
            figures.save(draw(fits, dataset), folder, name)
            found.append(Picture(name, dataset, f"{experiment} on {dataset}, as described above"))
    return found


def _vulnerability(fits: Any, folder: Path) -> Section:
    figures.save(figures.vulnerability(fits), folder, "vulnerability")
    text = (
        "V is the chance that the best guess from a record's rule and label is right about whether it was learned from, for a "
        "member or another record with even chances. The paper's formula has probabilities of a rule given the label; its "
        "numbers were made with those of rule and label. Set-up B, epsilon 10."
    )
    picture = Picture(
        "vulnerability", "Vulnerability by both readings", "A dot with its error for each method and dataset"
    )
    return Section("Accuracy and vulnerability (Table III)", [text, picture])


def _features(fits: Any, folder: Path) -> list[Section]:
    if not (fits.experiment == "importance").any():
        return []
    figures.save(figures.feature_overlap(fits), folder, "importance")
    text = (
        "Do private lists rest on the features that GreedyRL's rests on? It uses about four, so any list of five or seven fills "
        "up with features that do not matter; the right side leaves those out. Adult, set-up C."
    )
    picture = Picture(
        "importance", "Features in common with GreedyRL", "A dot with its error for each method and epsilon"
    )
    return [Section("Important features (Table IV)", [text, picture])]


def _attacks(fits: Any, folder: Path) -> Section:
    heading = "Membership attacks"
    attacks = fits[fits.experiment == "membership"]
    if attacks.empty:
        return Section(
            heading, ["Left out: they need the Adversarial Robustness Toolbox, pip install -e '.[experiments]'."]
        )
    measures = {
        "black_box_accuracy": "black box is right",
        "black_box_auc": "area under its curve",
        "label_only_accuracy": "label only is right",
    }
    means = {column: summary(attacks, ["dataset", "method"], column) for column in measures}
    first = means["black_box_auc"]
    rows = tuple(
        (f"{row.dataset}, {row.method}", *(with_error(m["mean"][i], m["standard_error"][i]) for m in means.values()))
        for i, row in enumerate(first.itertuples())
    )
    text = (
        "Half of the members and as many others teach a random forest, from the list's answer and the true label, who is a "
        "member; the other half measure it. The label-only attack calls a member who is predicted correctly. Guessing is right "
        "half of the time. Set-up C, epsilon 10. That these attacks fail proves nothing; the audit does."
    )
    return Section(
        heading, [text, Table(("", *measures.values()), rows), *_pictures(fits, folder, "membership", figures.roc)]
    )
