"""Short forms: how often the interval of the predicted full score covers, and its width.

Simulated models pass tests by item response theory (2PL), with an ability that differs by class;
the predicted model is a new one of the same kind. With the folder of a workspace, each of its
models with scores for at least 90 % of the tests is predicted by all the others, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from simulation import Figure, measure_mean, measure_share, print_figures, read_runs_and_workspace

from poor_bench.models.test import Test
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.means import mean_score
from poor_bench.statistics.scores import ScoreTable, build_score_table
from poor_bench.statistics.short_form import FullScores, predict_full_score, select_short_form
from poor_bench.workspace_folder import WorkspaceFolder

Scores = NDArray[np.float64]
_SEEDS = 4


class Prediction(NamedTuple):
    """A predicted score of a model."""

    short: Estimate
    """By the short form."""
    random: Estimate
    """By the mean over as many tests, chosen at random."""
    truth: float
    promised: float
    """Half width that `select_short_form` had promised."""


def make_table(scores: Scores) -> ScoreTable:
    """Name the rows and columns of a table of scores."""
    n_tests, n_models = scores.shape
    return ScoreTable(
        llm_ids=tuple(f"m{model}" for model in range(n_models)),
        test_ids=tuple(f"t{test}" for test in range(n_tests)),
        scores=scores,
        n_trials=np.ones(scores.shape, dtype=np.int64),
        squares=np.zeros(scores.shape),
    )


def make_tests(n_tests: int, *, group_size: int) -> dict[str, Test]:
    """Make tests of five classes and two levels."""
    return {
        f"t{n}": Test(
            test_id=f"t{n}",
            class_id=f"c{n * 5 // n_tests}",
            level=1 + n // group_size % 2,
            text="x",
            group=f"g{n // group_size}" if group_size > 1 else None,
        )
        for n in range(n_tests)
    }


def draw_scores(
    rng: np.random.Generator, n_tests: int, shift: Scores, *, group_size: int, partial: bool
) -> Scores:
    """Draw scores; a model's ability differs by class and, where tests are in groups, by group.

    Args:
        rng: Source of chance.
        n_tests: Number of tests.
        shift: Added to the ability of each model, in logits.
        group_size: Tests of a group.
        partial: True for scores between 0 and 1.
    """
    n_models = len(shift)
    classes = np.arange(n_tests) * 5 // n_tests
    ability = shift + rng.normal(0.8, 1.2, n_models) + rng.normal(0, 0.6, (5, n_models))[classes]
    if group_size > 1:
        ability = (
            ability + rng.normal(0, 0.8, (n_tests, n_models))[np.arange(n_tests) // group_size]
        )
    slope = rng.lognormal(0, 0.4, (n_tests, 1))
    chance = 1 / (1 + np.exp(-slope * (ability - rng.normal(0, 1.2, (n_tests, 1)))))
    if partial:
        return np.asarray(rng.beta(4 * chance + 0.05, 4 * (1 - chance) + 0.05).round(1))
    return (rng.random(chance.shape) < chance).astype(np.float64)


def predict_last(
    table: ScoreTable, tests: Mapping[str, Test], share: float, seed: int
) -> Prediction:
    """Predict the last model by the others."""
    own = table.scores[:, -1]
    full = FullScores(
        replace(table, llm_ids=table.llm_ids[:-1], scores=table.scores[:, :-1]), tests
    )
    short = select_short_form(full, share, seed=seed)
    rows = {test_id: row for row, test_id in enumerate(table.test_ids)}
    known = {key: own[rows[key]] for key in short.test_ids if not np.isnan(own[rows[key]])}
    found = predict_full_score(full, known, seed=seed)
    assert found is not None
    rng = np.random.default_rng(seed)
    scored = own[~np.isnan(own)]
    drawn = rng.permutation(scored)[: len(short.test_ids)]
    plain = mean_score(drawn.tolist())
    factor = (1 - len(drawn) / len(scored)) ** 0.5
    alone = replace(
        plain,
        low=plain.value - factor * (plain.value - plain.low),
        high=plain.value + factor * (plain.high - plain.value),
    )
    return Prediction(found, alone, float(scored.mean()), short.margin or 0.0)


def describe(
    label: str, found: Sequence[Prediction], at_least: float | None = 0.93
) -> Iterator[Figure]:
    """Yield coverage, error and width of predictions, and of random choices of as many tests."""
    truths = [row.truth for row in found]
    for name, guesses, goal in (
        ("short form", [row.short for row in found], at_least),
        ("random choice", [row.random for row in found], None),
    ):
        pairs = list(zip(guesses, truths, strict=True))
        hits = sum(guess.low <= truth <= guess.high for guess, truth in pairs)
        yield measure_share(f"{label}: {name}, coverage", hits, len(found), at_least=goal)
        squares = measure_mean("", [(guess.value - truth) ** 2 for guess, truth in pairs])
        root = squares.value**0.5
        yield replace(
            squares,
            label=f"{label}: {name}, root mean square error",
            value=root,
            error=squares.error / max(2 * root, 1e-9),
            percent=True,
        )
        margins = [guess.margin for guess in guesses]
        yield replace(measure_mean(f"{label}: {name}, half width", margins), percent=True)
    promised = measure_mean(f"{label}: half width promised", [row.promised for row in found])
    yield replace(promised, percent=True)


WORLDS = (
    ("60 tests, 18 models", 60, 18, 1, False),
    ("60 tests, 9 models", 60, 9, 1, False),
    ("120 tests, 18 models", 120, 18, 1, False),
    ("120 tests in groups of 3, 12 models", 120, 12, 3, False),
    ("60 tests, 12 models, partial scores", 60, 12, 1, True),
    ("60 tests, 5 models", 60, 5, 1, False),
    ("60 tests, 3 models: nothing learnt", 60, 3, 1, False),
)


def simulate(runs: int, weaker_by: float, at_least: float | None) -> Iterator[Figure]:
    """Yield the figures of simulated models; the last one is weaker by so many logits."""
    for label, n_tests, n_models, group_size, partial in WORLDS:
        rng = np.random.default_rng(1)
        tests = make_tests(n_tests, group_size=group_size)
        found = []
        for seed in range(runs):
            shift = np.zeros(n_models + 1)
            shift[-1] = -weaker_by
            scores = draw_scores(rng, n_tests, shift, group_size=group_size, partial=partial)
            found.append(predict_last(make_table(scores), tests, 0.25, seed))
        yield from describe(label, found, at_least)


def leave_one_out(folder: Path, n_seeds: int) -> Iterator[Figure]:
    """Yield the figures of the models of a workspace, over several random starts."""
    workspace = WorkspaceFolder(folder)
    tests = workspace.workspace.tests_by_id
    table = build_score_table(r for r in workspace.store.results() if r.test_id in tests)
    full = FullScores(table, tests)
    order = [table.llm_ids.index(full.llm_ids[place]) for place in full.scores.mean(0).argsort()]
    half = len(order) // 2
    for label, known, predicted, goal in (
        ("each by all others", order, order, 0.93),
        ("weaker half by the stronger", order[half:], order[:half], None),
        ("stronger half by the weaker", order[:half], order[half:], None),
    ):
        for share in (0.15, 0.25, 0.4):
            found = []
            for column in predicted:
                columns = [*(each for each in known if each != column), column]
                chosen = replace(
                    table,
                    llm_ids=tuple(table.llm_ids[each] for each in columns),
                    scores=table.scores[:, columns],
                )
                found += [predict_last(chosen, tests, share, seed) for seed in range(n_seeds)]
            yield from describe(f"{label}, {share:.0%} of {len(tests)} tests", found, goal)


def main() -> None:
    """Print all figures."""
    runs, folder = read_runs_and_workspace(__doc__ or "", default=200)
    print_figures("Simulated models, 25 % of the tests", list(simulate(runs, 0.0, 0.93)))
    print_figures("A model weaker by 2.5 logits", list(simulate(max(2, runs // 2), 2.5, None)))
    if folder is not None:
        title = f"{folder.name}, {_SEEDS} random starts; errors as if these were independent"
        print_figures(title, list(leave_one_out(folder, _SEEDS)))


if __name__ == "__main__":
    main()
