"""`tune params`: try a model with other parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench import metrics
from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.options import (
    HTML_FILE,
    count_option,
    print_search_json,
    read_key_values,
    read_value,
    resume_option,
    search_exit_code,
    search_options,
)
from poor_bench.cli.output import print_plan_json, print_table, say
from poor_bench.cli.process import stop_on_signal
from poor_bench.cli.sandbox import agree_on_sandbox
from poor_bench.command_line import next_command, write_examples
from poor_bench.errors import ConfigError
from poor_bench.messages import harmless, write_count
from poor_bench.metrics import cost_text, count_text, time_text
from poor_bench.models.test import Test

if TYPE_CHECKING:
    from poor_bench.models.llm import LLM
    from poor_bench.runner.events import RunEvent
    from poor_bench.tuning.searches import KeptSearch
    from poor_bench.tuning.sweep import SweepAxis
    from poor_bench.tuning.sweep_ranking import ParamsReport, VariantRow
    from poor_bench.tuning.tune_params import ParamsTask
    from poor_bench.workspace_folder import WorkspaceFolder


_EPILOG = write_examples(
    """
  {program} tune params all --llm ollama:gemma3:1b --param temperature=0,0.4,0.8
  {program} tune params math_problems --llm ollama:qwen3:4b \\
      --param think=true,false --param num_ctx=4096,16384
  {program} tune params all --llm ollama:gemma3:1b --param response_format=text,class
  {program} tune params all --llm ollama:gemma3:1b --search optuna --trials 20 \\
      --param temperature=0.0..1.0 --param top_k=1..100
  {program} tune params all --llm ollama:gemma3:1b --param base_system_prompt=@terse.txt
  {program} tune params --resume last
"""
)


@click.command("params", epilog=_EPILOG)
@click.argument("classes", metavar="[CLASS|all]", required=False)
@click.option("--llm", "llm_name", metavar="ID", help="Model to tune.")
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUES",
    help="Comma-separated values to try; LOW..HIGH with optuna; @FILE for a text. Repeatable.",
)
@click.option(
    "--search",
    type=click.Choice(["grid", "optuna"]),
    default="grid",
    help="Try all combinations, or let Optuna choose.",
)
@count_option("--trials", default=20, hint="Number of variants with optuna.")
@click.option(
    "--keep", is_flag=True, help="Add the best variant to llms.json if its gain is significant."
)
@click.option("--html", type=HTML_FILE, help="Write a report with charts to this file.")
@resume_option
@search_options(default_calls=1000)
@pass_app
def tune_params(
    app: AppContext,
    /,
    resume: str | None,
    keep: bool,
    html: Path | None,
    dry_run: bool,
    beside: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Try a model with other parameters.

    CLASS is a test class, a glob or `all`; its tests are run.
    Each combination is stored as a separate model. Combinations that are significantly worse than
    the best one are dropped early. With --resume, continue a stored search: its tests, model and
    values count.
    """
    from poor_bench.runs.history import RunHistory
    from poor_bench.runs.turn import run_alone
    from poor_bench.tuning.searches import SEARCHES, find_search

    search = find_search(app.data_dir, resume, kind="params") if resume else None
    task = _build_task(app, search, **options)
    if dry_run:
        return _print_plan(app, task, as_json=as_json)
    agree_on_sandbox(app, task.tests)
    about = {"kind": "params", "name": task.name}
    with run_alone(RunHistory(app.data_dir, SEARCHES), about, beside=beside):
        report = _run(app, task, search, quiet=as_json)
    if keep and report.best is not None and report.best.is_better:
        from poor_bench.tuning.accepting import accept_variant

        report = accept_variant(app.config, report.run_id)
    if html is not None:
        html.write_text(render_sweep(app.config, report), encoding="utf-8")
    if as_json:
        print_search_json(report, app.data_dir)
    else:
        print_sweep_report(report)
    return search_exit_code(report.reason)


def _build_task(
    app: AppContext,
    resumed: KeptSearch | None,
    *,
    classes: str | None,
    llm_name: str | None,
    params: tuple[str, ...],
    search: str,
    trials: int,
    seed: int,
    **limits: Any,
) -> ParamsTask:
    from poor_bench.calls.budget import SpendingLimits
    from poor_bench.tuning.tune_params import ParamsTask, restore_task

    spending = SpendingLimits(n_calls=limits["budget_calls"], cost_usd=limits["max_cost"])
    if resumed is not None:
        if classes or llm_name or params:
            ways = "omit CLASS, --llm and --param"
            raise click.UsageError(f"--resume uses those of the search: {ways}")
        return restore_task(resumed, app.config, spending)
    if not classes or not llm_name:
        raise click.UsageError("give CLASS or `all`, and --llm")
    llm = app.find_llm(llm_name)
    return ParamsTask(
        llm=llm,
        name=classes,
        tests=_select_tests(app, classes),
        axes=read_axes(params, llm),
        limits=spending,
        n_trials=trials if search == "optuna" else None,
        seed=seed,
    )


def _select_tests(app: AppContext, classes: str) -> list[Test]:
    from poor_bench.config.names import is_match, name_hint
    from poor_bench.runner.selection import Selection, select

    known = app.workspace.test_classes
    if classes != "all" and not any(is_match(name, classes) for name in known):
        hint = name_hint(classes, list(known))
        raise ConfigError(f"no test class {classes!r} exists", hint=hint)
    chosen = () if classes == "all" else (classes,)
    return select(app.workspace, Selection(classes=chosen)).tests


def _run(
    app: AppContext, task: ParamsTask, resumed: KeptSearch | None, *, quiet: bool
) -> ParamsReport:
    from poor_bench.llm_manager import LLMManager
    from poor_bench.pool.control import RunControl
    from poor_bench.tuning.tune_params import estimate_cost_usd, tune_params

    control = RunControl()
    with closing(LLMManager(app.data_dir)) as manager:
        cost_usd = estimate_cost_usd(task, app.config, manager)
        with open_view(task, cost_usd, quiet=quiet) as tell, stop_on_signal(control):
            return tune_params(task, app.config, manager, control, tell, resumed)


def _print_plan(app: AppContext, task: ParamsTask, *, as_json: bool) -> int:
    from poor_bench.llm_manager import LLMManager
    from poor_bench.tuning.tune_params import estimate_cost_usd

    with closing(LLMManager(app.data_dir)) as manager:
        cost_usd = estimate_cost_usd(task, app.config, manager)
    if as_json:
        from poor_bench.tuning.searches import SEARCHES

        found = {
            "tests": len(task.tests),
            "axes": [axis.name for axis in task.axes],
            "budget_calls": task.limits.n_calls,
            "estimated_cost_usd": cost_usd,
        }
        about = {"kind": "params", "name": task.name}
        print_plan_json(SEARCHES, about, found, cost_usd=cost_usd)
    else:
        say(_describe_plan(task, cost_usd))
    return 0


def _describe_plan(task: ParamsTask, cost_usd: float | None) -> str:
    axes = " x ".join(axis.name for axis in task.axes)
    cost = f" (about {cost_text(cost_usd)})" if cost_usd else ""
    return (
        f"Trying {axes} with {task.llm.id} on {write_count(len(task.tests), 'test')}, "
        f"at most {task.limits.n_calls} calls{cost}."
    )


_LINE_EVERY = 25


@contextmanager
def open_view(
    task: ParamsTask, cost_usd: float | None, *, quiet: bool
) -> Iterator[Callable[[RunEvent], None]]:
    """Print the plan, then show progress as the output allows."""
    from poor_bench.cli.screen import open_job_view
    from poor_bench.pool.events import LLMUnavailable
    from poor_bench.runner.events import RunStarted, TrialFinished
    from poor_bench.tuning.tune_params import count_trials

    if not quiet:
        say(_describe_plan(task, cost_usd), err=True)
    n_done, n_most = 0, count_trials(task)

    def show(event: RunEvent) -> None:
        nonlocal n_done
        if isinstance(event, RunStarted):
            variants = write_count(len(event.n_by_llm), "variant")
            view.move(variants)
            view.tell(f"{variants}, {write_count(event.n_items, 'test')} to run")
        elif isinstance(event, LLMUnavailable):
            view.say(event.failure.message)
        elif isinstance(event, TrialFinished):
            n_done += 1
            view.move(completed=n_done)
            if n_done % _LINE_EVERY == 0:
                view.tell(f"{n_done} completed, at most {n_most}")

    with open_job_view(total=n_most, quiet=quiet) as view:
        yield show


def print_sweep_report(report: ParamsReport) -> None:
    """Print the variants by score, and the next step."""
    from poor_bench.tuning.searches import StopReason

    print_table(_build_row(row, report) for row in report.standings)
    if report.reason is StopReason.RUNNING:
        click.echo("The search is still running.")
    elif report.message:
        click.echo(f"Stopped early: {harmless(report.message)}")
    say(report.verdict)
    spent = "n/a" if report.n_calls is None else write_count(report.n_calls, "call")
    click.echo(f"Spent: {spent}. All results are stored: {next_command('report')}")
    resume = next_command(f"tune params --resume {report.run_id}")
    if report.reason.can_go_on:
        click.echo(f"To continue: {resume}")
    elif report.n_failed:
        failed = write_count(report.n_failed, "test")
        click.echo(f"{failed} failed to run. To run them again: {resume}")
    click.echo(_suggest_next_step(report))


def _build_row(row: VariantRow, report: ParamsReport) -> dict[str, str]:
    from poor_bench.tuning.sweep import name_variant

    score = row.score
    return {
        "Variant": name_variant(row.variant_id, report.base_id),
        ">Score": metrics.score_text(score.value) if score else "",
        ">95 %": f"{score.low:.2f} to {score.high:.2f}" if score else "",
        ">Gain": metrics.write_signed(row.gain.value) if row.gain else "",
        ">Tests": str(score.n_all) if score else "0",
        ">Median": time_text(row.median_ms),
        ">Tokens": count_text(row.median_tokens),
        "": _describe_remarks(row, report),
    }


def _describe_remarks(row: VariantRow, report: ParamsReport) -> str:
    if row.variant_id in report.dropped:
        return "dropped"
    remarks = [f"{row.n_failed} failed"] if row.n_failed else []
    remarks += ["frontier"] if row.is_on_frontier else []
    remarks += ["better"] if row.is_better else []
    return ", ".join(remarks)


def _suggest_next_step(report: ParamsReport) -> str:
    if report.accepted:
        return f"Added to llms.json: {report.accepted}"
    if report.best is not None:
        way = "Next" if report.best.is_better else "To accept it anyway"
        accept = next_command(f"tune accept {report.run_id}")
        return f"llms.json is unchanged. {way}: {accept}"
    return "llms.json is unchanged."


def render_sweep(config: WorkspaceFolder, report: ParamsReport) -> str:
    """Render the leaderboard of the variants, and score against time.

    Raises:
        StoreError: If the results cannot be read.
    """
    from poor_bench.reports.html.page import report_to_html
    from poor_bench.reports.report_data import ReportData
    from poor_bench.tuning.sweep import name_variant

    variant_ids = {row.variant_id for row in report.standings}
    test_ids = set(report.header["tests"])
    base = config.workspace.llms_by_id[report.base_id]
    workspace = config.workspace
    results = [
        result
        for result in config.store.results()
        if result.llm_id in variant_ids and result.test_id in test_ids
    ]
    return report_to_html(
        ReportData(
            title=f"{report.base_id} with other parameters",
            created=str(report.header["started"]),
            results=tuple(results),
            tests={test_id: workspace.tests_by_id[test_id] for test_id in test_ids},
            read_context=lambda: config.issue_context,
            llms={
                variant_id: replace(base, id=variant_id, label=name_variant(variant_id, base.id))
                for variant_id in variant_ids
            },
            dropped={
                variant_id: f"dropped early: significantly behind {name_variant(leader, base.id)}"
                for variant_id, leader in report.dropped.items()
            },
        )
    )


def read_axes(texts: Iterable[str], llm: LLM) -> list[SweepAxis]:
    """Parse options such as `temperature=0,0.4`.

    Args:
        texts: NAME=VALUE,VALUE; `@FILE` is the text of a file, `none` removes the parameter.
        llm: The model.

    Raises:
        click.UsageError: If an option is malformed, or has no effect with the model's provider.
    """
    from poor_bench.tuning.sweep import read_axis

    values: dict[str, list[Any]] = {}
    for text in texts:
        [(name, written)] = read_key_values([text], "--param").items()
        values.setdefault(name, []).extend(_read_values(name, written))
    if not values:
        raise click.UsageError("give at least one --param NAME=VALUE,VALUE")
    _require_effect(values, llm)
    try:
        return [read_axis(name, own) for name, own in values.items()]
    except ValueError as error:
        raise click.UsageError(f"--param {error}") from error


def _read_values(name: str, written: str) -> list[Any]:
    if written.startswith(("{", "[")):
        value = read_value(written, f"--param {name}")
        return value if isinstance(value, list) else [value]
    return [_read_value(name, part.strip()) for part in written.split(",")]


def _read_value(name: str, text: str) -> Any:
    if text.startswith("@"):
        try:
            return Path(text[1:]).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise click.UsageError(f"--param {name}: {text[1:]}: {error.strerror}") from error
    if text == "none":
        return None
    return read_value(text, f"--param {name}") if text else ""


def _require_effect(names: Iterable[str], llm: LLM) -> None:
    from poor_bench.providers.parameters import list_ignored_parameters, list_unknown_parameters
    from poor_bench.tuning.sweep import SYSTEM_PROMPT

    parameters = {name: None for name in names if name != SYSTEM_PROMPT}
    unknown = list_unknown_parameters(llm.provider, parameters)
    if unknown:
        raise click.UsageError(f"--param {unknown[0]}: unknown parameter")
    ignored = list_ignored_parameters(llm.provider, parameters)
    if ignored:
        raise click.UsageError(f"--param {ignored[0]}: has no effect with {llm.provider}")
