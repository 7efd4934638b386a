"""Gates against regressions: errors, power and saved calls, by simulation.

`python benchmarks/statistics/gates.py` prints every figure with its Monte-Carlo error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from simulation import Figure, measure_mean, measure_share, print_figures, read_runs

from poor_bench.statistics.non_inferiority import (
    ERROR,
    Change,
    TrialPlan,
    Trials,
    estimate_trial_variance,
    measure_change,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TOLERANCE = 0.05
DROP = 0.1
LARGE_DROP = 0.3
N_TESTS = 60
N_CLASSES = 5
_ERRORS = ("unchanged fails", "at the tolerance passes", "at the tolerance fails")
_BOUND = 0.07
"""Largest error at the tolerance itself that the docstrings claim."""


class Shape(NamedTuple):
    """Chances to pass of each test."""

    name: str
    chances: NDArray[np.float64]

    def dropped(self, drop: float) -> NDArray[np.float64]:
        """Lower all chances in proportion."""
        return self.chances * (1 - drop / self.mean)

    def broken(self, drop: float) -> NDArray[np.float64]:
        """Break the best tests for good, until the mean has dropped."""
        chances, left = self.chances.copy(), drop * len(self.chances)
        for place in (-self.chances).argsort():
            lost = min(chances[place], left)
            chances[place] -= lost
            left -= lost
        return chances

    def at_the_tolerance(self) -> Iterator[NDArray[np.float64]]:
        """Yield drops that scatter; one that does not is within the tolerance for sure."""
        yield self.dropped(TOLERANCE)
        broken = self.broken(TOLERANCE)
        if ((broken > 0) & (broken < 1)).any():
            yield broken

    @property
    def mean(self) -> float:
        """Mean chance."""
        return float(self.chances.mean())

    def plan(self, variance: float) -> TrialPlan:
        """Plan a check with as many trials in the baseline as after it."""
        return TrialPlan(
            n_tests=len(self.chances), variance=variance, tolerance=TOLERANCE, mean=self.mean
        )

    @property
    def variance(self) -> float:
        """Mean variance between trials of one test."""
        return float((self.chances * (1 - self.chances)).mean())


def make_shapes(n_tests: int) -> Iterator[Shape]:
    """Make tests of different kinds."""
    import numpy as np

    places = (np.arange(n_tests) + 0.5) / n_tests
    mixed = np.resize([0.97, 0.97, 0.97, 0.97, 0.6, 0.1], n_tests)
    yield Shape("mixed", mixed)
    yield Shape("all 0.97", np.full(n_tests, 0.97))
    yield Shape("all 0.9", np.full(n_tests, 0.9))
    yield Shape("all 0.5", np.full(n_tests, 0.5))
    yield Shape("uniform", places)
    yield Shape("deterministic", (places < 0.8).astype(float))


def draw_trials(
    rng: np.random.Generator, chances: NDArray[np.float64], n_trials: int, runs: int
) -> Trials:
    """Draw binary trials of all tests, for many runs at once."""
    import numpy as np

    passed = rng.binomial(n_trials, chances, (runs, len(chances)))
    return count_trials(passed.astype(np.float64), n_trials)


def count_trials(passed: NDArray[np.float64], n_trials: int) -> Trials:
    """Turn counts of passed trials into trials."""
    import numpy as np

    mean = passed / n_trials
    counts = np.full(passed.shape, float(n_trials))
    return Trials(n=counts, mean=mean, squares=passed * (1 - mean))


def select_tests(trials: Trials, places: NDArray[np.int64]) -> Trials:
    """Select some tests of all runs."""
    return Trials(
        n=trials.n[:, places], mean=trials.mean[:, places], squares=trials.squares[:, places]
    )


def has_passed(change: Change, margin: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which runs pass, as `decide` does."""
    return change.value - margin >= -TOLERANCE - 1e-9


def has_failed_anywhere(before: Trials, after: Trials, *, is_sequential: bool) -> NDArray[np.bool_]:
    """Tell which runs fail overall or in one of the classes, as `check_regression` does."""
    import numpy as np

    n_tests = before.n.shape[-1]
    classes = [np.arange(place, n_tests, N_CLASSES) for place in range(N_CLASSES)]
    failed = np.zeros(len(before.n), dtype=np.bool_)
    for places, error in [(np.arange(n_tests), ERROR), *((c, ERROR / N_CLASSES) for c in classes)]:
        part = measure_change(select_tests(before, places), select_tests(after, places))
        margin = (
            part.compute_anytime_margin(TOLERANCE, error)
            if is_sequential
            else part.compute_margin(error)
        )
        failed |= has_failed(part, margin)
    return failed


def has_failed(change: Change, margin: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which runs fail, as `decide` does."""
    return change.value + margin < -TOLERANCE - 1e-9


def simulate_planned(rng: np.random.Generator, runs: int) -> Iterator[Figure]:
    """Measure passes and fails at the planned size, of one look."""
    for shape in make_shapes(N_TESTS):
        plan = shape.plan(shape.variance)
        to_pass, to_fail = plan.find_trials_to_pass(), plan.find_trials_to_fail(DROP)
        assert to_pass is not None
        assert to_fail is not None
        before = draw_trials(rng, shape.chances, to_pass, runs)
        same = measure_change(before, draw_trials(rng, shape.chances, to_pass, runs))
        size = f"{N_TESTS} x {to_pass}"
        passed = int(has_passed(same, same.compute_margin()).sum())
        yield measure_share(f"{shape.name}, {size}: unchanged passes", passed, runs, at_least=0.8)
        for kind, after in (("spread", shape.dropped(DROP)), ("broken", shape.broken(DROP))):
            before = draw_trials(rng, shape.chances, to_fail, runs)
            worse = measure_change(before, draw_trials(rng, after, to_fail, runs))
            hits = int(has_failed(worse, worse.compute_margin()).sum())
            label = f"{shape.name}, {N_TESTS} x {to_fail}: {kind} drop of {DROP} fails"
            is_planned = kind == "spread" or to_fail > 1
            yield measure_share(label, hits, runs, at_least=0.8 if is_planned else None)


def simulate_plans_from_trials(rng: np.random.Generator, runs: int) -> Iterator[Figure]:
    """Measure passes where the plan knows the variance by a few stored trials only."""
    runs = max(2, runs // 20)
    for n_stored in (2, 3):
        for shape in list(make_shapes(N_TESTS))[:3]:
            hits = 0
            for _ in range(runs):
                stored = draw_trials(rng, shape.chances, n_stored, 1)
                nothing = Trials(n=stored.n * 0, mean=stored.mean * 0, squares=stored.squares * 0)
                plan = shape.plan(estimate_trial_variance(stored, nothing).value)
                size = plan.find_trials_to_pass() or 1
                sides = [draw_trials(rng, shape.chances, size, 1) for _ in range(2)]
                change = measure_change(*sides)
                hits += int(has_passed(change, change.compute_margin())[0])
            label = f"{shape.name}, planned from {n_stored} stored trials: unchanged passes"
            yield measure_share(label, hits, runs)


def simulate_one_look(rng: np.random.Generator, runs: int) -> Iterator[Figure]:
    """Measure the largest errors of one look, over shapes and sizes."""
    sizes = ((1, 1), (2, 2), (3, 3), (3, 1), (9, 9))
    for n_tests in (10, 20, 60, 200):
        worst: dict[str, int] = dict.fromkeys(_ERRORS, 0)
        for shape in make_shapes(n_tests):
            for n_before, n_after in sizes:
                before = draw_trials(rng, shape.chances, n_before, runs)
                same = draw_trials(rng, shape.chances, n_after, runs)
                n_failed = int(has_failed_anywhere(before, same, is_sequential=False).sum())
                worst["unchanged fails"] = max(worst["unchanged fails"], n_failed)
                for after in shape.at_the_tolerance():
                    edge = measure_change(before, draw_trials(rng, after, n_after, runs))
                    margin = edge.compute_margin()
                    n_passed = int(has_passed(edge, margin).sum())
                    n_failed = int(has_failed(edge, margin).sum())
                    worst["at the tolerance passes"] = max(
                        worst["at the tolerance passes"], n_passed
                    )
                    worst["at the tolerance fails"] = max(worst["at the tolerance fails"], n_failed)
        for label, hits in worst.items():
            at_most = ERROR if label == "unchanged fails" else _BOUND
            yield measure_share(
                f"{n_tests} tests, worst of 30: {label}", hits, runs, at_most=at_most
            )


def draw_fractional(
    rng: np.random.Generator, means: NDArray[np.float64], n_trials: int, runs: int
) -> Trials:
    """Draw fractional scores: each test has a beta distribution with its mean."""
    import numpy as np

    spread = 3.0
    shape = (n_trials, runs, len(means))
    scores = rng.beta(spread * means + 1e-9, spread * (1 - means) + 1e-9, shape)
    mean = scores.mean(axis=0)
    counts = np.full(mean.shape, float(n_trials))
    return Trials(n=counts, mean=mean, squares=((scores - mean) ** 2).sum(axis=0))


def simulate_fractional(rng: np.random.Generator, runs: int) -> Iterator[Figure]:
    """Measure the errors of one look at fractional scores."""
    for shape in list(make_shapes(N_TESTS))[:5]:
        for n_trials in (1, 3):
            before = draw_fractional(rng, shape.chances, n_trials, runs)
            after = draw_fractional(rng, shape.dropped(TOLERANCE), n_trials, runs)
            edge = measure_change(before, after)
            margin = edge.compute_margin()
            label = f"means {shape.name}, {N_TESTS} x {n_trials}: at the tolerance"
            n_passed, n_failed = has_passed(edge, margin).sum(), has_failed(edge, margin).sum()
            yield measure_share(f"{label} passes", int(n_passed), runs, at_most=_BOUND)
            yield measure_share(f"{label} fails", int(n_failed), runs, at_most=_BOUND)


class Looks(NamedTuple):
    """Ends of sequential checks."""

    n_passed: int
    n_failed: int
    trials: list[float]
    """Trials per test at the end of each run."""


def look_after_each_trial(
    rng: np.random.Generator,
    shape: Shape,
    after: NDArray[np.float64],
    n_before: int,
    most: int,
    runs: int,
) -> Looks:
    """Add one trial of all tests at a time and look, overall and at each class."""
    import numpy as np

    before = draw_trials(rng, shape.chances, n_before, runs)
    passed_trials = np.zeros((runs, N_TESTS))
    verdicts, ends = np.zeros(runs, dtype=np.int8), np.full(runs, float(most))
    for number in range(1, most + 1):
        passed_trials += rng.random((runs, N_TESTS)) < after
        now = count_trials(passed_trials, number)
        whole = measure_change(before, now)
        margin = whole.compute_anytime_margin(TOLERANCE)
        failed = has_failed_anywhere(before, now, is_sequential=True)
        is_open = verdicts == 0
        verdicts[is_open & has_passed(whole, margin)] = 1
        verdicts[is_open & failed] = -1
        ends[is_open & (verdicts != 0)] = number
    return Looks(int((verdicts == 1).sum()), int((verdicts == -1).sum()), ends.tolist())


def simulate_sequential(rng: np.random.Generator, runs: int) -> Iterator[Figure]:
    """Measure errors and saved calls of sequential checks against a baseline of planned size."""
    for shape in make_shapes(N_TESTS):
        plan = shape.plan(shape.variance)
        planned = max(plan.find_trials_to_pass() or 1, plan.find_trials_to_fail(DROP) or 1)
        looks = min(2 * planned, 20)
        label = f"{shape.name}, baseline {planned}, {looks} looks"
        same = look_after_each_trial(rng, shape, shape.chances, planned, looks, runs)
        yield measure_share(f"{label}: unchanged fails", same.n_failed, runs, at_most=0.05)
        yield measure_share(f"{label}: unchanged passes", same.n_passed, runs)
        few = max(2, runs // 10)
        edge = look_after_each_trial(rng, shape, shape.dropped(TOLERANCE), planned, looks, few)
        yield measure_share(f"{label}: at the tolerance fails", edge.n_failed, few, at_most=0.05)
        yield measure_share(f"{label}: at the tolerance passes", edge.n_passed, few, at_most=_BOUND)
        large = look_after_each_trial(rng, shape, shape.dropped(LARGE_DROP), planned, looks, few)
        saved = [1 - trials / planned for trials in large.trials]
        is_long = planned > 2
        yield measure_share(f"{label}: drop of {LARGE_DROP} fails", large.n_failed, few)
        yield measure_mean(
            f"{label}: share of calls saved then", saved, at_least=0.4 if is_long else None
        )


def main() -> int:
    """Simulate and print all figures; 1 if a goal is missed."""
    import numpy as np

    runs = read_runs(__doc__ or "", 10_000)
    rng = np.random.default_rng(15)
    reached = [
        print_figures("Planned size, one look", list(simulate_planned(rng, runs))),
        print_figures("Plans from stored trials", list(simulate_plans_from_trials(rng, runs))),
        print_figures("Errors of one look", list(simulate_one_look(rng, runs))),
        print_figures("Fractional scores", list(simulate_fractional(rng, max(2, runs // 5)))),
        print_figures("Looking after each trial", list(simulate_sequential(rng, runs))),
    ]
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
