"""`tune params`: the same model with other parameters."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.llm_lookup import llm_named
from poor_bench.cli.output import print_json
from poor_bench.cli.output_file import HTML_FILE
from poor_bench.cli.sandbox_option import agree_on_sandbox, choose_sandbox
from poor_bench.cli.stop_signals import stop_on_signal
from poor_bench.cli.tune_axes import axes_in
from poor_bench.cli.tune_options import exit_code, limits_of, search_options
from poor_bench.command_line import examples

if TYPE_CHECKING:
    from poor_bench.models.test import Test
    from poor_bench.tuning.params.report import ParamsReport
    from poor_bench.tuning.params.tune_params import ParamsTask

_EPILOG = examples(
    """
  {program} tune params all --llm ollama:gemma3:1b --param temperature=0,0.4,0.8
  {program} tune params math_problems --llm ollama:qwen3:4b \\
      --param think=true,false --param num_ctx=4096,16384
  {program} tune params all --llm ollama:gemma3:1b --param response_format=text,class
  {program} tune params all --llm ollama:gemma3:1b --search optuna --trials 20 \\
      --param temperature=0.0..1.0 --param top_k=1..100
  {program} tune params all --llm ollama:gemma3:1b --param base_system_prompt=@terse.txt
"""
)


@click.command("params", epilog=_EPILOG)
@click.argument("classes", metavar="CLASS|all")
@click.option("--llm", "llm_name", required=True, metavar="ID", help="Model to tune.")
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
    show_default=True,
    help="Try all combinations, or let Optuna choose.",
)
@click.option(
    "--trials",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Number of variants with optuna.",
)
@click.option(
    "--keep", is_flag=True, help="Add the best variant to llms.json if its gain is significant."
)
@click.option("--html", type=HTML_FILE, help="Write a report with charts to this file.")
@search_options(default_calls=1000)
@pass_app
def tune_params(
    app: AppContext,
    /,
    keep: bool,
    html: Path | None,
    sandbox_level: str | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Try a model with other parameters.

    CLASS is a test class, a glob or `all`; its tests are run.
    Each combination is stored as a separate model. Combinations that are significantly worse than
    the best one are dropped early.
    """
    from poor_bench.cli.tune_params_view import print_report

    choose_sandbox(sandbox_level)
    task = _task(app, **options)
    agree_on_sandbox(app, task.tests)
    report = _run(app, task, quiet=as_json)
    if keep and report.best is not None and report.best.is_better:
        from poor_bench.tuning.accepting import accept_variant

        report = accept_variant(app.config, report.run_id)
    if html is not None:
        from poor_bench.cli.tune_params_html import sweep_html

        html.write_text(sweep_html(app.config, report), encoding="utf-8")
    if as_json:
        print_json(report.as_json())
    else:
        print_report(report)
    return exit_code(report.reason)


def _task(
    app: AppContext,
    *,
    classes: str,
    llm_name: str,
    params: tuple[str, ...],
    search: str,
    trials: int,
    seed: int,
    **limits: Any,
) -> ParamsTask:
    from poor_bench.tuning.params.tune_params import ParamsTask

    llm = llm_named(app, llm_name)
    return ParamsTask(
        llm=llm,
        name=classes,
        tests=_tests(app, classes),
        axes=axes_in(params, llm),
        limits=limits_of(**limits),
        n_trials=trials if search == "optuna" else None,
        seed=seed,
    )


def _tests(app: AppContext, classes: str) -> list[Test]:
    from poor_bench.runner.selection import Selection, select

    chosen = () if classes == "all" else (classes,)
    return select(app.workspace, Selection(classes=chosen)).tests


def _run(app: AppContext, task: ParamsTask, *, quiet: bool) -> ParamsReport:
    from poor_bench.cli.tune_params_view import open_view
    from poor_bench.llm_manager import LLMManager
    from poor_bench.runner.control import RunControl
    from poor_bench.tuning.params.tune_params import estimated_cost_usd, tune_params

    control = RunControl()
    with closing(LLMManager(app.data_dir)) as manager:
        cost_usd = estimated_cost_usd(task, app.config, manager)
        with open_view(task, cost_usd, quiet=quiet) as tell, stop_on_signal(control):
            return tune_params(task, app.config, manager, control, tell)
