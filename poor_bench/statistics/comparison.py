"""All LLMs in pairs: significant differences, the ranks that they leave open, tie groups."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from poor_bench.statistics.differences import estimate_difference
from poor_bench.statistics.groups import number_groups, sum_array
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.ranking import rank_table
from poor_bench.statistics.scores import ScoreTable, build_score_table
from poor_bench.statistics.significance import (
    NeededEvidence,
    compute_sign_flip_p_values,
    holm,
    holm_factors,
    plan_evidence,
    smallest_difference,
)
from poor_bench.statistics.trials import Trials

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

_LETTERS = 26


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRange:
    """The ranks that an LLM may truly have, 1 being the best."""

    llm_id: str
    best: int
    worst: int


def compute_rank_ranges(
    llm_ids: Sequence[str], better: Collection[tuple[str, str]]
) -> list[RankRange]:
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
        >>> compute_rank_ranges(["a", "b", "c"], [("a", "c")])[1]
        RankRange(llm_id='b', best=1, worst=3)
    """
    n_won = Counter(winner for winner, _ in better)
    n_lost = Counter(loser for _, loser in better)
    return [
        RankRange(llm_id=llm_id, best=1 + n_lost[llm_id], worst=len(llm_ids) - n_won[llm_id])
        for llm_id in llm_ids
    ]


def find_tie_groups(
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
        They are what the algorithm of Piepho 2004 (see `name_tie_groups`) inserts and absorbs,
        found as the maximal cliques of all ties: Tomita, Tanaka and Takahashi 2006, "The worst-case
        time complexity for generating all maximal cliques and computational experiments",
        Theoretical Computer Science 363.

    Example:
        >>> find_tie_groups(["a", "b", "c"], [("a", "c")])
        [('a', 'b'), ('b', 'c')]
    """
    places = {llm_id: place for place, llm_id in enumerate(llm_ids)}
    tied = [(1 << len(places)) - 1 - (1 << place) for place in range(len(places))]
    for winner, loser in better:
        tied[places[winner]] &= ~(1 << places[loser])
        tied[places[loser]] &= ~(1 << places[winner])
    groups = [[*_list_places(group)] for group in _find_largest_groups(tied)] if tied else []
    return [tuple(llm_ids[place] for place in group) for group in sorted(groups)]


def _find_largest_groups(tied: Sequence[int]) -> Iterator[int]:
    """Find the groups that nothing can be added to; a set of places is a number, a bit for each.

    Args:
        tied: Place to the places that it does not differ from, itself left out.
    """
    unfinished = [(0, (1 << len(tied)) - 1, 0)]
    while unfinished:
        group, candidates, tried = unfinished.pop()
        if not candidates | tried:
            yield group
            continue
        # Each largest group has the pivot or a place that differs from it: others may wait.
        pivot = max(
            _list_places(candidates | tried),
            key=lambda place: (tied[place] & candidates).bit_count(),
        )
        for place in _list_places(candidates & ~tied[pivot]):
            bit = 1 << place
            unfinished.append((group | bit, candidates & tied[place], tried & tied[place]))
            candidates, tried = candidates & ~bit, tried | bit


def _list_places(places: int) -> Iterator[int]:
    while places:
        lowest = places & -places
        yield lowest.bit_length() - 1
        places ^= lowest


def name_tie_groups(groups: Sequence[Sequence[str]]) -> dict[str, str]:
    """Name the tie groups of each LLM: a, ..., z, aa, ab, ...

    Names are put together without a comma as long as each has one letter.

    Args:
        groups: LLM ids of each group, the best group first.

    Source:
        Piepho 2004, "An algorithm for a letter-based representation of all-pairwise comparisons",
        Journal of Computational and Graphical Statistics 13.

    Example:
        >>> name_tie_groups([("x", "y"), ("y",)])
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
    """Mean of a's score minus b's with its own 95 % interval; `n` is the number of tests, or of
    groups of tests."""
    n_tests: int
    """Common tests."""
    n_trials: float
    """Mean trials of such a test, of both."""
    n_better: int
    """Tests on which a scored more than b."""
    n_worse: int
    """Tests on which a scored less than b."""
    p_value: float
    """Of this pair alone (sign-flip permutation test)."""
    p_adjusted: float
    """Valid for all compared pairs together (Holm)."""
    smallest_difference: float
    """The smallest true difference that so many tests show in 80 % of cases, corrected for all
    compared pairs as `count_needed_tests`."""
    needed_tests: int | None
    """Common tests that show a difference as large as the one seen in 80 % of cases, corrected for
    all compared pairs; None where none is seen."""
    needed_trials: int | None
    """Trials of each of the present tests that do the same; None where these tests are too few
    however often they are tried, or where none was tried twice, so that it is not known."""

    @property
    def needed(self) -> NeededEvidence:
        """What would show a difference as large as the one seen."""
        return NeededEvidence(
            n_tests=self.n_tests,
            n_trials=self.n_trials,
            tests=self.needed_tests,
            trials=self.needed_trials,
        )

    def is_real(self, alpha: float = 0.05) -> bool:
        """True if the difference is significant, corrected for all comparisons."""
        return self.p_adjusted < alpha


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the significant differences of some LLMs leave open."""

    ranks: tuple[RankRange, ...]
    """One per LLM, best first."""
    groups: tuple[tuple[str, ...], ...]
    """Groups of LLMs that cannot be told apart; an LLM may stand in several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Standing):
    """All pairs of some LLMs, and what follows from them."""

    pairs: tuple[PairedDifference, ...]
    """Pairs with common tests; LLMs stand best first, in the order of `rank_table`."""
    apart: tuple[tuple[str, str], ...]
    """Pairs without a common scored test, which nothing is known about."""


_NO_GROUPS: Mapping[str, str | None] = {}
_NUMBERS_AT_ONCE = 1 << 21
"""Differences of pairs that are in memory at once, at most, but for a single pair."""


def compare_llms(
    trials: Trials, *, alpha: float = 0.05, groups: Mapping[str, str | None] = _NO_GROUPS
) -> Comparison:
    """Compare all LLMs in pairs on their common tests.

    Args:
        trials: Scored and failed trials in any order; failures are left out. Pass those of one
            test class to compare within it.
        alpha: Accepted chance of calling any difference real that is not, between 0 and 1.
        groups: Test id to the group of tests that it shares something with, see `Test.group`.

    Returns:
        Pairs, ranks and groups; empty where nothing was scored.

    Source:
        `compute_sign_flip_p_values`, `holm`, `estimate_difference`, `compute_rank_ranges`,
        `find_tie_groups`.

    Example:
        >>> from poor_bench.models.result import Result
        >>> scores = {"good": 1.0, "bad": 0.0}
        >>> trials = [Result(llm_id=llm, test_id=str(n), score=scores[llm])
        ...           for llm in scores for n in range(8)]
        >>> [pair] = compare_llms(trials).pairs
        >>> pair.llm_a, pair.difference.value, pair.p_value, pair.is_real()
        ('good', 1.0, 0.00390625, True)
    """
    tested = _test(trials, groups)
    pairs, standing = tuple(_describe_pairs(tested)), _find_standing(tested, alpha)
    return Comparison(pairs=pairs, apart=tested.apart, ranks=standing.ranks, groups=standing.groups)


def find_standing(
    trials: Trials, *, alpha: float = 0.05, groups: Mapping[str, str | None] = _NO_GROUPS
) -> Standing:
    """Find ranks and tie groups as `compare_llms` does, without the figures of each pair."""
    return _find_standing(_test(trials, groups), alpha)


class _Tested(NamedTuple):
    """Pairs of columns with common tests: sum of their differences, and its p-value."""

    table: ScoreTable
    best_first: tuple[str, ...]
    of_tests: Sequence[str | None] | None
    pairs: Sequence[tuple[int, int]]
    apart: tuple[tuple[str, str], ...]
    sums: Sequence[float]
    p_values: Sequence[float]


def _test(trials: Trials, groups: Mapping[str, str | None]) -> _Tested:
    import numpy as np

    table = build_score_table(trials)
    order = rank_table(table).llm_ids
    columns = {llm_id: column for column, llm_id in enumerate(table.llm_ids)}
    table = table.order_by_llm()
    named = [groups.get(test_id) for test_id in table.test_ids]
    of_tests = named if any(named) else None  # numbering so many tests takes time
    known = ~np.isnan(table.scores)
    pairs, apart = list[tuple[int, int]](), list[tuple[str, str]]()
    for a, b in combinations([columns[llm_id] for llm_id in order], 2):
        if (known[:, a] & known[:, b]).any():
            pairs.append((a, b))
        else:
            apart.append((table.llm_ids[a], table.llm_ids[b]))
    sums, p_values = _test_pairs(table, pairs, of_tests)
    return _Tested(table, order, of_tests, pairs, tuple(apart), sums, p_values)


def _find_standing(tested: _Tested, alpha: float) -> Standing:
    names, better = tested.table.llm_ids, []
    chances = zip(tested.pairs, tested.sums, holm(tested.p_values), strict=True)
    for (a, b), total, p_adjusted in chances:
        if p_adjusted < alpha:
            winner, loser = (a, b) if total > 0 else (b, a)
            better.append((names[winner], names[loser]))
    return Standing(
        ranks=tuple(compute_rank_ranges(tested.best_first, better)),
        groups=tuple(find_tie_groups(tested.best_first, better)),
    )


def _describe_pairs(tested: _Tested) -> Iterator[PairedDifference]:
    import numpy as np

    of_tests, p_values = tested.of_tests, tested.p_values
    units = np.array(number_groups(len(of_tests), of_tests)) if of_tests else None
    is_repeated = bool((tested.table.n_trials > 1).any())
    chances = zip(p_values, holm(p_values), holm_factors(p_values), strict=True)
    for pair, chance in zip(tested.pairs, chances, strict=True):
        yield _describe(tested.table, pair, units, *chance, is_repeated=is_repeated)


def _test_pairs(
    table: ScoreTable, pairs: Sequence[tuple[int, int]], of_tests: Sequence[str | None] | None
) -> tuple[list[float], list[float]]:
    """Compute sum and p-value of each pair; not all differences are in memory at once."""
    import numpy as np

    width = max(1, _NUMBERS_AT_ONCE // max(1, len(table.scores)))
    sums, p_values = list[float](), list[float]()
    for start in range(0, len(pairs), width):
        columns = np.empty((len(pairs[start : start + width]), len(table.scores)))
        for column, (a, b) in zip(columns, pairs[start : start + width], strict=True):
            np.subtract(table.scores[:, a], table.scores[:, b], column)
        columns[np.isnan(columns)] = 0.0
        sums += columns.sum(axis=1).tolist()
        p_values += compute_sign_flip_p_values(columns.T, groups=of_tests).tolist()
    return sums, p_values


_ONCE: tuple[ArrayLike, ArrayLike] = [[1, 1]], [[0.0, 0.0]]
"""Trials and squares of any number of tests that were run once."""


def _describe(
    table: ScoreTable,
    pair: tuple[int, int],
    units: NDArray[np.int64] | None,
    p_value: float,
    p_adjusted: float,
    factor: int,
    *,
    is_repeated: bool,
) -> PairedDifference:
    import numpy as np

    own, other = (table.scores[:, column] for column in pair)
    known = ~np.isnan(own + other)
    common = slice(None) if known.all() else np.flatnonzero(known)
    own, other = own[common], other[common]
    differences = own - other
    trials, squares = _ONCE  # of very many tests, copying the same figures takes time
    if is_repeated:
        trials, squares = (part[:, pair][common] for part in (table.n_trials, table.squares))
    needed = plan_evidence(differences, trials, squares, factor=factor)
    sums = sum_array(differences, None if units is None else units[common])
    # Their standard deviation, without another look at very many of them.
    deviation = math.sqrt(sums.squares / (sums.n_tests - 1)) if sums.n_tests > 1 else 1.0
    return PairedDifference(
        llm_a=table.llm_ids[pair[0]],
        llm_b=table.llm_ids[pair[1]],
        mean_a=float(own.mean()),
        mean_b=float(other.mean()),
        difference=estimate_difference(sums),
        n_tests=needed.n_tests,
        n_trials=needed.n_trials,
        n_better=int(np.count_nonzero(differences > 0)),
        n_worse=int(np.count_nonzero(differences < 0)),
        p_value=p_value,
        p_adjusted=p_adjusted,
        smallest_difference=smallest_difference(len(differences), deviation, alpha=0.05 / factor),
        needed_tests=needed.tests,
        needed_trials=needed.trials,
    )
