"""`compare`: what became better or worse, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from poor_bench import metrics
from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.options import (
    comparison_options,
    cost_options,
    count_option,
    read_allowed_changes,
    read_selection,
    selection_options,
)
from poor_bench.cli.output import console, json_option, needs_rich, print_json, print_table, say
from poor_bench.cli.process import prepare_to_look
from poor_bench.cli.sandbox import sandbox_option
from poor_bench.command_line import write_examples
from poor_bench.comparison.compare import ComparedGroup, LLMComparison, compare_result_sets
from poor_bench.comparison.compared_tests import ComparedTest, ComparedTests, ScoreChange
from poor_bench.comparison.messages import (
    describe_mismatches,
    describe_power,
    explain_mismatches,
    list_unpaired_lines,
    suggest_options,
    verdict,
    write_p_value,
)
from poor_bench.comparison.result_set import ResultSet
from poor_bench.errors import ConfigError
from poor_bench.messages import join_names, stale_text, write_count

if TYPE_CHECKING:
    from poor_bench.runner.stale import StaleCheck

_EPILOG = write_examples(
    """
  {program} compare                          changes of the last run
  {program} compare previous last
  {program} compare baseline.json            a file, with the current results
  {program} compare ollama:qwen3:1.7b ollama:gemma3:1b
  {program} compare 20261121T2250 last --class 'math*' --allow prompt
  {program} compare ollama:qwen3:1.7b@run:previous ollama:qwen3:1.7b@run:last
  {program} compare --why --dry-run          what changed, and how many re-runs tell it apart
  {program} compare previous last --why      re-run with single changes taken back
"""
)


@click.command(epilog=_EPILOG)
@click.argument("before", required=False)
@click.argument("after", required=False)
@selection_options
@comparison_options
@click.option(
    "--rescore", is_flag=True, help="Score both sides again with the current evaluators first."
)
@click.option(
    "--why",
    is_flag=True,
    help="Attribute the change of each model to prompt hunks, parameters, evaluator, model digest, "
    "server or machine, by the fewest re-runs.",
)
@count_option(
    "--max-calls",
    default=None,
    hint="With --why: most re-runs of a model. Default: a quarter of all combinations.",
)
@cost_options
@sandbox_option
@json_option
@pass_app
def command(
    app: AppContext,
    /,
    before: str | None,
    after: str | None,
    pass_score: float,
    allow: tuple[str, ...],
    rescore: bool,
    why: bool,
    as_json: bool,
    **filters: Any,
) -> int:
    """Compare two models or two runs: fixed, broken and unchanged tests, and significance.

    BEFORE and AFTER are each a model id or label, a run (`last`, `previous` or the beginning of
    its id), `before:RUN` (all results before that run), a file of results, or `now`; or one run,
    prompt version or set of parameters of a model: MODEL@run:RUN, MODEL@prompt:VERSION,
    MODEL@parameters:VERSION, as on page Compare. Tests whose prompt, parameters, model or evaluator
    changed are listed, not compared.

    --why re-runs tests with some changes reverted. Prompts come from the stored results. Its
    re-runs are kept in `autopsies/`, apart from the results, and the next --why reuses them.
    """
    from poor_bench.resolver import BEFORE, NOW, ResultSetResolver
    from poor_bench.results.store import without_collector
    from poor_bench.runs.history import LAST

    limits = {name: filters.pop(name) for name in ("max_calls", "max_cost", "dry_run")}
    if not why and any(limits.values()):
        raise click.UsageError("--max-calls, --max-cost and --dry-run need --why")
    if not (why or rescore):
        prepare_to_look()
    resolver = ResultSetResolver(app.config, filters["llms"])
    names = before or f"{BEFORE}{LAST}", after or (NOW if before else LAST)
    # A model counts as one that a side lacks only by what is chosen.
    chosen = [*resolver.open_both(*names, of_all_models=any(filters.values()))]
    if any(filters.values()):
        chosen = _select(app, chosen, filters)
    if why:
        from poor_bench.cli.compare_why import WhyOptions, explain_change

        if chosen[0].name == chosen[1].name:
            raise _explain_nothing_in_common(*chosen)
        options = WhyOptions(**limits)
        return explain_change(app, chosen[0], chosen[1], options, as_json=as_json)
    if rescore:
        from poor_bench.cli.evidence import rescore_result_set

        chosen = [rescore_result_set(results, app.config) for results in chosen]
    old, new = chosen
    with without_collector():
        comparisons = compare_result_sets(
            old,
            new,
            tests=app.workspace.tests_by_id,
            pass_score=pass_score,
            allowed=read_allowed_changes(allow),
        )
    is_same = old.name == new.name
    if is_same or (not comparisons and (before or not new.results)):
        raise _explain_nothing_in_common(old, new)
    if as_json:
        from poor_bench.reports.json_report import comparison_to_json

        print_json(comparison_to_json(old, new, comparisons) | _count_stale(app, old, new))
    else:
        print_comparison(old, new, comparisons, app.llm_names)
        n_stale = sum(_count_stale(app, old, new).values())
        if n_stale:
            known, both = app.workspace.tests_by_id, (*old.results, *new.results)
            n_scored = sum(each.score is not None and each.test_id in known for each in both)
            say(f"\n{stale_text(n_stale, n_scored)}.")
    return 0


def _count_stale(app: AppContext, before: ResultSet, after: ResultSet) -> dict[str, int]:
    """Count the stale scores of both sides, by the key of the JSON output."""
    from poor_bench.runner.stale import StaleCheck

    check, is_large = StaleCheck(app.config), app.config.store.is_large()
    stored = {name for side in (before, after) if side.is_present for name in side.list_read()}
    stale = _list_stale(app, check, stored) if stored and is_large else []

    def count(side: ResultSet) -> int:
        if not (side.is_present and is_large):
            return len(check.find(side.results))
        tests = side.list_tests()
        return sum(test_id in tests.get(llm_id, ()) for llm_id, test_id in stale)

    return {"n_stale_before": count(before), "n_stale_after": count(after)}


def _list_stale(
    app: AppContext, check: StaleCheck, llm_ids: Collection[str]
) -> list[tuple[str, str]]:
    """List model and test of each stored score that is stale; what was found before is kept."""
    from poor_bench.results.figures import without_removed

    table = without_removed(app.config.store.table(), app.workspace.tests_by_id, generation=0)
    stale = check.find_rows(table, llm_ids).rows.tolist()
    return [(table.value("llm_id", row), table.value("test_id", row)) for row in stale]


def _select(
    app: AppContext, sides: Sequence[ResultSet], filters: dict[str, tuple[str, ...]]
) -> list[ResultSet]:
    """Keep the results that the options choose."""
    from poor_bench.runner.selection import select

    stored = {llm_id for side in sides for llm_id in side.by_llm()}
    if filters["llms"]:  # the sides hold only these; the nearest name may be any that is stored
        stored.update(app.config.store.table().llm_ids)
    chosen = select(app.workspace, read_selection(filters), stored)
    llm_ids = {llm.id for llm in chosen.llms} | chosen.removed_llms if filters["llms"] else stored
    test_ids = {test.test_id for test in chosen.tests}
    return [
        replace(
            side,
            results=tuple(
                result
                for result in side.results
                if result.test_id in test_ids and result.llm_id in llm_ids
            ),
            unread_tests={
                llm_id: test_ids.intersection(tests)
                for llm_id, tests in side.unread_tests.items()
                if llm_id in llm_ids
            },
        )
        for side in sides
    ]


def _explain_nothing_in_common(before: ResultSet, after: ResultSet) -> ConfigError:
    if before.name == after.name:
        return ConfigError(
            f"nothing to compare: both sides are {before.name}",
            hint="Choose two different sides, such as `previous last`.",
        )
    empty = next((side for side in (before, after) if not side.llm_ids), None)
    if empty is not None:
        return ConfigError(
            f"nothing to compare: no results in {empty.name}",
            hint="Choose another side, or fewer filters.",
        )
    return ConfigError(
        f"nothing to compare: no model has results in both {before.name} and {after.name}",
        hint=f"before: {join_names(before.llm_ids)}; after: {join_names(after.llm_ids)}. "
        "Name two models to compare one with the other.",
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
    """Print each comparison of two models.

    Args:
        before: The baseline.
        after: What is compared with it.
        comparisons: One per pair of LLMs.
        names: LLM id to the name that screens show.
    """
    say(f"Before: {before.name}\nAfter:  {after.name}")
    for comparison in comparisons:
        _print_llm(comparison, names)
    for line in list_unpaired_lines(before, after, lambda llm_id: names.get(llm_id, llm_id)):
        say(f"\n{line}")
    if len(comparisons) > 1:
        say("\nIntervals are of each line alone; p holds for all lines of a kind together.")


def _print_llm(comparison: LLMComparison, names: Mapping[str, str]) -> None:
    name = names.get(comparison.llm_after, comparison.llm_after)
    if comparison.llm_before != comparison.llm_after:
        name = f"{names.get(comparison.llm_before, comparison.llm_before)} -> {name}"
    say(f"\n{name}")
    groups = [*_list_groups(comparison), *comparison.by_change]
    if groups:
        _print_groups(groups)
    for line in (*_describe_changes(comparison), *_describe_reservations(comparison)):
        say(line)
    say(_describe_times(comparison))


def _print_groups(groups: Sequence[ComparedGroup]) -> None:
    """Print a line per group."""
    is_narrow = needs_rich() and console().width < _NARROW
    n_columns = _NARROW_COLUMNS if is_narrow else None
    rows = [dict(islice(_build_row(group).items(), n_columns)) for group in groups]
    print_table(rows, hides_empty=True)


def _list_groups(comparison: LLMComparison) -> list[ComparedGroup]:
    """List the whole first, then its classes unless there is only one."""
    whole = [comparison.overall] if comparison.overall else []
    return [*whole, *(comparison.by_class if len(comparison.by_class) > 1 else ())]


def _build_row(group: ComparedGroup) -> dict[str, str]:
    estimate = group.difference
    return {
        "Tests of": _describe_scope(group),
        ">n": str(len(group.tests)),
        ">Before": metrics.score_text(group.mean_before),
        ">After": metrics.score_text(group.mean_after),
        ">Change": metrics.write_signed(estimate.value) + _SIGNS.get(verdict(group), ""),
        ">95 % CI": f"{estimate.low:+.2f}..{estimate.high:+.2f}",
        ">p": write_p_value(group.p_adjusted),
        **{f">{item.value.title()}": str(group.count(item) or "") for item in _COUNTED},
    }


def _describe_scope(group: ComparedGroup) -> str:
    if group.changes:
        return f"({describe_mismatches(group.changes)})"
    return "all" if group.class_id is None else group.class_id or "(unknown class)"


def _describe_changes(comparison: LLMComparison) -> list[str]:
    lines = [explain_mismatches(comparison)] if explain_mismatches(comparison) else []
    if comparison.overall is None:
        lines = lines or ["No test is comparable."]
    else:
        counts = ", ".join(f"{comparison.overall.count(item)} {item.value}" for item in ScoreChange)
        lines.append(f"Overall: {verdict(comparison.overall)}; {counts}.")
        lines += filter(None, [describe_power(comparison.overall)])
        lines += _list_tests(comparison.overall)
    for group in comparison.by_change:
        lines += _list_tests(group)
    return lines


_NAMED = 8


def _list_tests(group: ComparedGroup) -> list[str]:
    """List the tests of a group by their change."""
    scope = f" ({describe_mismatches(group.changes)})" if group.changes else ""
    return [
        f"{title}{scope}: {_name_tests(tests)}"
        for title, outcomes in _LISTED
        if (tests := group.with_outcome(*outcomes))
    ]


def _name_tests(tests: ComparedTests) -> str:
    """Describe the first tests; the others are only counted, so their ids are enough."""
    first = map(_describe_test, tests[:_NAMED])
    return join_names([*first, *tests.test_ids[_NAMED:]], limit=_NAMED)


def _describe_test(test: ComparedTest) -> str:
    return f"{test.test_id} ({test.before or 0:.2f} -> {test.after or 0:.2f})"


def _describe_reservations(comparison: LLMComparison) -> list[str]:
    """List what was not compared, and what was compared with reservations."""
    lines = [
        f"Compared although {change.text}: {write_count(count, 'test')}"
        for change, count in comparison.despite_changes().items()
    ]
    if comparison.n_unverified:
        lines.append(
            f"{write_count(comparison.n_unverified, 'test')} with older results, which do not tell "
            "whether prompt or evaluator changed"
        )
    for reasons, test_ids in comparison.not_comparable().items():
        hint = f"  [{suggest_options(reasons)}]" if suggest_options(reasons) else ""
        lines.append(
            f"Not compared, {describe_mismatches(reasons)}: {write_count(len(test_ids), 'test')} "
            f"({join_names(test_ids, limit=4)}){hint}"
        )
    return lines


def _describe_times(comparison: LLMComparison) -> str:
    times = comparison.times.times
    if times is None:
        return f"Times are not compared: {comparison.times.problem}"
    ratio = times.ratio
    return (
        f"Time: median {metrics.time_text(times.median_before_ms)} -> "
        f"{metrics.time_text(times.median_after_ms)}, p95 "
        f"{metrics.time_text(times.p95_before_ms)} -> {metrics.time_text(times.p95_after_ms)}; "
        f"per test x{ratio.value:.2f} "
        f"({ratio.low:.2f} to {ratio.high:.2f})"
    )
