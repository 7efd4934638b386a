"""`compare`: what became better or worse, and whether that is more than chance."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.comparison_options import allowed_changes, comparison_options, rescore_option
from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import json_option, print_json
from poor_bench.cli.selection_options import selection_from, selection_options
from poor_bench.command_line import examples
from poor_bench.errors import ConfigError

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
        from poor_bench.cli.rescored_side import rescored_side

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
        from poor_bench.cli.comparison_view import print_comparison

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
