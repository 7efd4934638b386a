"""Faulty tests among sound ones, with 9 models: recall by fault, precision, sound ones flagged.

A suite has 100 tests of one kind of answer. Twelve are faulty: four have a wrong key, four are
ambiguous (models that know the answer give another right one half of the time), four are
reversed (the chance to pass is 1 minus what ability and difficulty say). Abilities spread evenly
over four logits: on a usual test the models pass with chances from one half to 98 %.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from simulation import Figure, measure_mean, measure_share, print_figures, read_runs

from poor_bench.models.result import Result
from poor_bench.models.test import EvaluatorSpec, Test
from poor_bench.statistics.item_faults import find_faults
from poor_bench.statistics.item_response import fit_two_parameters

N_MODELS, N_TESTS, N_EACH = 9, 100, 4
FAULTS = ("wrong key", "ambiguous", "reversed")
GOALS = {"wrong key": 0.9, "ambiguous": 0.7, "reversed": 0.7}


@dataclass(frozen=True)
class Kind:
    """Tests with one kind of answer."""

    name: str
    n_answers: int
    is_declared: bool


KINDS = (Kind("numbers", 200, False), Kind("four choices", 4, True), Kind("yes/no", 2, True))


def simulate(
    rng: np.random.Generator,
    kind: Kind,
    n_trials: int,
    *,
    n_each: int = N_EACH,
    weakest: float = 0.0,
    strongest: float = 4.0,
) -> tuple[list[Result], dict[str, Test], dict[str, str]]:
    """Simulate one suite: results, tests, and the fault of each faulty test."""
    ability = np.linspace(weakest, strongest, N_MODELS) + rng.normal(0, 0.3, N_MODELS)
    difficulty = rng.normal(0.0, 1.0, N_TESTS)
    results, tests, faults = [], {}, {}
    for row in range(N_TESTS):
        test_id, fault = f"t{row}", FAULTS[row // n_each] if row < 3 * n_each else ""
        if fault:
            faults[test_id] = fault
        key, other = 0, 1  # the stored key, and the second or true right answer
        labels = [f"a{n}" if kind.is_declared else f"{row}-{n}" for n in range(kind.n_answers)]
        parameters = {"labels": labels} if kind.is_declared else {}
        spec = EvaluatorSpec("choice", parameters)
        tests[test_id] = Test(test_id=test_id, class_id="c", level=1, text="x", evaluator=spec)
        tempting = rng.dirichlet(np.full(kind.n_answers - 1, 0.5 if kind.n_answers < 9 else 0.05))
        chances = 1 / (1 + np.exp(difficulty[row] - ability))
        for model in range(N_MODELS):
            habit = int(rng.choice(kind.n_answers - 1, p=tempting))
            for trial in range(1, n_trials + 1):
                knows = rng.random() < (
                    1 - chances[model] if fault == "reversed" else chances[model]
                )
                drawn = (
                    int(rng.choice(kind.n_answers - 1, p=tempting)) if rng.random() < 0.3 else habit
                )
                right = other if fault == "wrong key" else key
                if fault == "ambiguous" and rng.random() < 0.5:
                    right = other
                wrong = drawn + (drawn >= right)
                answer = right if knows else wrong
                results.append(
                    Result(
                        llm_id=f"m{model}",
                        test_id=test_id,
                        trial=trial,
                        score=float(answer == key),
                        got=labels[answer],
                        expected=labels[key],
                    )
                )
    return results, tests, faults


def measure(kind: Kind, n_trials: int, runs: int) -> list[Figure]:
    """Measure recall of each fault, precision, and the share of sound tests that are flagged."""
    counts: Counter[str] = Counter()
    shares = []
    for run in range(runs):
        results, tests, faults = simulate(
            np.random.default_rng([run, n_trials, 2026]), kind, n_trials
        )
        found = find_faults(results, tests)
        flagged = [test_id for test_id, each in found.items() if each.is_flagged]
        counts.update(faults.get(test_id, "sound") for test_id in flagged)
        if flagged:
            shares.append(sum(test_id in faults for test_id in flagged) / len(flagged))
    n_sound = runs * (N_TESTS - N_EACH * len(FAULTS))
    figures = [
        measure_share(f"recall, {name}", counts[name], runs * N_EACH, at_least=goal)
        for name, goal in GOALS.items()
    ]
    total = sum(counts.values())
    if total:
        figures.append(measure_share("precision", total - counts["sound"], total, at_least=0.9))
    figures.append(measure_share("sound flagged", counts["sound"], n_sound, at_most=0.02))
    return figures


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
        fit = fit_two_parameters((rng.random(chance.shape) < chance).astype(float))
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
    runs = read_runs(__doc__ or "", 100)
    for kind in KINDS:
        for n_trials in (1, 3):
            title = f"{kind.name}, {N_MODELS} models x {n_trials} trials, {runs} suites"
            print_figures(title, measure(kind, n_trials, runs))
    for n_models, n_tests in ((20, 100), (50, 200), (50, 2000)):
        title = f"2PL, {n_models} models x {n_tests} tests"
        print_figures(title, measure_recovery(n_models, n_tests, min(runs, 25)))


if __name__ == "__main__":
    main()
