"""`tests`: list, show, check and analyse tests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench import messages as wording
from poor_bench.cli.context import AppContext, pass_app, write_next_step
from poor_bench.cli.new_tests import generate, import_tests
from poor_bench.cli.options import all_problems_option, read_selection, selection_options
from poor_bench.cli.output import (
    Block,
    count_problems,
    has_errors,
    json_option,
    print_blocks,
    print_columns,
    print_json,
    print_problems,
    say,
)
from poor_bench.cli.process import prepare_to_look
from poor_bench.cli.short_form import select
from poor_bench.cli.wrong_answers import cheat, run_mutations
from poor_bench.command_line import next_command, write_examples
from poor_bench.config.names import name_hint
from poor_bench.errors import ConfigError
from poor_bench.messages import harmless, write_count, write_share
from poor_bench.models.test import Test, merge_specs
from poor_bench.statistics.intervals import Estimate

if TYPE_CHECKING:
    from poor_bench.config.load import Workspace
    from poor_bench.lint.subject import Finding
    from poor_bench.models.completion import Message
    from poor_bench.results.kept_figures import KeptFile
    from poor_bench.results.table import ResultTable
    from poor_bench.statistics.item_response import ItemResponse
    from poor_bench.statistics.items import Item, ItemAnalysis, LevelOrder

_EPILOG = write_examples(
    """
  {program} tests                              all tests
  {program} tests list --class 'math*' --level 1-2
  {program} tests show math_001                its prompt for each model
  {program} tests lint --fix                   find and fix unfair tests
  {program} tests analyse                      tests that look wrong by their results
  {program} tests cheat                        tests that need no model to pass
  {program} tests select --keep 25%             a short form that predicts the full score
  {program} tests import HumanEval.jsonl.gz    add a public benchmark
  {program} tests generate arithmetic          add generated tests
"""
)


@click.group(invoke_without_command=True, epilog=_EPILOG)
@click.pass_context
def command(ctx: click.Context) -> int:
    """List, show, check, analyse, select, import and generate tests."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_tests, llms=(), classes=(), levels=(), tests=(), tags=())
    return 0


@command.command("list", epilog=_EPILOG)
@selection_options
@json_option
@pass_app
def list_tests(app: AppContext, /, as_json: bool = False, **filters: Any) -> int:
    """List the tests of the workspace."""
    from poor_bench.runner.selection import select

    selection = read_selection(filters)
    chosen = select(app.workspace, selection, with_disabled_tests=True).tests
    rows = [_build_row(test, app.workspace) for test in chosen]
    if as_json:
        print_json({"tests": rows})
        return 0
    fields = {"Test": "test_id", "Class": "class_id", ">Level": "level", "Evaluator": "evaluator"}
    shown = [row | {"state": "" if row["enabled"] else "disabled"} for row in rows]
    print_columns(shown, fields | {"Tags": "tags", "State": "state"})
    n_disabled = sum(not row["enabled"] for row in rows)
    disabled = f", {n_disabled} disabled" if n_disabled else ""
    click.echo(f"{write_count(len(rows), 'test')}{disabled}")
    return 0


def _build_row(test: Test, workspace: Workspace) -> dict[str, Any]:
    test_class = workspace.test_classes[test.class_id]
    return {
        "test_id": test.test_id,
        "class_id": test.class_id,
        "level": test.level,
        "evaluator": merge_specs(test_class.evaluator, test.evaluator).name,
        "group": test.group,
        "tags": [*test.tags, *test_class.tags],
        "enabled": test.enabled,
        "has_reference": test.reference_response is not None,
    }


@command.command()
@click.argument("test_id")
@click.option("--llm", "llms", multiple=True, metavar="ID", help="Model id, label or glob.")
@json_option
@pass_app
def show(app: AppContext, /, test_id: str, llms: tuple[str, ...], as_json: bool) -> int:
    """Show a test: its prompt for each model, and what its evaluator expects."""
    workspace = app.workspace
    test = workspace.tests_by_id.get(test_id)
    if test is None:
        hint = name_hint(test_id, workspace.tests_by_id)
        raise ConfigError(f"unknown test {test_id!r}", hint=hint)
    facts = _collect_facts(test, workspace)
    prompts = _build_prompts(test, workspace, llms)
    if as_json:
        print_json(facts | {"prompts": [_to_json(*prompt) for prompt in prompts]})
        return 0
    for name, value in facts.items():
        if value not in ("", None, []):
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            click.echo(f"{click.style(name, bold=True)}: {harmless(text)}")
    for messages, llm_ids in prompts:
        click.echo(click.style(f"\nPrompt for {', '.join(llm_ids)}", bold=True))
        for message in messages:
            click.echo(click.style(f"[{message.role}]", dim=True))
            say(message.content)
    return 0


def _collect_facts(test: Test, workspace: Workspace) -> dict[str, Any]:
    test_class = workspace.test_classes[test.class_id]
    spec = merge_specs(test_class.evaluator, test.evaluator)
    return {
        "test": test.test_id,
        "class": test.class_id,
        "level": test.level,
        "group": test.group,
        "tags": [*test.tags, *test_class.tags],
        "evaluator": spec.name,
        "parameters": dict(spec.parameters),
        "reference_response": test.reference_response,
    }


def _build_prompts(
    test: Test, workspace: Workspace, patterns: tuple[str, ...]
) -> list[tuple[tuple[Message, ...], list[str]]]:
    """Build the different conversations, each with the LLMs that get it."""
    from poor_bench.prompts import build_messages
    from poor_bench.runner.selection import Selection, select

    chosen = select(workspace, Selection(llms=patterns)).llms or workspace.llms
    llm_ids: dict[tuple[Message, ...], list[str]] = {}
    for llm in chosen:
        messages = build_messages(llm, workspace.test_classes[test.class_id], test)
        llm_ids.setdefault(messages, []).append(llm.id)
    return list(llm_ids.items())


def _to_json(messages: tuple[Message, ...], llm_ids: list[str]) -> dict[str, Any]:
    sent = [{"role": message.role, "content": message.content} for message in messages]
    return {"llm_ids": llm_ids, "messages": sent}


@command.command()
@click.option("--fix", "fixes", is_flag=True, help="Apply safe fixes to tests.json.")
@all_problems_option
@json_option
@pass_app
def lint(app: AppContext, /, fixes: bool, shows_all: bool, as_json: bool) -> int:
    """Find faulty tests.

    Checks, among others: the reference response passes and an empty one fails, the prompt states
    what the evaluator requires, inputs fit the function, no test is duplicated or contradicts
    another. --fix applies only fixes that cannot make a test worse.
    """
    findings = app.config.lint()
    n_fixed = 0
    if fixes:
        from poor_bench.lint.lint import apply_fixes

        n_fixed = apply_fixes(app.workspace, [fix for each in findings for fix in each.fixes])
        app.config.reload()
        findings = app.config.lint()
    problems = [finding.problem for finding in findings]
    if as_json:
        print_json({"fixed_tests": n_fixed, "problems": problems})
    else:
        print_problems(problems, None if shows_all else 50)
        click.echo(_summarise(findings, n_fixed))
    return 1 if has_errors(problems) else 0


def _summarise(findings: list[Finding], n_fixed: int) -> str:
    text = f"\n{count_problems([finding.problem for finding in findings])}"
    if n_fixed:
        text = f"\nFixed {write_count(n_fixed, 'test')}. Remaining:{text}"
    n_fixable = sum(bool(finding.fixes) for finding in findings)
    if n_fixable:
        text += f"; {n_fixable} can be fixed by: {next_command('tests lint --fix')}"
    return text


_SHOWN = 100
_TRENDS = {"follows": "harder with level", "reversed": "easier with level"}


@command.command()
@click.option("--all", "shows_all", is_flag=True, help="Show all tests, not only suspicious ones.")
@click.option(
    "--mutate",
    "mutates",
    is_flag=True,
    help="Show which wrong answers pass as right instead; needs no results and no model.",
)
@json_option
@pass_app
def analyse(app: AppContext, /, shows_all: bool, mutates: bool, as_json: bool) -> int:
    """Find bad tests by the results of all models.

    Suspicious tests: models share a wrong answer (a wrong key?), two answers (ambiguous?) or a
    cause of failing (an unfair prompt?); weak models pass and strong ones fail; no model passes.
    Each must exceed what sound tests of the class show by chance. Discrimination is the
    correlation with the score on all other tests. Verdicts need results of at least three
    different models; one model counts once, whatever its settings and trials.
    """
    if mutates:
        return run_mutations(app, as_json=as_json)
    from poor_bench.results.figures import without_removed

    prepare_to_look()
    table = without_removed(app.store.table(), app.workspace.tests_by_id, generation=0)
    if as_json:
        print_json(_analysis_to_json(_read_analysis(app, table, quiet=True)))
        return 0
    file = _open_kept(app, table, shows_all=shows_all)
    blocks = file.read()
    if blocks is None:
        analysis = _read_analysis(app, table, quiet=False)
        if not analysis.items:
            click.echo(f"No results yet. Next: {write_next_step('run')}")
            return 0
        blocks = [*_describe_analysis(analysis, shows_all=shows_all)]
        file.write(blocks)
    print_blocks(blocks)
    return 0


def _open_kept(app: AppContext, table: ResultTable, *, shows_all: bool) -> KeptFile[list[Block]]:
    """Open what was printed of the same results of the same tests by the same code."""
    from poor_bench.results.kept_figures import KeptFile
    from poor_bench.results.text_columns import digest_code
    from poor_bench.runner.scorer import WorkspaceFingerprints

    tests = WorkspaceFingerprints(app.workspace, app.config.evaluators).identify_requests()
    code = [Path(file).read_bytes() for file in (__file__, wording.__file__)]
    about = blake2b(repr((table.name_rows(), tests, shows_all, digest_code(), code)).encode())
    return KeptFile(table.basis if tests else None, "analysis", about.hexdigest())


def _read_analysis(app: AppContext, table: ResultTable, *, quiet: bool) -> ItemAnalysis:
    """Analyse the results of present tests, with progress."""
    from poor_bench.cli.screen import open_job_view
    from poor_bench.results.stored_texts import read_item_analysis

    with open_job_view("Reading results", len(table), quiet=quiet) as view:

        def show(n_read: int) -> None:
            view.move("analysing tests" if n_read == len(table) else "", completed=n_read)

        return read_item_analysis(app.store.paths, table, app.workspace.tests_by_id, on_read=show)


def _describe_analysis(analysis: ItemAnalysis, *, shows_all: bool) -> Iterator[Block]:
    from poor_bench.statistics.item_response import LEAST_MODELS

    yield from _describe_items(analysis.items, shows_all=shows_all)
    n_models = max(item.n_models for item in analysis.items)
    few = f"Item response theory needs {LEAST_MODELS} different models; these results cover"
    yield _list_weakest(analysis.response) if analysis.response else f"{few} {n_models}."
    yield _list_orders(analysis.orders)


def _describe_items(items: Sequence[Item], *, shows_all: bool) -> Iterator[Block]:
    from poor_bench.statistics.votes import LEAST_MODELS

    suspicious = [item for item in items if item.is_suspicious]
    chosen = items if shows_all else suspicious
    if chosen:
        yield [
            {
                "Test": item.test_id,
                ">Level": str(item.level or ""),
                ">Models": str(item.n_llms),
                ">Passed": write_share(item.pass_rate),
                ">Discrimination": _format_estimate(item.discrimination),
                "Suspicion": item.suspicion,
            }
            for item in chosen[:_SHOWN]
        ]
        if len(chosen) > _SHOWN:
            yield f"{len(chosen) - _SHOWN:,} more: --json shows them."
    n_useless = sum(item.pass_rate == 1.0 for item in items)
    yield (
        f"Suspicious: {len(suspicious)} of {write_count(len(items), 'test')}. "
        f"Passed by every model: {n_useless}."
    )
    n_models = max(item.n_models for item in items)
    if n_models < LEAST_MODELS:
        yield f"Verdicts need {LEAST_MODELS} different models; these results cover {n_models}."


_SHOWN_WEAKEST = 5


def _list_weakest(response: ItemResponse) -> list[dict[str, str]]:
    """List the tests that tell models apart least, by item response theory."""
    weakest = sorted(response.items, key=lambda item: item.discrimination)[:_SHOWN_WEAKEST]
    return [
        {
            "Least informative test": item.test_id,
            ">Difficulty": f"{item.difficulty:+.2f}",
            ">Discrimination (2PL)": f"{item.discrimination:.2f}",
        }
        for item in weakest
    ]


def _list_orders(orders: Sequence[LevelOrder]) -> list[dict[str, str]]:
    return [
        {
            "Class": order.class_id,
            "Difficulty by level": ", ".join(
                f"{level}: {value:.2f}" for level, value in sorted(order.difficulty.items())
            ),
            ">Correlation": _format_estimate(order.correlation),
            "Trend": _TRENDS.get(order.verdict.value, "no clear trend"),
        }
        for order in orders
    ]


def _format_estimate(estimate: Estimate | None) -> str:
    return "" if estimate is None else f"{estimate.value:.2f}"


def _analysis_to_json(analysis: ItemAnalysis) -> dict[str, Any]:
    return {
        "tests": [_item_to_json(item) for item in analysis.items],
        "levels": [_order_to_json(order) for order in analysis.orders],
        "item_response": analysis.response and _response_to_json(analysis.response),
    }


def _item_to_json(item: Item) -> dict[str, Any]:
    return {
        "test_id": item.test_id,
        "class_id": item.class_id,
        "level": item.level,
        "n_llms": item.n_llms,
        "n_models": item.n_models,
        "mean_score": item.mean_score,
        "pass_rate": item.pass_rate,
        "discrimination": None if item.discrimination is None else item.discrimination.value,
        "findings": item.findings,
        "is_suspicious": item.is_suspicious,
        "suspicion": item.suspicion,
        "p_value": item.p_value,
    }


def _response_to_json(response: ItemResponse) -> dict[str, Any]:
    return {
        "tests": response.items,
        "abilities": [
            {"model": model, "value": ability.value, "low": ability.low, "high": ability.high}
            for model, ability in response.abilities.items()
        ],
    }


def _order_to_json(order: LevelOrder) -> dict[str, Any]:
    return {
        "class_id": order.class_id,
        "difficulty": order.difficulty,
        "correlation": None if order.correlation is None else order.correlation.value,
        "p_value": order.p_value,
        "verdict": order.verdict,
    }


for _subcommand in (import_tests, generate, cheat, select):
    command.add_command(_subcommand)
