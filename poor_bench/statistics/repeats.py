"""Repeated trials of one test: pass@k, pass^k and the flip rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, NamedTuple

from poor_bench.models.test import Test
from poor_bench.statistics.groups import find_groups
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.means import mean_score
from poor_bench.statistics.trials import Trials, collect_columns, number_cells

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def pass_at_k(successes: int, trials: int, k: int) -> float:
    """Estimate the chance that at least one of `k` fresh trials passes (pass@k).

    Args:
        successes: Trials that passed, 0 to `trials`.
        trials: Trials with a score; failed ones belong in neither count.
        k: 1 to `trials`.

    Returns:
        An unbiased estimate, 0.0 to 1.0.

    Raises:
        ValueError: If a number is out of its range.

    Source:
        Chen et al. 2021, "Evaluating Large Language Models Trained on Code", arXiv:2107.03374.

    Example:
        >>> pass_at_k(successes=1, trials=4, k=2)
        0.5
    """
    _check(successes, trials, k)
    return 1 - comb(trials - successes, k) / comb(trials, k)


def pass_hat_k(successes: int, trials: int, k: int) -> float:
    """Estimate the chance that all of `k` fresh trials pass (pass^k).

    Args:
        successes: Trials that passed, 0 to `trials`.
        trials: Trials with a score; failed ones belong in neither count.
        k: 1 to `trials`.

    Returns:
        An unbiased estimate, 0.0 to 1.0.

    Raises:
        ValueError: If a number is out of its range.

    Source:
        Yao et al. 2024, "tau-bench", arXiv:2406.12045.

    Example:
        >>> pass_hat_k(successes=3, trials=4, k=2)
        0.5
    """
    _check(successes, trials, k)
    return comb(successes, k) / comb(trials, k)


def flip_rate(successes: int, trials: int) -> float:
    """Estimate the chance that two fresh trials of one test end differently.

    Args:
        successes: Trials that passed, 0 to `trials`.
        trials: Trials with a score, at least 2.

    Returns:
        An unbiased estimate; 0.0 where all trials agree, around 0.5 at a coin's toss, and 1.0 for
        one pass in two trials.

    Raises:
        ValueError: If a number is out of its range.

    Source:
        Simpson 1949, "Measurement of diversity", Nature 163: one minus the unbiased chance that
        two draws without replacement agree.

    Example:
        >>> flip_rate(successes=2, trials=4) == 2 / 3
        True
    """
    _check(successes, trials, 2)
    return successes * (trials - successes) / comb(trials, 2)


def _check(successes: int, trials: int, k: int) -> None:
    if not 0 <= successes <= trials:
        raise ValueError(f"successes must be from 0 to {trials} (trials), not {successes}")
    if not 1 <= k <= trials:
        raise ValueError(f"{k} of {trials} trials: there must be 1 to {trials}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """Reliability of one LLM over the tests with at least `k` scored trials."""

    llm_id: str
    k: int
    pass_at_k: Estimate
    """Chance that at least one of k trials passes, mean over tests."""
    pass_hat_k: Estimate
    """Chance that all of k trials pass, mean over tests."""
    flip_rate: Estimate
    """Chance that two trials of one test end differently, mean over tests."""


def estimate_reliability(
    trials: Trials,
    *,
    k: int = 2,
    pass_score: float = 1.0,
    tests: Mapping[str, Test] | None = None,
) -> list[Reliability]:
    """Compute pass@k, pass^k and the flip rate of every LLM with enough trials.

    Args:
        trials: Scored and failed trials in any order; failures are left out.
        k: Number of trials in question, at least 2.
        pass_score: From which score on a trial is passed.
        tests: By id, for their groups.

    Returns:
        One row per LLM that has a test with `k` scored trials, in order of first appearance.

    Raises:
        ValueError: If `k < 2`.

    Source:
        See `poor_bench.statistics.repeats`; intervals as of `mean_score`, the test as unit.

    Example:
        >>> from poor_bench.models.result import Result
        >>> trials = [Result(llm_id="a", test_id="t", trial=n, score=n % 2) for n in range(1, 5)]
        >>> [row] = estimate_reliability(trials)
        >>> round(row.pass_at_k.value, 3), round(row.pass_hat_k.value, 3)
        (0.833, 0.167)
    """
    if k < 2:
        raise ValueError(f"k must be at least 2, not {k}")
    import numpy as np

    counts = _count(trials, pass_score)
    rows = []
    for column, llm_id in enumerate(counts.llm_ids):
        enough = np.flatnonzero(counts.n_trials[:, column] >= k)
        if len(enough):
            of_llm = zip(
                counts.n_passed[enough, column].tolist(),
                counts.n_trials[enough, column].tolist(),
                strict=True,
            )
            groups = find_groups((counts.test_ids[row] for row in enough.tolist()), tests or {})
            rows.append(_compute_reliability(llm_id, list(of_llm), k, groups))
    return rows


def find_usual_trials(trials: Trials) -> int:
    """Find the usual number of trials of repeated tests; 0 if no test was repeated.

    Args:
        trials: Scored and failed trials in any order; failures are left out.

    Returns:
        The most frequent number of scored trials of a test, the highest of several.

    Example:
        >>> from poor_bench.models.result import Result
        >>> find_usual_trials(Result(llm_id="a", test_id="t", trial=n, score=1) for n in (1, 2, 3))
        3
    """
    import numpy as np

    columns = collect_columns(trials)
    if columns.columns["trial"].max(initial=0) < 2:
        return 0
    n_trials = _count(columns, pass_score=1.0).n_trials
    frequencies = np.bincount(n_trials[n_trials > 1])
    return int(np.flatnonzero(frequencies == frequencies.max())[-1]) if len(frequencies) else 0


class _PassCounts(NamedTuple):
    """Scored and passed trials; a row per test, a column per LLM."""

    llm_ids: tuple[str, ...]
    test_ids: tuple[str, ...]
    n_trials: NDArray[np.int64]
    n_passed: NDArray[np.int64]


def _count(trials: Trials, pass_score: float) -> _PassCounts:
    import numpy as np

    table = collect_columns(trials)
    cells = number_cells(table)
    is_passed = table.columns["score"][cells.entries] >= pass_score
    n_trials, n_passed = (
        np.bincount(places, minlength=cells.n_cells).reshape(-1, max(1, len(cells.llm_ids)))
        for places in (cells.places, cells.places[is_passed])
    )
    return _PassCounts(cells.llm_ids, cells.test_ids, n_trials, n_passed)


def _compute_reliability(
    llm_id: str, counts: list[tuple[int, int]], k: int, groups: list[str | None] | None
) -> Reliability:
    return Reliability(
        llm_id=llm_id,
        k=k,
        pass_at_k=mean_score([pass_at_k(passed, trials, k) for passed, trials in counts], groups),
        pass_hat_k=mean_score([pass_hat_k(passed, trials, k) for passed, trials in counts], groups),
        flip_rate=mean_score([flip_rate(passed, trials) for passed, trials in counts], groups),
    )
