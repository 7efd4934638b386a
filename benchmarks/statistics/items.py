"""Faulty tests among sound ones, with 9 models: recall by fault, precision, sound ones flagged.

The suites are those of `item_suites.py`. Abilities spread evenly over four logits (the goals), or
as difficulties do (the hard case, with goals for sound tests only). Beside each figure stands
that of an oracle which knows how the suites were made: what it misses is missed by the data, not
the method. The oracle flags as many tests as leave its precision at 90 %.

With one trial and four choices or yes/no, the method finds 42 and 44 % of the ambiguous tests of
150 suites where abilities spread evenly, and the oracle 59 and 56 %: 70 % is out of reach.

In the hard case with one trial little can be found at all: of 40 suites the oracle finds 73, 10 and
49 % of the wrong keys (numbers, four choices, yes/no), 15, 3 and 23 % of the ambiguous tests, and
36, 27 and 49 % of the reversed ones (error: 1 to 4 %). The method's precision there is 94.1 ± 1.0,
90.3 ± 1.8 and 89.0 ± 1.5 % in 150 suites drawn after its levels were chosen (a level of .1 for all:
94.5, 88.1 and 86.8 %), and it flags less than .4 % of the sound tests. With a quarter of the faults
precision is 72 % to 83 % there (.1 for all: 67 % to 82 %), measured with a level much like it.
"""

from __future__ import annotations

import numpy as np
from item_suites import (
    AMBIGUOUS,
    FAULTS,
    KINDS,
    N_MODELS,
    REVERSED,
    WRONG_KEY,
    Suite,
    draw_suite,
    spread_evenly,
    spread_normally,
    weigh_by_oracle,
)
from simulation import Figure, measure_mean, measure_share, print_figures, read_runs

from poor_bench.models.result import Result
from poor_bench.models.test import EvaluatorSpec, Test
from poor_bench.statistics.item_faults import find_faults
from poor_bench.statistics.item_response import Passes, fit_two_parameters
from poor_bench.statistics.outcomes import collect_outcomes

GOALS = {WRONG_KEY: 0.9, AMBIGUOUS: 0.7, REVERSED: 0.7}
PRECISION = 0.9


def measure(suites: list[Suite], *, has_goals: bool) -> list[Figure]:
    """Measure recall of each fault and precision of the method, and recall of the oracle."""
    flagged = np.concatenate([_flag(suite) for suite in suites])
    faults = np.array([fault for suite in suites for fault in suite.faults])
    figures = []
    by_oracle = _flag_by_oracle(suites)
    for fault in FAULTS:
        goal = GOALS[fault] if has_goals else None
        planted = faults == fault
        figures += [
            measure_share(
                f"recall, {fault}", int(flagged[planted].sum()), int(planted.sum()), at_least=goal
            ),
            measure_share(
                "  oracle, precision 90 %", int(by_oracle[planted].sum()), int(planted.sum())
            ),
        ]
    n_right = int((flagged & (faults != "")).sum())
    if flagged.any():
        figures.append(measure_share("precision", n_right, int(flagged.sum()), at_least=PRECISION))
    sound = faults == ""
    n_sound = int(flagged[sound].sum())
    return [*figures, measure_share("sound flagged", n_sound, int(sound.sum()), at_most=0.02)]


def write_results(suite: Suite) -> tuple[list[Result], dict[str, Test]]:
    """Write a suite as stored results and their tests."""
    kind, results, tests = suite.kind, [], {}
    for row, of_test in enumerate(suite.answers.tolist()):
        labels = [f"a{n}" if kind.is_declared else f"{row}-{n}" for n in range(kind.n_answers)]
        spec = EvaluatorSpec("choice", {"labels": labels} if kind.is_declared else {})
        tests[f"t{row}"] = Test(test_id=f"t{row}", class_id="c", level=1, text="x", evaluator=spec)
        results += [
            Result(
                llm_id=f"m{model}",
                test_id=f"t{row}",
                trial=trial,
                score=float(answer == 0),
                got=labels[answer],
                expected=labels[0],
            )
            for model, trials in enumerate(of_test)
            for trial, answer in enumerate(trials, 1)
        ]
    return results, tests


def _flag(suite: Suite) -> np.ndarray:
    results, tests = write_results(suite)
    found = find_faults(collect_outcomes(results), tests)
    return np.array([found[test_id].is_flagged for test_id in tests])


def _flag_by_oracle(suites: list[Suite]) -> np.ndarray:
    """Flag the most suspicious tests of all suites, as many as leave the precision."""
    odds = np.concatenate(
        [weigh_by_oracle(suite, np.random.default_rng(seed)) for seed, suite in enumerate(suites)]
    )
    faulty = np.array([fault != "" for suite in suites for fault in suite.faults])
    order = np.argsort(-odds)
    precision = np.cumsum(faulty[order]) / np.arange(1, len(odds) + 1)
    flagged = np.zeros(len(odds), dtype=bool)
    flagged[order[: np.flatnonzero(precision >= PRECISION).max(initial=-1) + 1]] = True
    return flagged


def measure_recovery(n_models: int, n_tests: int, runs: int) -> list[Figure]:
    """Measure how well the 2PL fit recovers abilities, difficulties and slopes."""
    columns: dict[str, list[float]] = {name: [] for name in ("ability", "difficulty", "log slope")}
    covered = 0
    for run in range(runs):
        rng = np.random.default_rng([run, n_models, n_tests])
        ability = rng.normal(size=n_models)
        ability = (ability - ability.mean()) / ability.std()
        difficulty, log_slope = rng.normal(size=n_tests), rng.normal(0.0, 0.4, n_tests)
        chance = 1 / (1 + np.exp(-np.exp(log_slope)[:, None] * (ability - difficulty[:, None])))
        fit = fit_two_parameters(
            Passes(
                test_ids=(),
                models=(),
                n_trials=np.ones(chance.shape, dtype=int),
                n_passed=(rng.random(chance.shape) < chance).astype(int),
            )
        )
        covered += int((np.abs(fit.ability - ability) <= 1.96 * fit.error).sum())
        for (_, values), got, true in zip(
            columns.items(),
            (fit.ability, fit.difficulty, np.log(fit.slope)),
            (ability, difficulty, log_slope),
            strict=True,
        ):
            values.append(float(np.corrcoef(got, true)[0, 1]))
    figures = [measure_mean(f"correlation, {name}", values) for name, values in columns.items()]
    label = "ability inside its 95 % interval"
    return [*figures, measure_share(label, covered, runs * n_models, at_least=0.93)]


def main() -> None:
    """Print the figures of every kind of answer with 1 and 3 trials, and of the 2PL fit."""
    runs = read_runs(__doc__ or "", 25)
    for draw_ability, has_goals in ((spread_evenly, True), (spread_normally, False)):
        for kind in KINDS:
            for n_trials in (1, 3):
                suites = [
                    draw_suite(
                        np.random.default_rng([run, n_trials, 2026]), kind, n_trials, draw_ability
                    )
                    for run in range(runs)
                ]
                spread = "spread evenly" if has_goals else "hard case: as difficulties"
                title = f"{kind.name}, {N_MODELS} models x {n_trials} trials, abilities {spread}"
                print_figures(f"{title}, {runs} suites", measure(suites, has_goals=has_goals))
    for n_models, n_tests in ((20, 100), (50, 200), (50, 2000)):
        title = f"2PL, {n_models} models x {n_tests} tests"
        print_figures(title, measure_recovery(n_models, n_tests, min(runs, 25)))


if __name__ == "__main__":
    main()
