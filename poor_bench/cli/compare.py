"""`compare`: what became better or worse, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.options import (
    allowed_changes,
    comparison_options,
    rescore_option,
    selection_from,
    selection_options,
)
from poor_bench.cli.output import Column, console, harmless, json_option, plain_table, print_json
from poor_bench.command_line import examples
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
from poor_bench.errors import ConfigError
from poor_bench.messages import counted

if TYPE_CHECKING:
    from poor_bench.comparison.result_set import ResultSet


_EPILOG = examples(
    """
  {program} compare                          changes of the last run
  {program} compare previous last
  {program} compare baseline.json            a file, with the current results
  {program} compare ollama:qwen3:1.7b ollama:gemma3:1b
  {program} compare 20261121T2250 last --class 'math*' --allow prompt
"""
)


@click.command(epilog=_EPILOG)
@click.argument("before", required=False)
@click.argument("after", required=False)
@selection_options
@comparison_options
@rescore_option
@json_option
@pass_app
def command(
    app: AppContext,
    /,
    before: str | None,
    after: str | None,
    pass_mark: float,
    allow: tuple[str, ...],
    rescore: bool,
    as_json: bool,
    **filters: Any,
) -> int:
    """Compare two models or two runs: fixed, broken and unchanged tests, and significance.

    BEFORE and AFTER are each a model id or label, a run (`last`, `previous` or the beginning of
    its id), `before:RUN` (all results before that run), a file of results, or `now`. Tests whose
    prompt, parameters, model or evaluator changed are listed, not compared.
    """
    from poor_bench.comparison.compare import compare_result_sets
    from poor_bench.resolver import BEFORE, NOW, ResultSetResolver
    from poor_bench.runs.history import LAST

    opener = ResultSetResolver(app.config)
    opened = (
        opener.open(before or f"{BEFORE}{LAST}"),
        opener.open(after or (NOW if before else LAST)),
    )
    side_before, side_after = _chosen(app, opened, filters)
    if rescore:
        from poor_bench.cli.evidence import rescored_side

        side_before, side_after = (
            rescored_side(side, app.config) for side in (side_before, side_after)
        )
    comparisons = compare_result_sets(
        side_before,
        side_after,
        tests=app.workspace.tests_by_id,
        pass_score=pass_mark,
        allowed=allowed_changes(allow),
    )
    is_same = side_before.name == side_after.name
    if is_same or (not comparisons and (before or not side_after.results)):
        raise _nothing_in_common(side_before, side_after)
    if as_json:
        from poor_bench.reports.json_report import comparison_to_json

        print_json(comparison_to_json(side_before, side_after, comparisons))
    else:
        names = {llm.id: llm.label or llm.id for llm in app.workspace.llms}
        print_comparison(side_before, side_after, comparisons, names)
    return 0


def _chosen(
    app: AppContext, sides: tuple[ResultSet, ResultSet], filters: dict[str, tuple[str, ...]]
) -> tuple[ResultSet, ResultSet]:
    """Return the parts of both sides that the options choose; without options, all of them."""
    if not any(filters.values()):
        return sides
    from poor_bench.runner.selection import select

    stored = {result.llm_id for side in sides for result in side.results}
    chosen = select(app.workspace, selection_from(filters), stored)
    llm_ids = {llm.id for llm in chosen.llms} | chosen.removed_llms
    test_ids = {test.test_id for test in chosen.tests}

    def part(side: ResultSet) -> ResultSet:
        results = tuple(
            result
            for result in side.results
            if result.test_id in test_ids and (not filters["llms"] or result.llm_id in llm_ids)
        )
        return replace(side, results=results)

    return part(sides[0]), part(sides[1])


def _nothing_in_common(before: ResultSet, after: ResultSet) -> ConfigError:
    from poor_bench.comparison.messages import names_text

    if before.name == after.name:
        return ConfigError(
            f"nothing to compare: both sides are {before.name}",
            hint="Choose two different sides, such as `previous last`.",
        )
    empty = next((side for side in (before, after) if not side.results), None)
    if empty is not None:
        return ConfigError(
            f"nothing to compare: no results in {empty.name}",
            hint="Choose another side, or fewer filters.",
        )
    return ConfigError(
        f"nothing to compare: no LLM has results in both {before.name} and {after.name}",
        hint=f"before: {names_text(before.by_llm())}; after: {names_text(after.by_llm())}. "
        "Name two LLMs to compare one with the other.",
    )


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
