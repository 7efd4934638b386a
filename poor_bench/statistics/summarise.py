"""From trials to one row of figures per LLM, class or level: the definition of each sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from poor_bench.models.test import Test
from poor_bench.statistics.groups import find_groups, sum_if_whole
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.means import estimate_mean, mean_score
from poor_bench.statistics.summarise_results import RATES, SORTED, TOTALS, build_figures
from poor_bench.statistics.summary import Group, GroupBy, Summary
from poor_bench.statistics.trials import (
    Cells,
    TrialColumns,
    Trials,
    collect_columns,
    find_newer_failures,
    number_cells,
    number_codes,
    order_codes,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def summarise(
    trials: Trials,
    *,
    tests: Mapping[str, Test] | None = None,
    by: GroupBy = GroupBy.LLM,
    pass_score: float = 1.0,
    parts: TestParts | None = None,
) -> list[Summary]:
    """Compute one row of figures per LLM, or per LLM and class or level.

    Args:
        trials: Scored and failed trials in any order; each trial once.
        tests: Test id to test, for rows by class or level and for groups of tests; results of
            other tests count as of class "" and level 0.
        by: What one row stands for.
        pass_score: From which score on a trial is passed, above 0 to 1.
        parts: Of the tests, where they were found before; of other trials with the same codes, too.

    Returns:
        Rows in the order in which their groups first appear in `trials`.

    Raises:
        ValueError: If `pass_score` is out of range.

    Example:
        >>> from poor_bench.models.result import Result
        >>> trials = [Result(llm_id="a", test_id=str(n), score=n % 2) for n in range(10)]
        >>> [row] = summarise(trials)
        >>> row.group.llm_id, row.score.value, round(row.score.low, 2), row.n_passed
        ('a', 0.5, 0.2, 5)
    """
    if not 0 < pass_score <= 1:
        raise ValueError(f"pass_score must be above 0 and at most 1, not {pass_score}")
    table = collect_columns(trials)
    grouped = _group(table, parts or find_test_parts(table, tests or {}, by))
    fields = (
        _score_tests(table, grouped, tests or {}, pass_score),
        _count_trials(table, grouped),
        _sum_figures(table, grouped),
    )
    return [
        Summary(group=group, **scores, **counts, **sums)
        for group, scores, counts, sums in zip(grouped.groups, *fields, strict=True)
    ]


_Fields = dict[str, Any]
"""Fields of the summary of one group."""


@dataclass(frozen=True, slots=True)
class _Grouped:
    """Groups in order of first appearance, and the group of each entry."""

    groups: Sequence[Group]
    numbers: NDArray[np.int64]

    def count(self, is_counted: NDArray[np.bool_]) -> list[int]:
        """Count entries of each group."""
        import numpy as np

        counts: list[int] = np.bincount(self.numbers[is_counted], minlength=len(self)).tolist()
        return counts

    def split(self, values: Floats) -> list[Floats]:
        """Sort the values that are there by group, each group in ascending order."""
        import numpy as np

        is_told = ~np.isnan(values)
        return [np.sort(part) for part in _split(values[is_told], self.numbers[is_told], len(self))]

    def __len__(self) -> int:
        return len(self.groups)


class TestParts(NamedTuple):
    """Class and level of tests, as far as they tell rows apart."""

    parts: Sequence[tuple[str | None, int | None]]
    of_test: NDArray[np.int64] | None
    """Place of the part of each code of a test; None where all tests are alike."""


def find_test_parts(table: TrialColumns, tests: Mapping[str, Test], by: GroupBy) -> TestParts:
    """Find the parts of the tests that occur; many selections of a table can share them."""
    import numpy as np

    if by is GroupBy.LLM:  # looking at each of very many takes time
        return TestParts([(None, None)], None)
    parts: dict[tuple[str | None, int | None], int] = {}
    known = order_codes(table.columns["test_id"])
    of_test = np.zeros(max(known, default=-1) + 1, dtype=np.int64)
    names = (table.values["test_id"][code] for code in known)
    found = [parts.setdefault(_find_part(tests.get(name), by), len(parts)) for name in names]
    of_test[known] = found
    return TestParts([*parts], of_test)


def _group(table: TrialColumns, parts: TestParts) -> _Grouped:
    llms, llm_of = number_codes(table.columns["llm_id"])
    n_parts = len(parts.parts)
    if parts.of_test is not None:
        llm_of = llm_of * n_parts + parts.of_test[table.columns["test_id"]]
    used, numbers = number_codes(llm_of)
    groups = []
    for code in used:
        llm, part = divmod(code, n_parts)
        class_id, level = parts.parts[part]
        llm_id = table.values["llm_id"][llms[llm]]
        groups.append(Group(llm_id=llm_id, class_id=class_id, level=level))
    return _Grouped(groups, numbers)


def _find_part(test: Test | None, by: GroupBy) -> tuple[str | None, int | None]:
    class_id, level = (test.class_id, test.level) if test else ("", 0)
    return (
        class_id if by in {GroupBy.LLM_CLASS, GroupBy.LLM_CLASS_LEVEL} else None,
        level if by in {GroupBy.LLM_LEVEL, GroupBy.LLM_CLASS_LEVEL} else None,
    )


def _split(values: NDArray[Any], numbers: NDArray[np.int64], n_groups: int) -> list[NDArray[Any]]:
    """Split values by the numbers of their groups."""
    import numpy as np

    order = np.argsort(numbers, kind="stable")
    ends = np.bincount(numbers, minlength=n_groups).cumsum()
    return np.split(values[order], ends[:-1])[:n_groups]


def _score_tests(
    table: TrialColumns, grouped: _Grouped, tests: Mapping[str, Test], pass_score: float
) -> Iterator[_Fields]:
    """Score and pass rate of each group; the unit is the test, its trials are averaged first."""
    import numpy as np

    cells = number_cells(table)
    score = table.columns["score"][cells.entries]
    n_trials = np.bincount(cells.places, minlength=cells.n_cells)
    used = np.flatnonzero(n_trials)
    group_of = np.zeros(cells.n_cells, dtype=np.int64)
    group_of[cells.places] = grouped.numbers[cells.entries]

    def average(values: NDArray[Any]) -> list[NDArray[Any]]:
        sums = np.bincount(cells.places, weights=values, minlength=cells.n_cells)
        return _split((sums / np.maximum(n_trials, 1))[used], group_of[used], len(grouped))

    is_passed = score >= pass_score
    n_passed = np.bincount(grouped.numbers[cells.entries[is_passed]], minlength=len(grouped))
    names = find_groups(cells.test_ids, tests) if tests else None
    tests_of = _split(used // max(1, len(cells.llm_ids)), group_of[used], len(grouped))
    columns = average(score), average(is_passed), tests_of, n_passed.tolist()
    strict = _average_strict(table, cells, group_of, len(grouped))
    for scored, passed, own_tests, n, of_strict in zip(*columns, strict, strict=True):
        own = names and [names[test] for test in own_tests.tolist()]
        mean = _average_tests(scored, own) if len(scored) else None
        is_alike = np.array_equal(passed, scored)
        yield {
            "n_tests": len(scored),
            "n_passed": n,
            "score": mean,
            **of_strict,
            "pass_rate": mean if is_alike else _average_tests(passed, own),
        }


def _average_tests(scores: Floats, groups: list[str | None] | None) -> Estimate:
    """Do what `mean_score` does, at once for very many tests that all score 0 or 1."""
    sums = sum_if_whole(scores) if groups is None else None
    return mean_score(scores.tolist(), groups) if sums is None else estimate_mean(sums)


def _average_strict(
    table: TrialColumns, cells: Cells, group_of: NDArray[np.int64], n_groups: int
) -> list[_Fields]:
    """Average strict scores over tests, of the trials whose strict score is known."""
    import numpy as np

    is_told = table.tells_form[cells.entries]
    entries, places = cells.entries[is_told], cells.places[is_told]
    score, strict = (table.columns[name][entries] for name in ("score", "strict_score"))
    strict = np.where(np.isnan(strict), score, strict)
    n_trials = np.bincount(places, minlength=cells.n_cells)
    used = np.flatnonzero(n_trials)

    def average(values: NDArray[Any]) -> list[float]:
        sums = np.bincount(places, weights=values, minlength=cells.n_cells)[used]
        means = sums / n_trials[used]
        of_groups: list[float] = np.bincount(
            group_of[used], weights=means, minlength=n_groups
        ).tolist()
        return of_groups

    n_tests = np.bincount(group_of[used], minlength=n_groups).tolist()
    sums = zip(average(strict), average(score - strict), n_tests, strict=True)
    return [
        {"strict_score": kept / n, "format_tax": lost / n, "n_strict": n}
        if n
        else {"strict_score": None}
        for kept, lost, n in sums
    ]


def _count_trials(table: TrialColumns, grouped: _Grouped) -> list[_Fields]:
    """Count how trials ended, each trial once.

    A trial with a stored score is scored, even if a newer attempt failed.
    """
    import numpy as np

    is_scored, is_newer = table.is_scored, find_newer_failures(table)
    is_failed = ~is_scored & ~is_newer
    last_trial = np.ones(len(grouped), dtype=np.int64)
    np.maximum.at(last_trial, grouped.numbers, table.columns["trial"])
    failures = _tally(grouped, table, "failure_kind", np.flatnonzero(is_failed))
    marks: list[Counter[str]] = []
    for found in _tally(grouped, table, "marks", np.flatnonzero(is_scored)):
        marks.append(Counter())
        for names, count in found.items():
            for name in names:
                marks[-1][name] += count
    columns: dict[str, list[Any]] = {
        "n_scored": grouped.count(is_scored),
        "n_asked": _count_tests(grouped, table),
        "last_trial": last_trial.tolist(),
        "n_failed": grouped.count(is_failed),
        "n_newer_failed": grouped.count(is_newer),
        "failures": [dict(counter.most_common()) for counter in failures],
        "marks": [dict(counter.most_common()) for counter in marks],
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _count_tests(grouped: _Grouped, table: TrialColumns) -> list[int]:
    """Count the tests of each group that were asked."""
    import numpy as np

    n_tests = max(1, len(table.values["test_id"]))
    pairs = grouped.numbers * n_tests + table.columns["test_id"]
    if n_tests * len(grouped) <= 8 * len(table):  # faster than sorting, where it is not much memory
        is_asked = np.zeros((len(grouped), n_tests), dtype=np.bool_)
        is_asked.reshape(-1)[pairs] = True
        return [int(n) for n in is_asked.sum(axis=1)]
    pairs.sort()
    is_first = np.diff(pairs, prepend=-1) != 0
    counts: list[int] = np.bincount(pairs[is_first] // n_tests, minlength=len(grouped)).tolist()
    return counts


def _tally(
    grouped: _Grouped, table: TrialColumns, field: str, entries: NDArray[np.int64]
) -> list[Counter[Any]]:
    """Count the values of a field in each group; those that say nothing are left out."""
    import numpy as np

    values = table.values[field]
    keys = grouped.numbers[entries] * len(values) + table.columns[field][entries]
    counters: list[Counter[Any]] = [Counter() for _ in grouped.groups]
    for key, count in zip(
        *(part.tolist() for part in np.unique(keys, return_counts=True)), strict=True
    ):
        number, code = divmod(key, len(values))
        if values[code]:
            counters[number][values[code]] = count
    return counters


def _compute_figures(table: TrialColumns) -> dict[str, Floats]:
    """Compute what each trial adds to each figure; NaN where it does not count."""
    import numpy as np

    is_scored = table.is_scored
    read = {name: _keep(table.columns[name], is_scored) for name in _OF_SCORED}
    total, decode = read["execution_time_ms"], read["decode_ms"]
    has_parts = ~np.isnan(total) & ~np.isnan(decode)
    cached = np.nan_to_num(read["cached_tokens"])
    fresh = np.maximum(0.0, read["prompt_tokens"] - cached)
    figures = {
        "cost_usd": table.columns["cost_usd"],  # of failed trials, too
        "judge_cost_usd": table.columns["judge_cost_usd"],
        **{name: read[name] for name in TOTALS if name in read},
        **{name: read[name] for name in ("first_token_ms", "memory_bytes", "gpu_share")},
        "load_ms": _keep(read["load_ms"], read["load_ms"] > 0),
        "execution_time_ms": total,
        "parts_ms": _keep(total, has_parts),
        "decode_ms": _keep(decode, has_parts),
        "queue_ms": _keep(np.nan_to_num(read["queue_ms"]), has_parts),
        "prefill_ms": _keep(np.nan_to_num(read["prefill_ms"]), has_parts),
        "thinking_ms": _keep(decode * np.nan_to_num(read["thinking_share"]), has_parts),
    }
    pairs = (read["completion_tokens"], total), (read["completion_tokens"], decode)
    for name, (tokens, time_ms) in zip(RATES, (*pairs, (fresh, read["prefill_ms"])), strict=True):
        has_both = (tokens > 0) & (time_ms > 0)
        figures[name] = _keep(tokens, has_both)
        figures[f"{name}_ms"] = _keep(time_ms, has_both)
    return figures


_OF_SCORED = (
    "execution_time_ms", "first_token_ms", "load_ms", "queue_ms", "prefill_ms", "decode_ms",
    "thinking_share", "prompt_tokens", "cached_tokens", "completion_tokens", "thinking_tokens",
    "memory_bytes", "gpu_share",
)  # fmt: skip


def _keep(values: Floats, is_kept: NDArray[np.bool_]) -> Floats:
    import numpy as np

    return values if is_kept.all() else np.where(is_kept, values, np.nan)


def _sum_figures(table: TrialColumns, grouped: _Grouped) -> Iterator[_Fields]:
    """Sum over the trials of each group that report a figure, and count these."""
    import numpy as np

    figures = _compute_figures(table)
    nothing, no_trial = np.zeros(len(grouped)), np.zeros(len(grouped), dtype=np.int64)
    sums: list[NDArray[Any]] = []
    counts: list[NDArray[Any]] = []
    for reported in figures.values():
        is_told = ~np.isnan(reported)
        if not is_told.any():  # most figures of most tables
            sums.append(nothing)
            counts.append(no_trial)
            continue
        numbers, values = grouped.numbers, reported
        if not is_told.all():
            numbers, values = numbers[is_told], values[is_told]
        sums.append(np.bincount(numbers, weights=values, minlength=len(grouped)))
        counts.append(np.bincount(numbers, minlength=len(grouped)))
    rows = np.transpose(sums).tolist(), np.transpose(counts).tolist()
    ordered = (grouped.split(figures[name]) for name in SORTED)
    for of_sums, of_counts, *values_of in zip(*rows, *ordered, strict=True):
        total = dict(zip(figures, of_sums, strict=True))
        n_told = dict(zip(figures, of_counts, strict=True))
        lists = (values.tolist() for values in values_of)
        yield build_figures(total, n_told, dict(zip(SORTED, lists, strict=True)))
