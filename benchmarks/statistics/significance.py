"""Sign flips with mid p-values: errors, power, groups, many pairs, planned numbers, time.

Equal models have differences that might as well have the other sign. The errors are printed for
mid p-values and for those that count patterns as far in full, over several kinds of differences.
Drawn patterns (9,999, as before) are compared with computed ones on planted pairs of many models.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from simulation import Figure, measure_mean, measure_share, print_figures, read_runs

from poor_bench.statistics.significance import (
    compute_sign_flip_p_values,
    count_needed_tests,
    count_needed_trials,
    holm,
    holm_factors,
    plan_evidence,
)

ALPHA = 0.05
Draw = Callable[[np.random.Generator, int, int], np.ndarray]


def draw_sparse(better: float, worse: float) -> Draw:
    """Draw differences of 1, -1 or 0."""
    chances = [better, 1 - better - worse, worse]

    def draw(rng: np.random.Generator, n: int, runs: int) -> np.ndarray:
        return rng.choice([1.0, 0.0, -1.0], (n, runs), p=chances)

    return draw


def draw_thirds(rng: np.random.Generator, n: int, runs: int) -> np.ndarray:
    """Draw differences of means of three trials, tests of all difficulties."""
    chances = rng.beta(0.5, 0.5, (n, runs))
    return (rng.binomial(3, chances) - rng.binomial(3, chances)) / 3


def draw_skewed(rng: np.random.Generator, n: int, runs: int) -> np.ndarray:
    """Draw sizes that are mostly small."""
    return np.asarray(rng.exponential(0.1, (n, runs)) * rng.choice([-1.0, 1.0], (n, runs)))


EQUAL: dict[str, Draw] = {
    "0 or 1, 14 % differ": draw_sparse(0.07, 0.07),
    "0 or 1, 48 % differ": draw_sparse(0.24, 0.24),
    "means of 3 trials": draw_thirds,
    "quarters": lambda rng, n, runs: (
        (rng.integers(0, 5, (n, runs)) - rng.integers(0, 5, (n, runs))) / 4
    ),
    "any number": lambda rng, n, runs: rng.random((n, runs)) - rng.random((n, runs)),
    "any number, skewed": draw_skewed,
}


def measure_errors(runs: int) -> list[Figure]:
    """Measure how often equal models are called different at 5 %."""
    rng, figures = np.random.default_rng(1), []
    for label, draw in EQUAL.items():
        for n in (6, 10, 20, 60):
            differences = draw(rng, n, runs)
            for kind, mid in (("mid", True), ("full", False)):
                hits = int((compute_sign_flip_p_values(differences, mid=mid) < ALPHA).sum())
                limit = 0.055 if mid else None
                figures.append(
                    measure_share(f"{label}, {n} tests, {kind}", hits, runs, at_most=limit)
                )
    return figures


def measure_power(runs: int) -> list[Figure]:
    """Measure power and error of the case that the issue names."""
    rng, figures = np.random.default_rng(2), []
    for label, draw, goals in (
        ("12 % better, 2 % worse, 60 tests: found", draw_sparse(0.12, 0.02), {"at_least": 0.54}),
        ("7 % better, 7 % worse, 60 tests: called", draw_sparse(0.07, 0.07), {"at_most": 0.044}),
    ):
        differences = draw(rng, 60, runs)
        for kind, mid in (("mid", True), ("full, as before", False)):
            hits = int((compute_sign_flip_p_values(differences, mid=mid) < ALPHA).sum())
            limits = goals if mid else {}
            figures.append(measure_share(f"{label}, {kind}", hits, runs, **limits))
    return figures


def measure_groups(runs: int) -> list[Figure]:
    """Measure errors where ten groups of six tests share a part of their difference."""
    rng, figures = np.random.default_rng(3), []
    groups = [f"g{test // 6}" for test in range(60)]
    shared = np.repeat(rng.normal(0, 0.2, (10, runs)), 6, axis=0)
    graded = np.clip(shared + rng.normal(0, 0.3, (60, runs)), -1, 1)
    for label, differences in (
        ("graded", graded),
        ("0 or 1", np.sign(np.round(graded * 1.4))),
    ):
        alone = int((compute_sign_flip_p_values(differences) < ALPHA).sum())
        together = int((compute_sign_flip_p_values(differences, groups=groups) < ALPHA).sum())
        figures.append(measure_share(f"{label}, groups ignored", alone, runs))
        figures.append(measure_share(f"{label}, signs by group", together, runs, at_most=0.06))
    return figures


def draw_patterns(columns: np.ndarray, n_flips: int, seed: int) -> np.ndarray:
    """Compute p-values from drawn sign patterns, as before."""
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (n_flips, len(columns)))
    seen = np.abs(columns.sum(axis=0)) - 1e-9
    as_far = (np.abs(signs @ columns) >= seen).sum(axis=0)
    return (as_far + 1) / (n_flips + 1)


def draw_models(rng: np.random.Generator, n_models: int, n_tests: int) -> np.ndarray:
    """Draw the differences of all pairs of models, scores of 0 or 1; better models first."""
    ability = np.linspace(1.2, -1.2, n_models)
    chances = 1 / (1 + np.exp(-(ability + rng.normal(0, 1, (n_tests, 1)))))
    scores = (rng.random(chances.shape) < chances).astype(float)
    a, b = np.triu_indices(n_models, 1)
    return scores[:, a] - scores[:, b]


def measure_many_pairs(runs: int) -> list[Figure]:
    """Measure which share of the pairs that computed p-values establish, drawn ones lose."""
    rng, figures = np.random.default_rng(4), []
    for n_models, n_runs in ((18, max(2, runs // 200)), (50, max(2, runs // 1000))):
        found: dict[str, list[float]] = {"drawn, as before": [], "computed in full": [], "mid": []}
        wrong = 0
        for run in range(n_runs):
            pairs = draw_models(rng, n_models, 150)
            p_values = {
                "drawn, as before": draw_patterns(pairs, 9999, run),
                "computed in full": compute_sign_flip_p_values(pairs, mid=False),
                "mid": compute_sign_flip_p_values(pairs),
            }
            for kind, of_kind in p_values.items():
                real = np.array(holm(of_kind.tolist())) < ALPHA
                found[kind].append(100 * real.mean())
            real = np.array(holm(p_values["mid"].tolist())) < ALPHA
            wrong += bool((real & (pairs.mean(axis=0) < 0)).any())
        for kind, shares in found.items():
            label = f"{n_models} models, 150 tests: % of pairs established, {kind}"
            figures.append(measure_mean(label, shares))
        label = f"{n_models} models: any pair established the wrong way round, mid"
        figures.append(measure_share(label, wrong, n_runs, at_most=ALPHA))
    return figures


def measure_family(runs: int) -> Figure:
    """Measure how often any of 153 pairs of equal models is called different."""
    rng, hits = np.random.default_rng(5), 0
    n_runs = max(2, runs // 20)
    a, b = np.triu_indices(18, 1)
    for _ in range(n_runs):
        chances = rng.beta(1, 1, (60, 1))
        scores = (rng.random((60, 18)) < chances).astype(float)
        hits += min(holm(compute_sign_flip_p_values(scores[:, a] - scores[:, b]).tolist())) < ALPHA
    return measure_share("18 equal models: any pair called different", hits, n_runs, at_most=ALPHA)


def measure_plan(runs: int) -> list[Figure]:
    """Measure the power at the recommended number of tests, corrected and not."""
    rng, figures = np.random.default_rng(6), []
    n_runs = max(2, runs // 10)
    for n_models, label in ((2, "1 pair"), (6, "15 pairs"), (18, "153 pairs")):
        n_pairs = n_models * (n_models - 1) // 2
        for kind, draw in (
            ("0 or 1, +.12/-.04", draw_sparse(0.12, 0.04)),
            ("0 or 1, +.30/-.20", draw_sparse(0.30, 0.20)),
        ):
            truth = draw(rng, 200_000, 1)[:, 0]
            blank = np.zeros((len(truth), 2))
            for factor in dict.fromkeys((1, n_pairs)):
                planned = plan_evidence(truth, blank + 1, blank, factor=factor).tests or 2
                differences = draw(rng, planned, n_runs)
                found = int((compute_sign_flip_p_values(differences) < ALPHA / n_pairs).sum())
                corrected = factor == n_pairs
                name = "corrected" if corrected else "as before"
                figures.append(
                    measure_share(
                        f"{label}, {kind}, {planned} tests, {name}",
                        found,
                        n_runs,
                        at_least=0.75 if corrected else None,
                        at_most=0.85 if corrected else None,
                    )
                )
    return figures


def measure_holm_plan(runs: int) -> list[Figure]:
    """Measure the power of Holm's procedure for a pair that is not established yet.

    The plan uses the true difference, and the factor of the pair among the pairs seen.
    """
    rng, figures, n_runs = np.random.default_rng(7), [], max(2, runs // 25)
    for n_models, n_seen in ((4, 100), (8, 60), (8, 200)):
        truth = draw_models(rng, n_models, 50_000)
        hits = n_open = 0
        for _ in range(n_runs):
            p_values = compute_sign_flip_p_values(draw_models(rng, n_models, n_seen)).tolist()
            is_open = np.flatnonzero(np.array(holm(p_values)) >= ALPHA)
            if not len(is_open):
                continue
            pair, n_open = int(rng.choice(is_open)), n_open + 1
            alpha = ALPHA / holm_factors(p_values)[pair]
            mean, deviation = float(truth[:, pair].mean()), float(truth[:, pair].std())
            planned = count_needed_tests(mean, deviation, alpha=alpha) or 2
            repeated = compute_sign_flip_p_values(draw_models(rng, n_models, planned)).tolist()
            hits += holm(repeated)[pair] < ALPHA
        label = f"{n_models} models, pairs not established on {n_seen} tests, Holm"
        figures.append(measure_share(label, hits, n_open, at_least=0.75, at_most=0.85))
    return figures


def measure_trials_plan(runs: int) -> list[Figure]:
    """Measure the power at the recommended number of trials of 60 tests, all pairs corrected."""
    rng, figures, n_runs = np.random.default_rng(9), [], max(2, runs // 10)

    def draw(n_trials: int) -> np.ndarray:
        centre, gain = rng.uniform(0.3, 0.7, (60, n_runs)), rng.normal(0.08, 0.1, (60, n_runs))
        sides = [np.clip(centre + sign * gain / 2, 0, 1) for sign in (1, -1)]
        a, b = (rng.binomial(n_trials, side) / n_trials for side in sides)
        return np.asarray(a - b)

    between, once = 0.01, float(draw(1).var())
    for n_pairs in (1, 15):
        planned = count_needed_trials(
            0.08,
            60,
            between_variance=between,
            trial_variance=once - between,
            alpha=ALPHA / n_pairs,
        )
        found = int((compute_sign_flip_p_values(draw(planned or 1)) < ALPHA / n_pairs).sum())
        label = f"{n_pairs} pairs, +.08 on 60 tests, {planned} trials"
        figures.append(measure_share(label, found, n_runs, at_least=0.75, at_most=0.85))
    return figures


def measure_times() -> list[Figure]:
    """Time all 1,225 pairs of 50 models on 20,000 tests."""
    rng, figures = np.random.default_rng(8), []
    a, b = np.triu_indices(50, 1)
    for label, scores in (
        ("0 or 1", (rng.random((20_000, 50)) < 0.6).astype(float)),
        ("tenths", rng.random((20_000, 50)).round(1)),
        ("any number", rng.random((20_000, 50))),
    ):
        differences = scores[:, a] - scores[:, b]
        seconds = []
        for _ in range(2):
            start = time.process_time()
            compute_sign_flip_p_values(differences)
            seconds.append(time.process_time() - start)
        figures.append(measure_mean(f"CPU seconds, {label}", seconds, at_most=2.0))
    return figures


def main() -> None:
    """Print all figures."""
    runs = read_runs(__doc__ or "", default=10_000)
    print_figures("Equal models called different at 5 %", measure_errors(runs))
    print_figures("Mid p-values", measure_power(runs))
    print_figures("10 groups of 6 tests, equal models called different", measure_groups(runs))
    many = measure_many_pairs(runs)
    print_figures("Many pairs, corrected (Holm)", [*many, measure_family(runs)])
    plans = [*measure_plan(runs), *measure_holm_plan(runs), *measure_trials_plan(runs)]
    print_figures("Power at the recommended number of tests or trials (aim: 80 %)", plans)
    print_figures("1,225 pairs x 20,000 tests", measure_times())


if __name__ == "__main__":
    main()
