"""Response times on both sides, where they were measured on like machines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from poor_bench.comparison.result_set import RunFacts
from poor_bench.messages import write_share
from poor_bench.models.result import Result
from poor_bench.statistics.intervals import Estimate, percentile, t_quantile_95

_ALIKE = ("system", "machine", "cpu", "cores", "memory_gb")
_LEAST_TESTS = 3
_SAME_GPU_SHARE = 0.02


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


def compare_times(
    before: Sequence[Result],
    after: Sequence[Result],
    runs: Mapping[str, RunFacts],
) -> TimeVerdict:
    """Compare response times test by test, if both sides ran on like machines.

    Args:
        before: Scored trials of one LLM.
        after: Scored trials of the same tests.
        runs: Run id to what is known of the run, for both sides.
    """
    measured = {(result.run_id, result.machine): result for result in (*before, *after)}
    problem = find_machine_problem(
        [
            runs.get(run_id, RunFacts()).find_machine(measured[run_id, machine])
            for run_id, machine in sorted(measured)
        ]
    )
    problem = problem or _find_gpu_problem([*before, *after])
    if problem:
        return TimeVerdict(problem=problem)
    times_before, times_after = _mean_times(before), _mean_times(after)
    common = [test_id for test_id in times_before if test_id in times_after]
    if len(common) < _LEAST_TESTS:
        return TimeVerdict(problem=f"fewer than {_LEAST_TESTS} tests have times on both sides")
    pairs = [(times_before[test_id], times_after[test_id]) for test_id in common]
    return TimeVerdict(times=_compare_pairs(pairs))


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


def _find_gpu_problem(results: Sequence[Result]) -> str:
    """Say that GPU memory held different shares of the model; empty if not."""
    shares = [result.gpu_share for result in results if result.gpu_share is not None]
    if shares and max(shares) - min(shares) > _SAME_GPU_SHARE:
        return (
            f"GPU memory held {write_share(min(shares))} to {write_share(max(shares))} of the model"
        )
    return ""


def describe_machine(machine: Mapping[str, Any]) -> str:
    """Name a machine, such as `Some CPU, 8 cores, 16 GB`."""
    parts = [str(machine.get("cpu") or machine.get("machine") or "unknown processor")]
    if machine.get("cores"):
        parts.append(f"{machine['cores']} cores")
    if machine.get("memory_gb"):
        parts.append(f"{machine['memory_gb']} GB")
    if machine.get("gpu"):
        parts.append(str(machine["gpu"]))
    return ", ".join(parts)


def _mean_times(results: Sequence[Result]) -> dict[str, float]:
    times: dict[str, list[float]] = {}
    for result in results:
        if result.execution_time_ms:
            times.setdefault(result.test_id, []).append(result.execution_time_ms)
    return {test_id: fmean(values) for test_id, values in times.items()}


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
