"""How a comparison looks on a console."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from poor_bench.cli.output import Column, console, harmless, plain_table
from poor_bench.comparison.compare import ComparedGroup, LLMComparison
from poor_bench.comparison.compared_tests import ComparedTest, ScoreChange
from poor_bench.comparison.messages import (
    apart_lines,
    explain_mismatches,
    mismatches_text,
    names_text,
    p_text,
    power_text,
    suggest_options,
    verdict,
)
from poor_bench.comparison.result_set import ResultSet
from poor_bench.messages import counted

_COLUMNS: tuple[Column, ...] = (
    "Tests of",
    *((heading, "right") for heading in ("n", "Before", "After", "Change", "95 % CI", "p")),
    *((heading, "right") for heading in ("Fixed", "Broken", "Better", "Worse")),
)
_NARROW, _NARROW_COLUMNS = 100, 7
"""On a terminal with fewer characters, only the first columns have room."""
_COUNTED = (ScoreChange.FIXED, ScoreChange.BROKEN, ScoreChange.BETTER, ScoreChange.WORSE)
_SIGNS = {"better": " ▲", "worse": " ▼"}
_LISTED = (
    ("Broken", (ScoreChange.BROKEN,)),
    ("Fixed", (ScoreChange.FIXED,)),
    ("Scored less", (ScoreChange.WORSE,)),
    ("Scored more", (ScoreChange.BETTER,)),
)


def print_comparison(
    before: ResultSet,
    after: ResultSet,
    comparisons: Sequence[LLMComparison],
    names: Mapping[str, str],
) -> None:
    """Print what became of every LLM.

    Args:
        before: What is compared with.
        after: What is compared.
        comparisons: One per pair of LLMs.
        names: LLM id to what screens call it.
    """
    _say(f"Before: {before.name}\nAfter:  {after.name}")
    for comparison in comparisons:
        _print_llm(comparison, names)
    for line in apart_lines(before, after, lambda llm_id: names.get(llm_id, llm_id)):
        _say(f"\n{line}")
    if len(comparisons) > 1:
        _say("\nIntervals are of each line alone; p holds for all lines of a kind together.")


def _print_llm(comparison: LLMComparison, names: Mapping[str, str]) -> None:
    name = names.get(comparison.llm_after, comparison.llm_after)
    if comparison.llm_before != comparison.llm_after:
        name = f"{names.get(comparison.llm_before, comparison.llm_before)} -> {name}"
    _say(f"\n{name}")
    groups = [*_groups_of(comparison), *comparison.by_change]
    if groups:
        _print_groups(groups)
    for line in (*_outcome_lines(comparison), *_reservations(comparison)):
        _say(line)
    _say(_times_line(comparison))


def _print_groups(groups: Sequence[ComparedGroup]) -> None:
    """Print a line per group; a column that is empty in every line is left out."""
    out = console()
    rows = [_row(group) for group in groups]
    n_columns = len(_COLUMNS) if out.width >= _NARROW else _NARROW_COLUMNS
    used = [index for index in range(n_columns) if any(row[index] for row in rows)]
    columns = [_COLUMNS[index] for index in used]
    out.print(plain_table(columns, [[row[index] for index in used] for row in rows]))


def _groups_of(comparison: LLMComparison) -> list[ComparedGroup]:
    """Return the whole first, then its classes unless there is only one."""
    whole = [comparison.overall] if comparison.overall else []
    return [*whole, *(comparison.by_class if len(comparison.by_class) > 1 else ())]


def _row(group: ComparedGroup) -> list[str]:
    estimate = group.difference
    return [
        _scope(group),
        str(len(group.tests)),
        f"{group.mean_before:.3f}",
        f"{group.mean_after:.3f}",
        f"{estimate.value:+.3f}{_SIGNS.get(verdict(group), '')}",
        f"{estimate.low:+.2f}..{estimate.high:+.2f}",
        p_text(group.p_adjusted),
        *(str(group.count(outcome) or "") for outcome in _COUNTED),
    ]


def _scope(group: ComparedGroup) -> str:
    if group.changes:
        return f"({mismatches_text(group.changes)})"
    return "all" if group.class_id is None else group.class_id or "(unknown class)"


def _outcome_lines(comparison: LLMComparison) -> list[str]:
    lines = [explain_mismatches(comparison)] if explain_mismatches(comparison) else []
    if comparison.overall is None:
        lines = lines or ["No test is comparable."]
    else:
        counts = ", ".join(f"{comparison.overall.count(item)} {item.value}" for item in ScoreChange)
        lines.append(f"Overall: {verdict(comparison.overall)}; {counts}.")
        if power_text(comparison.overall):
            lines.append(power_text(comparison.overall))
        lines += _listed_tests(comparison.overall)
    for group in comparison.by_change:
        lines += _listed_tests(group)
    return lines


def _listed_tests(group: ComparedGroup) -> list[str]:
    """Return the tests of a group by what became of them."""
    scope = f" ({mismatches_text(group.changes)})" if group.changes else ""
    return [
        f"{title}{scope}: {names_text([_test_text(test) for test in tests])}"
        for title, outcomes in _LISTED
        if (tests := group.with_outcome(*outcomes))
    ]


def _test_text(test: ComparedTest) -> str:
    return f"{test.test_id} ({test.before or 0:.2f} -> {test.after or 0:.2f})"


def _reservations(comparison: LLMComparison) -> list[str]:
    """Return what was not compared, and what was compared with reservations."""
    lines = [
        f"Compared although {change.text}: {counted(count, 'test')}"
        for change, count in comparison.despite_changes().items()
    ]
    if comparison.n_unverified:
        lines.append(
            f"{counted(comparison.n_unverified, 'test')} with older results, which do not tell "
            "whether prompt or evaluator changed"
        )
    for reasons, test_ids in comparison.not_comparable().items():
        hint = f"  [{suggest_options(reasons)}]" if suggest_options(reasons) else ""
        lines.append(
            f"Not compared, {mismatches_text(reasons)}: {counted(len(test_ids), 'test')} "
            f"({names_text(test_ids, limit=4)}){hint}"
        )
    return lines


def _times_line(comparison: LLMComparison) -> str:
    times = comparison.times.times
    if times is None:
        return f"Times are not compared: {comparison.times.problem}"
    ratio = times.ratio
    return (
        f"Time: median {times.median_before_ms / 1000:.2f} s -> "
        f"{times.median_after_ms / 1000:.2f} s, p95 {times.p95_before_ms / 1000:.2f} s -> "
        f"{times.p95_after_ms / 1000:.2f} s; per test x{ratio.value:.2f} "
        f"({ratio.low:.2f} to {ratio.high:.2f})"
    )


def _say(line: str) -> None:
    click.echo(harmless(line))
