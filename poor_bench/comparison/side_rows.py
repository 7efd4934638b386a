"""Results of one model on one side, in columns: what differs between both, and their times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from poor_bench.comparison.result_set import ComparedColumns, RunFacts, digest_fact
from poor_bench.messages import write_share
from poor_bench.statistics.intervals import Estimate, percentile, t_quantile_95

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ALIKE = ("system", "machine", "cpu", "cores", "memory_gb")
_LEAST_TESTS = 3
_SAME_GPU_SHARE = 0.02
_FIGURES = ("trial", "score", "execution_time_ms", "gpu_share", "run_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRows:
    """Results of one LLM in one result set, ordered by test."""

    n_tests: int
    """Of both result sets."""
    tests: NDArray[np.int64]
    """Number of each one's test, ascending."""
    columns: Mapping[str, NDArray[Any]]
    """Their figures, and what `FACTS` reads of them."""
    run_ids: Sequence[str]
    """What the codes of `run_id` stand for."""
    machines: Sequence[str]
    """What the codes of `machine` stand for, -1 for nothing."""

    def pick(self, chosen: NDArray[np.bool_]) -> SideRows:
        """Select some of them."""
        columns = {name: column[chosen] for name, column in self.columns.items()}
        return replace(self, tests=self.tests[chosen], columns=columns)

    def count(self, chosen: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Count the results of each test, all or some."""
        import numpy as np

        tests = self.tests if chosen is None else self.tests[chosen]
        return np.bincount(tests, minlength=self.n_tests)

    def add_up(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add a number of each result up for each test."""
        import numpy as np

        return np.bincount(self.tests, values, self.n_tests).astype(np.float64)  # also of none

    def have_all(self, *names: str) -> NDArray[np.bool_]:
        """Mark the tests all of whose results have some facts."""
        import numpy as np

        lack: NDArray[np.bool_] = np.logical_or.reduce([self.columns[each] == 0 for each in names])
        have_all: NDArray[np.bool_] = self.count(lack) == 0
        return have_all

    def add_settings(self, runs: Mapping[str, RunFacts], llm_id: str) -> SideRows:
        """Add the fact `settings`: model and parameters, of runs of which they are known."""
        import numpy as np

        prints = (runs.get(run_id, RunFacts()).llm_fingerprints for run_id in self.run_ids)
        digests = [digest_fact(each.get(llm_id, "")) for each in prints]
        settings = np.array(digests, dtype=np.int64)[self.columns["run_id"]]
        return replace(self, columns={**self.columns, "settings": settings})

    def list_in_order(self, *names: str) -> list[NDArray[np.int64]]:
        """List test and facts of each result, in order."""
        import numpy as np

        found = np.stack([self.tests, *(self.columns[name] for name in names)])
        is_sorted = (np.diff(found[0]) > 0).all()  # one trial of each test, as a rule
        return [*(found if is_sorted else found[:, np.lexsort(found[::-1])])]

    def list_known(self, name: str) -> list[NDArray[np.int64]]:
        """List the different values of a fact of each test, in order; unknown ones are left out."""
        import numpy as np

        known = replace(self, columns={name: self.columns[name]}).pick(self.columns[name] != 0)
        tests, facts = known.list_in_order(name)
        is_new = (np.diff(tests, prepend=-1) != 0) | (np.diff(facts, prepend=0) != 0)
        return [tests[is_new], facts[is_new]]


def arrange_rows(
    columns: ComparedColumns, llm_id: str, numbers: Mapping[int, int], n_tests: int
) -> SideRows:
    """Order the results of a model by test.

    Args:
        columns: Of a result set.
        llm_id: The model.
        numbers: Code of a test to its number; the results of others are left out.
        n_tests: Of both result sets.
    """
    import numpy as np

    trials, facts = columns
    of_codes = np.full(len(trials.values["test_id"]), -1)
    of_codes[[*numbers]] = [*numbers.values()]
    of_llm = trials.find_entries("llm_id", llm_id.__eq__).nonzero()[0]
    tests = of_codes[trials.columns["test_id"][of_llm]]
    order = np.argsort(tests, kind="stable")[np.count_nonzero(tests < 0) :]
    rows = of_llm[order]
    return SideRows(
        n_tests=n_tests,
        tests=tests[order],
        columns={name: trials.columns[name][rows] for name in _FIGURES}
        | {name: column[rows] for name, column in facts.columns.items()},
        run_ids=trials.values["run_id"],
        machines=facts.values["machine"],
    )


def _are_equal(
    n_tests: int, before: Sequence[NDArray[np.int64]], after: Sequence[NDArray[np.int64]]
) -> NDArray[np.bool_]:
    """Mark the tests of which both sides list the same, or both nothing.

    Args:
        n_tests: Of both sides.
        before: Tests and facts in the order of `SideRows.list_in_order`.
        after: Likewise.
    """
    import numpy as np

    counts = [np.bincount(tests, minlength=n_tests) for tests, *_ in (before, after)]
    alike: NDArray[np.bool_] = counts[0] == counts[1]
    tests, *own = (column[alike[before[0]]] for column in before)
    _, *other = (column[alike[after[0]]] for column in after)
    found = alike.copy()
    for fact, rival in zip(own, other, strict=True):
        found[tests[fact != rival]] = False
    return found


def differ(before: SideRows, after: SideRows, name: str) -> NDArray[np.bool_]:
    """Mark the tests of which both sides record a fact, and the facts differ."""
    sides = [side.list_known(name) for side in (before, after)]
    are_known = before.count(before.columns[name] != 0) * after.count(after.columns[name] != 0) > 0
    return are_known & ~_are_equal(before.n_tests, *sides)


def average(scored: SideRows, side: str) -> dict[str, NDArray[Any]]:
    """Compute mean score, number and squares of the trials of each test."""
    import numpy as np

    scores, n_trials = scored.columns["score"], scored.count()
    with np.errstate(invalid="ignore"):
        means = scored.add_up(scores) / n_trials  # NaN of none
    squares = scored.add_up((scores - means[scored.tests]) ** 2)
    squares[n_trials < 2] = 0.0
    return {side: means, f"n_{side}": n_trials, f"squares_{side}": squares}


def compare_answers(old: SideRows, new: SideRows) -> dict[str, NDArray[np.bool_]]:
    """Compare the answers of scored trials, where all of them are stored."""
    import numpy as np

    counts = old.count(), new.count()
    are_stored = old.have_all("answer") & new.have_all("answer") & (counts[0] * counts[1] > 0)
    said = [side.list_in_order("trial", "answer") for side in (old, new)]
    n_different = [
        np.bincount(side.list_known("answer")[0], minlength=old.n_tests) for side in (old, new)
    ]
    return {
        "same_answers": are_stored & _are_equal(old.n_tests, *said),
        "repeats_alike": are_stored & (np.maximum(*counts) > 1) & (np.maximum(*n_different) == 1),
    }


def select_new(before: SideRows, after: SideRows) -> SideRows:
    """Select the results that do not stand in both result sets; undated ones count as new."""
    import numpy as np

    identities, known = (
        side.columns["identity"].astype(np.uint64) + side.tests.astype(np.uint64) * _SPREAD
        for side in (after, before.pick(before.columns["identity"] != 0))
    )
    known.sort()  # `np.isin` would import masked arrays
    is_known = known.searchsorted(identities, "right") > known.searchsorted(identities)
    return after.pick((after.columns["identity"] == 0) | ~is_known)


def number_scores(scored: SideRows, name: str) -> dict[str, NDArray[np.int64]]:
    """Tell where the scores of each test stand among all."""
    counts = scored.count()
    return {f"first_{name}": counts.cumsum() - counts, f"n_{name}": counts}


_SPREAD = 0x9E3779B97F4A7C15
"""Tells equal answers of two tests apart: an odd number of 64 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeComparison:
    """Response times of the tests that both sides have scored, in milliseconds."""

    median_before_ms: float
    median_after_ms: float
    p95_before_ms: float
    p95_after_ms: float
    ratio: Estimate
    """Geometric mean of the tests' times after divided by before; below 1 is faster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeVerdict:
    """A comparison of times, or why there is none."""

    times: TimeComparison | None = None
    problem: str = ""
    """Why times are not compared; empty where they are."""


def compare_times(before: SideRows, after: SideRows, runs: Mapping[str, RunFacts]) -> TimeVerdict:
    """Compare response times test by test, if both sides ran on like machines.

    Args:
        before: Scored trials of one LLM.
        after: Scored trials of the same tests.
        runs: Run id to what is known of the run, for both sides.
    """
    if not len(before.tests):
        return TimeVerdict(problem="no test is comparable")
    measured = sorted({*_list_measured(before), *_list_measured(after)})
    problem = find_machine_problem(
        [runs.get(run_id, RunFacts()).find_machine(name) for run_id, name in measured]
    )
    problem = problem or _find_gpu_problem(before, after)
    if problem:
        return TimeVerdict(problem=problem)
    times_before, times_after = _mean_times(before), _mean_times(after)
    common = [test for test in times_before if test in times_after]
    if len(common) < _LEAST_TESTS:
        return TimeVerdict(problem=f"fewer than {_LEAST_TESTS} tests have times on both sides")
    pairs = [(times_before[test], times_after[test]) for test in common]
    return TimeVerdict(times=_compare_pairs(pairs))


def _list_measured(side: SideRows) -> list[tuple[str, str]]:
    """List each run and machine that results are of."""
    import numpy as np

    codes = np.stack([side.columns["run_id"], side.columns["machine"]])
    machines = (*side.machines, "")  # of code -1
    return [
        (side.run_ids[run], machines[machine])
        for run, machine in set(zip(*codes.tolist(), strict=True))
    ]


def find_machine_problem(machines: Sequence[Mapping[str, Any]]) -> str:
    """Say why times of these machines are not comparable; empty if they are.

    Args:
        machines: Facts of every machine; empty facts where they are not known.

    Example:
        >>> laptop = {"system": "Linux", "cpu": "A", "cores": 8}
        >>> find_machine_problem([laptop, laptop])
        ''
        >>> find_machine_problem([laptop, {**laptop, "cores": 4}])
        'measured on different machines (A, 8 cores; A, 4 cores)'
    """
    if not machines or not all(machine.get("cpu") for machine in machines):
        return "some results do not name the machine they were measured on"
    knows_gpus = all("gpu" in machine for machine in machines)  # older runs did not record them
    alike = (*_ALIKE, "gpu") if knows_gpus else _ALIKE
    kinds = {tuple(machine.get(name) for name in alike): machine for machine in machines}
    if len(kinds) > 1:
        named = "; ".join(describe_machine(machine) for machine in kinds.values())
        return f"measured on different machines ({named})"
    return ""


def _find_gpu_problem(before: SideRows, after: SideRows) -> str:
    """Say that GPU memory held different shares of the model; empty if not."""
    import numpy as np

    shares = np.concatenate([side.columns["gpu_share"] for side in (before, after)])
    shares = shares[~np.isnan(shares)]
    if len(shares) and np.ptp(shares) > _SAME_GPU_SHARE:
        least, most = float(shares.min()), float(shares.max())
        return f"GPU memory held {write_share(least)} to {write_share(most)} of the model"
    return ""


def describe_machine(machine: Mapping[str, Any]) -> str:
    """Name a machine, such as `Some CPU, 8 cores, 16 GB`.

    Example:
        >>> describe_machine({"cpu": "A", "cores": 1, "gpu": "B"})
        'A, 1 core, B'
    """
    parts = [str(machine.get("cpu") or machine.get("machine") or "unknown processor")]
    if machine.get("cores"):
        parts.append("1 core" if machine["cores"] == 1 else f"{machine['cores']} cores")
    if machine.get("memory_gb"):
        parts.append(f"{machine['memory_gb']} GB")
    if machine.get("gpu"):
        parts.append(str(machine["gpu"]))
    return ", ".join(parts)


def _mean_times(side: SideRows) -> dict[int, float]:
    times: dict[int, list[float]] = {}
    for test, time in zip(
        side.tests.tolist(), side.columns["execution_time_ms"].tolist(), strict=True
    ):
        if time > 0:  # not one that was not measured
            times.setdefault(test, []).append(time)
    return {test: fmean(values) for test, values in times.items()}


def _compare_pairs(pairs: Sequence[tuple[float, float]]) -> TimeComparison:
    before, after = (sorted(times) for times in zip(*pairs, strict=True))
    return TimeComparison(
        median_before_ms=percentile(before, 0.5),
        median_after_ms=percentile(after, 0.5),
        p95_before_ms=percentile(before, 0.95),
        p95_after_ms=percentile(after, 0.95),
        ratio=_estimate_ratio([math.log(later / earlier) for earlier, later in pairs]),
    )


def _estimate_ratio(logarithms: Sequence[float]) -> Estimate:
    """Compute the geometric mean ratio with Student's interval on the logarithmic scale."""
    n = len(logarithms)
    centre = fmean(logarithms)
    half = t_quantile_95(n - 1) * stdev(logarithms) / math.sqrt(n)
    return Estimate(
        value=math.exp(centre), low=math.exp(centre - half), high=math.exp(centre + half), n=n
    )
