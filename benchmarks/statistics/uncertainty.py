"""Shares of tests, trials and judge in an interval, and the regret of the purchase they advise.

Scores are sums of normal effects, or 0 and 1 with a chance that differs by test. The regret is how
much wider the interval is after the advised purchase than after the best one, which knows the true
variances and is found by brute force over all numbers of tests, trials and judgements.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from simulation import Figure, measure_mean, measure_share, print_figures, read_runs

from poor_bench.statistics.intervals import t_quantile_95
from poor_bench.statistics.purchase import (
    Price,
    PurchaseBudget,
    Unit,
    compute_variance,
    plan_purchase,
)
from poor_bench.statistics.variance_components import (
    Components,
    ModelComponents,
    Observations,
    estimate_components,
)


@dataclass(frozen=True, slots=True)
class World:
    """True variances, and how much was run."""

    name: str
    test: float
    trial: float
    judge: float
    n_tests: int
    trials: Sequence[int]
    """Taken by the tests in turn."""
    judgements: int = 0
    group: float = 0.0
    size: int = 1
    """Tests per group."""
    binary: float = 0.0
    """Parameter of the beta distribution of chances; 0.0 for normal effects."""


WORLDS = (
    World("mostly tests", 0.10, 0.03, 0.0, 60, (2,)),
    World("mostly trials", 0.02, 0.15, 0.0, 60, (2,)),
    World("few tests", 0.08, 0.05, 0.0, 20, (3,)),
    World("uneven trials", 0.05, 0.10, 0.0, 60, (1, 2, 5)),
    World("passed or not, chances spread", 0.0, 0.0, 0.0, 60, (3,), binary=0.5),
    World("passed or not, chances alike", 0.0, 0.0, 0.0, 60, (3,), binary=2.0),
    World("groups of 4", 0.03, 0.05, 0.0, 60, (2,), group=0.06, size=4),
    World("noisy judge", 0.04, 0.02, 0.10, 60, (2,), judgements=2),
    World("judge, uneven trials", 0.04, 0.05, 0.03, 40, (1, 2, 4), judgements=3),
)
LEVERS = (("free tests", 0.0), ("tests cost 5 calls", 5.0), ("tests cost 40 calls", 40.0))


def settle(world: World) -> World:
    """Give a world of passed and failed trials its variances."""
    if not world.binary:
        return world
    chance = 1 / (2 * world.binary + 1)  # correlation of two trials of a test
    return replace(world, test=0.25 * chance, trial=0.25 * (1 - chance))


def true_components(world: World) -> Components:
    """Describe a world by its true variances."""
    n_trials = np.resize(np.array(world.trials, dtype=float), world.n_tests)
    left = np.full(world.n_tests, 1 / world.judgements if world.judgements else 0.0)
    groups = -(-world.n_tests // world.size)
    sizes = [world.size] * (groups - 1) + [world.n_tests - world.size * (groups - 1)]
    side = ModelComponents(trial=world.trial, judge=world.judge, n_trials=n_trials, unjudged=left)
    return Components(
        group=world.group if world.size > 1 else None,
        test=world.test,
        sides=(side,),
        n_tests=world.n_tests,
        n_groups=groups,
        concentration=float(sum(size**2 for size in sizes)),
    )


def draw(rng: np.random.Generator, world: World) -> Observations:
    """Draw the scores of a world."""
    n, most = world.n_tests, max(world.trials)
    n_trials = np.resize(np.array(world.trials), n)
    exists = np.arange(most) < n_trials[:, None]
    k = max(1, world.judgements)
    if world.binary:
        chances = rng.beta(world.binary, world.binary, n)
        trials = (rng.random((n, most)) < chances[:, None]).astype(float)
        judged = np.zeros((n, most, k))
    else:
        of_group = np.repeat(rng.normal(0, world.group**0.5, n), world.size)[:n]
        of_test = of_group + rng.normal(0, world.test**0.5, n)
        trials = of_test[:, None] + rng.normal(0, world.trial**0.5, (n, most))
        judged = rng.normal(0, world.judge**0.5, (n, most, k))
        trials = trials + judged.mean(axis=2)
    mean = np.where(exists, trials, 0).sum(axis=1) / n_trials
    spread = ((judged - judged.mean(axis=2, keepdims=True)) ** 2).sum(axis=2)
    is_judged = float(bool(world.judgements))
    return Observations(
        test_ids=tuple(map(str, range(n))),
        mean=mean,
        n_trials=n_trials.astype(float),
        squares=(np.where(exists, trials - mean[:, None], 0) ** 2).sum(axis=1),
        unjudged=np.full(n, is_judged / k),
        judge_squares=np.where(exists, spread, 0).sum(axis=1) * is_judged,
        judge_freedom=n_trials * (k - 1) * is_judged,
    )


def draw_components(rng: np.random.Generator, world: World) -> Components:
    """Estimate the components of drawn scores."""
    groups = {str(test): f"g{test // world.size}" for test in range(world.n_tests)}
    found = estimate_components(draw(rng, world), groups=groups)
    assert found is not None
    return found


def measure_estimates(world: World, runs: int) -> Iterator[Figure]:
    """Yield the bias of variances, and of shares of the interval."""
    rng = np.random.default_rng(1)
    truth = true_components(world)
    found = [draw_components(rng, world) for _ in range(runs)]
    names = ["test", "trial"] + ["judge"] * bool(world.judgements) + ["group"] * (world.size > 1)
    for name in names:
        errors = [_variance(each, name) - _variance(truth, name) for each in found]
        whole = sum(_variance(truth, other) for other in names)
        figure = measure_mean(
            f"bias of variance of {name}: {world.name}", [e / whole for e in errors]
        )
        # Four Monte-Carlo errors: an unbiased estimate passes.
        limit = max(0.002, 4 * figure.error)
        yield replace(figure, value=abs(figure.value), at_most=limit, percent=True)
    means = draw_means(world, runs * 5)
    ratio = float(means.var(ddof=1)) / truth.total_variance
    error = ratio * math.sqrt(2 / len(means))
    label = f"drawn variance of the mean beside the formula's: {world.name}"
    yield Figure(label=label, value=ratio, error=error, at_least=0.95, at_most=1.05)
    for name in ("tests", "trials"):
        own = getattr(truth, f"{name}_variance") / truth.total_variance
        shares = [getattr(each, f"{name}_variance") / each.total_variance for each in found]
        figure = measure_mean(f"bias of share of {name}: {world.name}", [s - own for s in shares])
        yield replace(figure, value=abs(figure.value), at_most=0.05, percent=True)


def draw_means(world: World, runs: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Draw mean scores of a world; their variance is what the components should add up to."""
    rng = np.random.default_rng(3)
    return np.array([draw(rng, world).mean.mean() for _ in range(runs)])


def _variance(components: Components, name: str) -> float:
    owner = components if name in {"test", "group"} else components.sides[0]
    value: float | None = getattr(owner, name)
    return value or 0.0


def find_best_width(world: World, budget: PurchaseBudget) -> float:
    """Find the least relative width after a purchase by brute force, with the true variances."""
    truth = true_components(world)
    n, k, amount = world.n_tests, world.judgements, budget.amount
    n_trials = sum(truth.sides[0].n_trials)
    best = math.inf
    for b in range(int(amount / n_trials) + 1 if k else 1):
        for a in range(int(amount / n) + 1):
            spent = a * n * (1 + k + b) + b * n_trials
            if spent > amount:
                break
            of_new = np.arange(1.0, max(world.trials) + a + 60)
            each = budget.test_cost + of_new * (1 + k + b)
            m = np.floor((amount - spent) / each)
            widths = compute_variance(truth, m, a, b, of_new) ** 0.5
            quantiles = np.array([t_quantile_95(truth.n_groups - 1 + extra) for extra in m])
            best = min(best, float((widths * quantiles).min()))
    return best


def measure_regret(world: World, runs: int) -> Iterator[Figure]:
    """Yield how much wider the interval is after the advised purchase than after the best."""
    truth = true_components(world)
    for amount in (100, 600):
        for name, test_cost in LEVERS:
            rng = np.random.default_rng(2)
            budget = PurchaseBudget(float(amount), Unit.CALLS, test_cost)
            best = find_best_width(world, budget)
            price = Price(1.0, 1.0 if world.judgements else None)
            regrets = []
            for _ in range(runs):
                found = plan_purchase(draw_components(rng, world), [price], budget)
                advice = found.best if found else None
                a, b, m, r = (
                    (advice.trials, advice.judgements, advice.tests, advice.trials_of_new)
                    if advice
                    else (0, 0, 0, 1)
                )
                width = float(compute_variance(truth, m, a, b, r)) ** 0.5
                width *= t_quantile_95(truth.n_groups - 1 + m)
                regrets.append(width / best - 1)
            label = f"{world.name}, {amount} calls, {name}"
            yield replace(measure_mean(label, regrets, at_most=0.1), percent=True)


def main() -> None:
    """Print all figures."""
    runs = read_runs(__doc__ or "", default=400)
    worlds = [settle(world) for world in WORLDS]
    estimates = [figure for world in worlds for figure in measure_estimates(world, runs * 5)]
    print_figures("Bias, of variances as a share of their sum", estimates)
    regrets = [figure for world in worlds for figure in measure_regret(world, max(2, runs // 4))]
    print_figures("Regret: mean width beyond that of the best purchase", regrets)
    n_reached = sum(figure.reached is True for figure in regrets)
    print_figures("Regret of at most 10 %", [measure_share("cases", n_reached, len(regrets))])


if __name__ == "__main__":
    main()
