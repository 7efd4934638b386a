"""All LLMs in pairs: significant differences, the ranks that they leave open, tie groups."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from poor_bench.models.result import Result
from poor_bench.statistics.differences import estimate_paired_difference
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.scores import ScoreTable, score_table
from poor_bench.statistics.significance import (
    holm,
    needed_tests,
    needed_trials,
    sign_flip_p_values,
    smallest_difference,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_LETTERS = 26


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRange:
    """The ranks that an LLM may truly have, 1 being the best."""

    llm_id: str
    best: int
    worst: int


def rank_ranges(llm_ids: Sequence[str], better: Collection[tuple[str, str]]) -> list[RankRange]:
    """Compute the ranks that the significant differences leave open.

    Args:
        llm_ids: The LLMs, in the order in which the ranges are wanted.
        better: Pairs (winner, loser) whose difference is established for all pairs together.

    Returns:
        One range per LLM. All of them hold together with the confidence of the pairs.

    Source:
        Mogstad, Romano, Shaikh and Wilhelm 2024, "Inference for Ranks with Applications to
        Mobility across Neighbourhoods and Academic Achievement across Countries", Review of
        Economic Studies 91.

    Example:
        >>> rank_ranges(["a", "b", "c"], [("a", "c")])[1]
        RankRange(llm_id='b', best=1, worst=3)
    """
    return [
        RankRange(
            llm_id=llm_id,
            best=1 + sum(loser == llm_id for _, loser in better),
            worst=len(llm_ids) - sum(winner == llm_id for winner, _ in better),
        )
        for llm_id in llm_ids
    ]


def tie_groups(
    llm_ids: Sequence[str], better: Collection[tuple[str, str]]
) -> list[tuple[str, ...]]:
    """Find the largest groups of LLMs of which no two differ significantly.

    An LLM may stand in several groups: `a` and `b` may be tied, `b` and `c` too, and `a` and `c`
    not. LLMs without a common group differ.

    Args:
        llm_ids: The LLMs, best first.
        better: Pairs (winner, loser) whose difference is established.

    Returns:
        Groups in the order of their best members, members in the order of `llm_ids`.

    Source:
        Piepho 2004, "An algorithm for a letter-based representation of all-pairwise comparisons",
        Journal of Computational and Graphical Statistics 13 (insert and absorb).

    Example:
        >>> tie_groups(["a", "b", "c"], [("a", "c")])
        [('a', 'b'), ('b', 'c')]
    """
    groups = [frozenset(llm_ids)] if llm_ids else []
    for pair in better:
        groups = _without_contained(
            [part for group in groups for part in _split(group, frozenset(pair))]
        )
    ordered = [tuple(llm_id for llm_id in llm_ids if llm_id in group) for group in groups]
    place = {llm_id: index for index, llm_id in enumerate(llm_ids)}
    return sorted(ordered, key=lambda group: [place[llm_id] for llm_id in group])


def _split(group: frozenset[str], pair: frozenset[str]) -> list[frozenset[str]]:
    if not pair <= group:
        return [group]
    return [group - {llm_id} for llm_id in pair]


def _without_contained(groups: list[frozenset[str]]) -> list[frozenset[str]]:
    kept: list[frozenset[str]] = []
    for group in sorted(groups, key=len, reverse=True):
        if not any(group <= other for other in kept):
            kept.append(group)
    return kept


def tie_letters(groups: Sequence[Sequence[str]]) -> dict[str, str]:
    """Name the tie groups of each LLM: a, ..., z, aa, ab, ...

    Names are put together without a comma as long as each has one letter.

    Args:
        groups: LLM ids of each group, the best group first.

    Source:
        Piepho 2004, "An algorithm for a letter-based representation of all-pairwise comparisons",
        Journal of Computational and Graphical Statistics 13.

    Example:
        >>> tie_letters([("x", "y"), ("y",)])
        {'x': 'a', 'y': 'ab'}
    """
    names: dict[str, list[str]] = {}
    for number, group in enumerate(groups):
        for llm_id in group:
            names.setdefault(llm_id, []).append(_group_name(number))
    between = "," if len(groups) > _LETTERS else ""
    return {llm_id: between.join(of_llm) for llm_id, of_llm in names.items()}


def _group_name(number: int) -> str:
    """Name a group as a spreadsheet names its columns."""
    earlier, place = divmod(number, _LETTERS)
    return (_group_name(earlier - 1) if earlier else "") + chr(ord("a") + place)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """Two LLMs on the tests that both have scored.

    Every figure rests on the common tests alone; trials of one test are averaged first.
    """

    llm_a: str
    llm_b: str
    mean_a: float
    mean_b: float
    difference: Estimate
    """Mean of a's score minus b's with its own 95 % interval; `n` is the number of tests."""
    n_better: int
    """Tests on which a scored more than b."""
    n_worse: int
    """Tests on which a scored less than b."""
    p_value: float
    """Of this pair alone (sign-flip permutation test)."""
    p_adjusted: float
    """Valid for all compared pairs together (Holm)."""
    smallest_difference: float
    """The smallest true difference that so many tests show in 80 % of cases."""
    needed_tests: int | None
    """Common tests that show a difference as large as the one seen in 80 % of cases, this pair
    compared alone; None where none is seen."""
    needed_trials: int | None
    """Trials of each of the present tests that do the same; None where these tests are too few
    however often they are tried, or where none was tried twice, so that it is not known."""

    def is_real(self, alpha: float = 0.05) -> bool:
        """True if the difference is significant, corrected for all comparisons."""
        return self.p_adjusted < alpha


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All pairs of some LLMs, and what follows from them."""

    pairs: tuple[PairedDifference, ...]
    """Pairs with common tests; LLMs stand best first, so `llm_a` has the higher mean overall."""
    apart: tuple[tuple[str, str], ...]
    """Pairs without a common scored test, which nothing is known about."""
    ranks: tuple[RankRange, ...]
    """One per LLM, highest mean score first."""
    groups: tuple[tuple[str, ...], ...]
    """Groups of LLMs that cannot be told apart; an LLM may stand in several."""


def compare_llms(
    results: Iterable[Result], *, alpha: float = 0.05, n_flips: int = 9999, seed: int = 0
) -> Comparison:
    """Compare all LLMs in pairs on their common tests.

    Args:
        results: Scored and failed trials in any order; failures are left out. Pass the results of
            one test class to compare within it.
        alpha: Accepted chance of calling any difference real that is not, between 0 and 1.
        n_flips: Random sign patterns per pair, at least 1.
        seed: Of the random signs; the same results and seed give the same figures.

    Returns:
        Pairs, ranks and groups; empty where nothing was scored.

    Raises:
        ValueError: If `alpha` or `n_flips` is out of range.

    Source:
        `sign_flip_p_values`, `holm`, `estimate_paired_difference`, `rank_ranges`, `tie_groups`.

    Example:
        >>> scores = {"good": 1.0, "bad": 0.0}
        >>> trials = [Result(llm_id=llm, test_id=str(n), score=scores[llm])
        ...           for llm in scores for n in range(8)]
        >>> [pair] = compare_llms(trials).pairs
        >>> pair.llm_a, pair.difference.value, pair.p_value, pair.is_real()
        ('good', 1.0, 0.0078125, True)
    """
    table = score_table(results)
    pairs, apart = _list_pairs(table, n_flips, seed)
    better = [
        (pair.llm_a, pair.llm_b) if pair.difference.value > 0 else (pair.llm_b, pair.llm_a)
        for pair in pairs
        if pair.is_real(alpha)
    ]
    llm_ids = [table.llm_ids[column] for column in _best_first(table)]
    return Comparison(
        pairs=tuple(pairs),
        apart=tuple(apart),
        ranks=tuple(rank_ranges(llm_ids, better)),
        groups=tuple(tie_groups(llm_ids, better)),
    )


def _best_first(table: ScoreTable) -> list[int]:
    import numpy as np

    if not table.llm_ids:
        return []
    means = np.nanmean(table.scores, axis=0)
    return [int(column) for column in np.argsort(-means, kind="stable")]


def _list_pairs(
    table: ScoreTable, n_flips: int, seed: int
) -> tuple[list[PairedDifference], list[tuple[str, str]]]:
    import numpy as np

    pairs = []
    apart = []
    columns = []
    for a, b in combinations(_best_first(table), 2):
        differences = table.scores[:, a] - table.scores[:, b]
        if np.isnan(differences).all():
            apart.append((table.llm_ids[a], table.llm_ids[b]))
        else:
            pairs.append(_describe(table, a, b))
            columns.append(np.nan_to_num(differences))
    if not pairs:
        return [], apart
    p_values = sign_flip_p_values(np.column_stack(columns), n_flips=n_flips, seed=seed).tolist()
    return [
        replace(pair, p_value=p_value, p_adjusted=p_adjusted)
        for pair, p_value, p_adjusted in zip(pairs, p_values, holm(p_values), strict=True)
    ], apart


def _describe(table: ScoreTable, a: int, b: int) -> PairedDifference:
    """Describe a pair without its p-values, which are computed for all pairs at once."""
    import numpy as np

    common = ~np.isnan(table.scores[:, a] - table.scores[:, b])
    scores_a, scores_b = table.scores[common, a], table.scores[common, b]
    differences = scores_a - scores_b
    estimate = estimate_paired_difference(differences.tolist())
    deviation = float(differences.std(ddof=1)) if estimate.n > 1 else 1.0
    return PairedDifference(
        llm_a=table.llm_ids[a],
        llm_b=table.llm_ids[b],
        mean_a=float(scores_a.mean()),
        mean_b=float(scores_b.mean()),
        difference=estimate,
        n_better=int((differences > 0).sum()),
        n_worse=int((differences < 0).sum()),
        p_value=1.0,
        p_adjusted=1.0,
        smallest_difference=smallest_difference(estimate.n, deviation),
        needed_tests=needed_tests(estimate.value, deviation),
        needed_trials=_needed_trials(table, (a, b), common, differences),
    )


def _needed_trials(
    table: ScoreTable,
    pair: tuple[int, int],
    common: NDArray[np.bool_],
    differences: NDArray[np.float64],
) -> int | None:
    n_trials = table.n_trials[common][:, pair]
    repeats = (n_trials - 1).sum(axis=0)
    if not repeats.all() or len(differences) < 2:
        return None
    variances = table.squares[common][:, pair].sum(axis=0) / repeats
    seen = float((variances / n_trials).sum(axis=1).mean())
    return needed_trials(
        float(differences.mean()),
        len(differences),
        between_variance=max(0.0, float(differences.var(ddof=1)) - seen),
        trial_variance=math.fsum(variances),
    )
