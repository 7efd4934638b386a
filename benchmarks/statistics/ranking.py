"""How often the wrong model stands first, or is called the best, where models miss tests.

Six models on 64 tests, scores 0 or 1, the true order planted; tests and models add up on the
logistic scale ("logistic") or on that of the score ("additive"). Before: order by the plain mean,
called the best by the same means on the tests that happen to be there. Now: `rank_llms`, and the
best among models with at least 90 % of the tests. The last column of each table is the order by a
logistic model (Rasch) that shrinks the difficulty of tests, as a rival.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from simulation import Figure, measure_mean, measure_share, print_figures, read_runs

from poor_bench.models.result import Result
from poor_bench.statistics.comparison import compare_llms
from poor_bench.statistics.ranking import rank_table
from poor_bench.statistics.scores import ScoreTable, fill_score_table

TESTS, MODELS = 64, 6
BEST = MODELS - 1
Mask = Callable[[np.random.Generator], np.ndarray]


def draw_chances(rng: np.random.Generator, kind: str) -> np.ndarray:
    """Draw the chance of each test and model, easiest test first, worst model first."""
    if kind == "additive":
        difficulty = np.sort(rng.uniform(0.2, 0.8, TESTS))[::-1]
        return np.linspace(-0.2, 0.2, MODELS) + difficulty[:, None]
    difficulty = np.sort(rng.normal(0.3, 1.5, TESTS))[::-1]
    return 1 / (1 + np.exp(-(np.linspace(-1.5, 1.5, MODELS) + difficulty[:, None])))


def only(model: int, half: slice) -> Mask:
    """Let one model run one half of the tests, the others all."""

    def mask(_rng: np.random.Generator) -> np.ndarray:
        kept = np.ones((TESTS, MODELS), dtype=bool)
        kept[:, model] = False
        kept[half, model] = True
        return kept

    return mask


EASY, HARD = slice(0, TESTS // 2), slice(TESTS // 2, TESTS)
DESIGNS: dict[str, Mask] = {
    "all complete": lambda _rng: np.ones((TESTS, MODELS), dtype=bool),
    "worst ran the easy half": only(0, EASY),
    "second ran the easy half": only(BEST - 1, EASY),
    "best ran the hard half": only(BEST, HARD),
    "75 % of tests at random": lambda rng: rng.random((TESTS, MODELS)) < 0.75,
}


def fill(scores: np.ndarray) -> ScoreTable:
    """Make a table of scores, NaN where one is missing."""
    known = ~np.isnan(scores).ravel()
    return fill_score_table(
        tuple(f"m{model}" for model in range(scores.shape[1])),
        tuple(f"t{test}" for test in range(len(scores))),
        np.flatnonzero(known),
        scores.ravel()[known],
    )


def call_best(scores: np.ndarray, models: list[int]) -> int | None:
    """Find the model that is significantly better than all others, if there is one."""
    results = [
        Result(llm_id=f"m{model}", test_id=f"t{test}", score=float(scores[test, model]))
        for model in models
        for test in np.flatnonzero(~np.isnan(scores[:, model]))
    ]
    ranks = compare_llms(results).ranks
    first = next((rank for rank in ranks if rank.worst == 1), None)
    return int(first.llm_id[1:]) if first and len(ranks) > 1 else None


def fit_logistic(scores: np.ndarray) -> np.ndarray:
    """Fit abilities and shrunk difficulties; mean score with the missing ones filled."""
    known, values = ~np.isnan(scores), np.nan_to_num(scores)
    ability, difficulty = np.zeros(scores.shape[1]), np.zeros(len(scores))
    for _ in range(25):
        for axis in (1, 0):
            chance = 1 / (1 + np.exp(-(ability + difficulty[:, None])))
            slope = np.where(known, values - chance, 0.0).sum(axis=axis)
            weight = np.where(known, chance * (1 - chance), 0.0).sum(axis=axis)
            if axis:
                difficulty += np.clip((slope - 0.25 * difficulty) / (weight + 0.25), -1, 1)
            else:
                ability += np.clip((slope - 0.05 * ability) / (weight + 0.05), -1, 1)
    chance = 1 / (1 + np.exp(-(ability + difficulty[:, None])))
    return np.asarray(np.where(known, values, chance).mean(axis=0))


def measure_first(kind: str, design: str, runs: int) -> dict[str, Figure]:
    """Measure how often each order puts a wrong model first."""
    rng = np.random.default_rng(15)
    wrong = {"plain mean": 0, "now": 0, "common tests": 0, "logistic": 0}
    for _ in range(runs):
        chances = draw_chances(rng, kind)
        scores = (rng.random(chances.shape) < chances).astype(float)
        scores[~DESIGNS[design](rng)] = np.nan
        common = scores[~np.isnan(scores).any(axis=1)]
        wrong["plain mean"] += int(np.nanmean(scores, axis=0).argmax()) != BEST
        wrong["now"] += rank_table(fill(scores)).llm_ids[0] != f"m{BEST}"
        wrong["common tests"] += not len(common) or int(common.mean(axis=0).argmax()) != BEST
        wrong["logistic"] += int(fit_logistic(scores).argmax()) != BEST
    return {
        order: measure_share(f"{design}, {kind}: {order}", hits, runs)
        for order, hits in wrong.items()
    }


def measure_called(design: str, runs: int) -> list[Figure]:
    """Measure how often a wrong model is called the best, before and now."""
    rng = np.random.default_rng(16)
    before = now = 0
    for _ in range(runs):
        chances = draw_chances(rng, "additive")
        chances[HARD, 0], chances[EASY, 0] = 0.05, 0.99  # good at easy tests alone
        chances[EASY, 1:] *= 0.8
        scores = (rng.random(chances.shape) < chances).astype(float)
        scores[~DESIGNS[design](rng)] = np.nan
        before += call_best(scores, list(range(MODELS))) not in {None, BEST}
        coverage = rank_table(fill(scores)).coverage
        ranked = [model for model in range(MODELS) if coverage[f"m{model}"].is_comparable]
        now += call_best(scores, ranked) not in {None, BEST}
    return [
        measure_share(f"{design}: before", before, runs),
        measure_share(f"{design}: now", now, runs, at_most=0.05),
    ]


def measure_time() -> Figure:
    """Time the order of 50 models on 20,000 tests, a fifth of the scores missing."""
    rng = np.random.default_rng(1)
    scores = rng.random((20_000, 50)).round(1)
    scores[rng.random(scores.shape) < 0.2] = np.nan
    table = fill(scores)
    seconds = []
    for _ in range(3):
        start = time.process_time()
        rank_table(table)
        seconds.append(time.process_time() - start)
    return measure_mean("CPU seconds, 50 models x 20,000 tests", seconds, at_most=2.0)


def main() -> None:
    """Print all figures."""
    runs = read_runs(__doc__ or "", default=2000)
    first: list[Figure] = []
    for kind in ("logistic", "additive"):
        complete = measure_first(kind, "all complete", runs)["now"]
        for design in DESIGNS:
            found = measure_first(kind, design, runs)
            limit = complete.value + 0.1 if design != "75 % of tests at random" else None
            now = found["now"]
            found["now"] = Figure(label=now.label, value=now.value, error=now.error, at_most=limit)
            first += found.values()
    print_figures("A wrong model stands first (now: at most 10 points above complete tests)", first)
    called = [
        figure
        for design in ("all complete", "worst ran the easy half", "75 % of tests at random")
        for figure in measure_called(design, max(2, runs // 10))
    ]
    print_figures(
        "A wrong model is called the best (a model that is good at easy tests alone)", called
    )
    print_figures("Time", [measure_time()])


if __name__ == "__main__":
    main()
