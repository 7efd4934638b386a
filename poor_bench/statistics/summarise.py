"""From results to the rows that console, reports and dashboard show.

Nothing here needs numpy or scipy, and results may come from an iterator: one pass, in memory a few
numbers per LLM and test.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.mean_score import mean_score
from poor_bench.statistics.percentile import percentile
from poor_bench.statistics.summary import Group, GroupBy, Summary, TimeSummary
from poor_bench.statistics.tally import Tally

_UNKNOWN = ("", 0)


class Summariser:
    """Takes results one by one and gives rows at any time, grouped in any way.

    Args:
        tests: Test id to test, for rows by class or level; results of other tests count as of
            class "" and level 0.
        pass_score: From which score on a trial is passed, above 0 to 1.

    Raises:
        ValueError: If `pass_score` is out of range.
    """

    def __init__(self, tests: Mapping[str, Test] | None = None, *, pass_score: float = 1.0) -> None:
        if not 0 < pass_score <= 1:
            raise ValueError(f"pass_score must be above 0 and at most 1, not {pass_score}")
        self._places = {key: (test.class_id, test.level) for key, test in (tests or {}).items()}
        self._pass_score = pass_score
        self._tallies: dict[tuple[str, str, int], Tally] = {}

    def add(self, result: Result) -> None:
        """Take one result; a trial must not come twice."""
        key = (result.llm_id, *self._places.get(result.test_id, _UNKNOWN))
        tally = self._tallies.get(key)
        if tally is None:
            tally = self._tallies[key] = Tally()
        tally.add(result, self._pass_score)

    def rows(self, by: GroupBy = GroupBy.LLM) -> list[Summary]:
        """Return one row per group, in the order in which the groups first appeared."""
        merged: dict[Group, Tally] = {}
        for key, tally in self._tallies.items():
            merged.setdefault(_group_of(key, by), Tally()).merge(tally)
        return [_summary_of(group, tally) for group, tally in merged.items()]


def summarise(
    results: Iterable[Result],
    *,
    tests: Mapping[str, Test] | None = None,
    by: GroupBy = GroupBy.LLM,
    pass_score: float = 1.0,
) -> list[Summary]:
    """Return one row of figures per LLM, or per LLM and class or level.

    Args:
        results: Scored and failed trials in any order; each trial once.
        tests: Test id to test; needed for rows by class or level.
        by: What one row stands for.
        pass_score: From which score on a trial is passed, above 0 to 1.

    Returns:
        Rows in the order in which their groups first appear in `results`.

    Raises:
        ValueError: If `pass_score` is out of range.

    Example:
        >>> trials = [Result(llm_id="a", test_id=str(n), score=n % 2) for n in range(10)]
        >>> [row] = summarise(trials)
        >>> row.group.llm_id, row.score.value, round(row.score.low, 2), row.n_passed
        ('a', 0.5, 0.24, 5)
    """
    summariser = Summariser(tests, pass_score=pass_score)
    for result in results:
        summariser.add(result)
    return summariser.rows(by)


def _group_of(key: tuple[str, str, int], by: GroupBy) -> Group:
    llm_id, class_id, level = key
    return Group(
        llm_id=llm_id,
        class_id=class_id if by in {GroupBy.LLM_CLASS, GroupBy.LLM_CLASS_LEVEL} else None,
        level=level if by in {GroupBy.LLM_LEVEL, GroupBy.LLM_CLASS_LEVEL} else None,
    )


def _summary_of(group: Group, tally: Tally) -> Summary:
    tests = tally.tests.values()
    strict = [test.strict / test.n for test in tests]
    counts = tally.counts()
    return Summary(
        group=group,
        n_tests=len(tests),
        n_scored=counts.n_scored,
        n_failed=counts.n_failed,
        n_newer_failed=counts.n_newer_failed,
        n_passed=sum(test.n_passed for test in tests),
        score=mean_score([test.score / test.n for test in tests]) if tests else None,
        strict_score=sum(strict) / len(strict) if strict else None,
        pass_rate=mean_score([test.n_passed / test.n for test in tests]) if tests else None,
        time=_time_of(sorted(tally.times_ms)),
        prompt_tokens=tally.prompt_tokens,
        completion_tokens=tally.completion_tokens,
        tokens_per_s=_per_second(tally.timed_tokens, tally.timed_ms),
        generation_tokens_per_s=_per_second(tally.generated_tokens, tally.generation_ms),
        cost_usd=tally.cost_usd if tally.has_cost else None,
        judge_cost_usd=tally.judge_cost_usd if tally.has_judge_cost else None,
        marks=dict(tally.marks.most_common()),
        failures=counts.failures,
    )


def _per_second(tokens: int, milliseconds: float) -> float | None:
    return tokens / milliseconds * 1000 if milliseconds else None


def _time_of(ordered_ms: list[float]) -> TimeSummary | None:
    if not ordered_ms:
        return None
    return TimeSummary(
        mean_ms=sum(ordered_ms) / len(ordered_ms),
        median_ms=percentile(ordered_ms, 0.5),
        p95_ms=percentile(ordered_ms, 0.95),
    )
