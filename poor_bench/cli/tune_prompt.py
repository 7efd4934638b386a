"""`tune prompt`: a model rewrites a prompt until it scores higher."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.llm_lookup import llm_named
from poor_bench.cli.output import print_json
from poor_bench.cli.sandbox_option import agree_on_sandbox, choose_sandbox
from poor_bench.cli.stop_signals import stop_on_signal
from poor_bench.cli.tune_options import exit_code, limits_of, search_options
from poor_bench.command_line import examples

if TYPE_CHECKING:
    from poor_bench.llm_manager import LLMManager
    from poor_bench.tuning.prompt.report import PromptReport
    from poor_bench.tuning.prompt.subjects import Named
    from poor_bench.tuning.prompt.task import PromptTask

_EPILOG = examples(
    """
  {program} tune prompt math_problems --llm ollama:gemma3:1b
  {program} tune prompt math_problems --llm ollama:gemma3:1b \\
      --reflection-llm anthropic:claude-sonnet-4-5 --budget-calls 500 --max-cost 2
  {program} tune prompt sentiment_analysis --llm ollama:gemma3:1b --part system_prompt
  {program} tune prompt support_desk --judge claude-opus-4-20250514
  {program} tune prompt math_problems --llm ollama:gemma3:1b --resume last --budget-calls 900
"""
)
_SHARE = click.FloatRange(0.01, 0.98)


@click.command("prompt", epilog=_EPILOG)
@click.argument("subject", metavar="CLASS|AGENT")
@click.option(
    "--llm", "llm_name", metavar="ID", help="Model that the prompt is for; not for agents."
)
@click.option("--reflection-llm", metavar="ID", help="Model that writes prompts. Default: --llm.")
@click.option(
    "--ideas",
    type=click.Choice(["both", "writer", "edits"]),
    default="both",
    show_default=True,
    help="Source of prompts: the reflection model, edits by rule, or both in turn.",
)
@click.option(
    "--part",
    type=click.Choice(["template", "system_prompt"]),
    default="template",
    show_default=True,
    help="Text of the class to tune.",
)
@click.option(
    "--judge", metavar="LLM", help="Judge of an agent. Default: the judge of config.yaml."
)
@click.option(
    "--train", type=_SHARE, default=0.35, show_default=True, help="Share of tests for training."
)
@click.option(
    "--validation",
    type=_SHARE,
    default=0.3,
    show_default=True,
    help="Share of tests for validation.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="Stop at this validation score. Default: 1, or the threshold of the agent.",
)
@click.option(
    "--patience",
    type=click.IntRange(1),
    default=8,
    show_default=True,
    help="Stop after this number of rounds without gain.",
)
@click.option(
    "--examples",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Training tests shown for each new prompt.",
)
@click.option("--resume", metavar="RUN", help="Continue a search: its id, or `last`.")
@click.option("--yes", "-y", is_flag=True, help="Write the prompt if its gain is significant.")
@search_options(default_calls=300)
@pass_app
def tune_prompt(
    app: AppContext,
    /,
    resume: str | None,
    yes: bool,
    sandbox_level: str | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Rewrite a prompt until it scores higher.

    For a test class, its evaluators score the answers; for an agent, a judge does.

    Tests are split into three parts. A model, or rules, make new prompts from failures in the
    first part. The second part selects the best prompt. The third part is held out and decides
    whether the gain is significant.
    """
    from poor_bench.cli.tune_prompt_view import print_report
    from poor_bench.llm_manager import LLMManager

    choose_sandbox(sandbox_level)
    with closing(LLMManager(app.data_dir)) as manager:
        task = _task(app, manager, **options)
        report = _run(app, manager, task, resume, quiet=as_json)
    if yes and report.proof is not None and report.proof.is_proven:
        from poor_bench.tuning.accepting import accept_prompt

        report = accept_prompt(app.config, report.run_id)
    if as_json:
        print_json(report.as_json())
    else:
        print_report(report)
    return exit_code(report.end.reason)


def _task(
    app: AppContext,
    manager: LLMManager,
    *,
    reflection_llm: str | None,
    budget_calls: int,
    max_cost: float | None,
    threshold: float | None,
    **options: Any,
) -> PromptTask:
    from poor_bench.config import llm_names
    from poor_bench.tuning.prompt.ideas import IdeaSource
    from poor_bench.tuning.prompt.search import Effort
    from poor_bench.tuning.prompt.split import Shares
    from poor_bench.tuning.prompt.task import PromptTask

    named = _named(app, manager, **options)
    return PromptTask(
        subject=named.subject,
        llm=named.llm,
        reflection_llm=(
            llm_names.llm_named(reflection_llm, named.llms) if reflection_llm else named.llm
        ),
        ideas=IdeaSource(options["ideas"]),
        limits=limits_of(budget_calls, max_cost),
        shares=Shares(train=options["train"], validation=options["validation"]),
        effort=Effort(
            seed=options["seed"],
            threshold=named.threshold if threshold is None else threshold,
            patience=options["patience"],
            n_examples=options["examples"],
        ),
    )


def _named(app: AppContext, manager: LLMManager, **options: Any) -> Named:
    """Find the subject by name: a test class, else an agent."""
    from poor_bench.config.agent_entries import AGENTS_FOLDER
    from poor_bench.config.files import TEST_CLASSES_FILE
    from poor_bench.config.nearest_name import name_hint
    from poor_bench.errors import ConfigError
    from poor_bench.tuning.prompt.subjects import agent_named, class_named

    name, llm_name = options["subject"], options["llm_name"]
    has_classes = (app.data_dir / TEST_CLASSES_FILE).exists()
    classes = list(app.workspace.test_classes) if has_classes else []
    agents = [path.stem for path in (app.data_dir / AGENTS_FOLDER).glob("*.yaml")]
    if name in classes:
        if not llm_name:
            raise click.UsageError("--llm is missing: give the model that the prompt is for")
        agree_on_sandbox(app, (test for test in app.workspace.tests if test.class_id == name))
        return class_named(app.config, manager, llm_named(app, llm_name), name, options["part"])
    if name not in agents:
        message = f"no test class or agent {name!r} exists"
        raise ConfigError(message, hint=name_hint(name, [*classes, *agents]))
    if llm_name:
        raise click.UsageError(f"--llm is for test classes; the agent {name} names its own model")
    return agent_named(app.config, manager, name, options["judge"])


def _run(
    app: AppContext, manager: LLMManager, task: PromptTask, resume: str | None, *, quiet: bool
) -> PromptReport:
    from poor_bench.cli.tune_prompt_view import open_view
    from poor_bench.runner.control import RunControl
    from poor_bench.tuning.kept_searches import find_search
    from poor_bench.tuning.prompt.split import kept_split
    from poor_bench.tuning.prompt.task import Surroundings
    from poor_bench.tuning.prompt.tune_prompt import PromptTuner, split_of

    search = find_search(app.data_dir, resume, kind="prompt") if resume else None
    split = split_of(task) if search is None else kept_split(search.header)
    control = RunControl()
    with open_view(task, split, quiet=quiet) as tell, stop_on_signal(control):
        surroundings = Surroundings(manager=manager, cancelled=control.cancelled, tell=tell)
        tuner = PromptTuner(surroundings, app.data_dir)
        return tuner.run(task) if search is None else tuner.resume(task, search)
