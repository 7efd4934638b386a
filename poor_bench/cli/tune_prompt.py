"""`tune prompt`: a model rewrites a prompt until it scores higher."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.options import (
    count_option,
    print_search_json,
    resume_option,
    search_exit_code,
    search_options,
)
from poor_bench.cli.output import print_plan_json, print_table, shorten
from poor_bench.cli.process import stop_on_signal
from poor_bench.cli.sandbox import agree_on_sandbox
from poor_bench.command_line import next_command, write_examples
from poor_bench.errors import ConfigError
from poor_bench.messages import harmless, write_count

if TYPE_CHECKING:
    from poor_bench.llm_manager import LLMManager
    from poor_bench.tuning.prompt.cases import Split
    from poor_bench.tuning.prompt.report import PromptReport
    from poor_bench.tuning.prompt.session import PromptProgress, PromptTask
    from poor_bench.tuning.prompt.subjects import TuningTarget


_EPILOG = write_examples(
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
    help="Source of prompts: the reflection model, edits by rule, or both in turn.",
)
@click.option(
    "--part",
    type=click.Choice(["template", "system_prompt"]),
    default="template",
    help="Text of the class to tune.",
)
@click.option(
    "--judge", metavar="LLM", help="Judge of an agent. Default: the judge of config.yaml."
)
@click.option("--train", type=_SHARE, default=0.35, help="Share of tests for training.")
@click.option("--validation", type=_SHARE, default=0.3, help="Share of tests for validation.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="Stop at this validation score. Default: 1, or the threshold of the agent.",
)
@count_option("--patience", default=8, hint="Stop after this number of rounds without gain.")
@count_option("--examples", default=3, hint="Training tests shown for each new prompt.")
@resume_option
@click.option("--yes", "-y", is_flag=True, help="Write the prompt if its gain is significant.")
@search_options(default_calls=300)
@pass_app
def tune_prompt(
    app: AppContext,
    /,
    resume: str | None,
    yes: bool,
    dry_run: bool,
    beside: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Rewrite a prompt until it scores higher.

    For a test class, its evaluators score the answers; for an agent, a judge does.

    Tests are split into three parts. A model, or rules, make new prompts from failures in the
    first part. The second part selects the best prompt. The third part is held out and decides
    whether the gain is significant.
    """
    from poor_bench.llm_manager import LLMManager
    from poor_bench.runs.history import RunHistory
    from poor_bench.runs.turn import run_alone
    from poor_bench.tuning.searches import SEARCHES

    with closing(LLMManager(app.data_dir)) as manager:
        task = _build_task(app, manager, **options)
        if dry_run:
            return _print_plan(task, as_json=as_json)
        about = {"kind": "prompt", "name": task.subject.name}
        with run_alone(RunHistory(app.data_dir, SEARCHES), about, beside=beside):
            report = _run(app, manager, task, resume, quiet=as_json)
    if yes and report.proof is not None and report.proof.is_proven:
        from poor_bench.tuning.accepting import accept_prompt

        report = accept_prompt(app.config, report.run_id)
    if as_json:
        print_search_json(report, app.data_dir)
    else:
        print_prompt_report(report)
    return search_exit_code(report.end.reason)


def _build_task(
    app: AppContext,
    manager: LLMManager,
    *,
    reflection_llm: str | None,
    budget_calls: int,
    max_cost: float | None,
    threshold: float | None,
    **options: Any,
) -> PromptTask:
    from poor_bench.calls.budget import SpendingLimits
    from poor_bench.config.names import llm_named
    from poor_bench.tuning.prompt.cases import Shares
    from poor_bench.tuning.prompt.edits import IdeaSource
    from poor_bench.tuning.prompt.search import SearchEffort
    from poor_bench.tuning.prompt.session import PromptTask

    named = _find_subject(app, manager, **options)
    return PromptTask(
        subject=named.subject,
        llm=named.llm,
        reflection_llm=(llm_named(reflection_llm, named.llms) if reflection_llm else named.llm),
        ideas=IdeaSource(options["ideas"]),
        limits=SpendingLimits(n_calls=budget_calls, cost_usd=max_cost),
        shares=Shares(train=options["train"], validation=options["validation"]),
        effort=SearchEffort(
            seed=options["seed"],
            threshold=named.threshold if threshold is None else threshold,
            patience=options["patience"],
            n_examples=options["examples"],
        ),
    )


def _find_subject(app: AppContext, manager: LLMManager, **options: Any) -> TuningTarget:
    """Find the subject by name: a test class, else an agent."""
    from poor_bench.config.agent_entries import AGENTS_FOLDER
    from poor_bench.config.load import TEST_CLASSES_FILE
    from poor_bench.config.names import name_hint
    from poor_bench.tuning.prompt.subjects import find_agent_prompt, find_class_prompt

    name, llm_name = options["subject"], options["llm_name"]
    has_classes = (app.data_dir / TEST_CLASSES_FILE).exists()
    classes = list(app.workspace.test_classes) if has_classes else []
    agents = [path.stem for path in (app.data_dir / AGENTS_FOLDER).glob("*.yaml")]
    if name in classes:
        if not llm_name:
            raise click.UsageError("--llm is missing: give the model that the prompt is for")
        agree_on_sandbox(app, (test for test in app.workspace.tests if test.class_id == name))
        return find_class_prompt(app.config, manager, app.find_llm(llm_name), name, options["part"])
    if name not in agents:
        message = f"no test class or agent {name!r} exists"
        raise ConfigError(message, hint=name_hint(name, [*classes, *agents]))
    if llm_name:
        raise click.UsageError(f"--llm is for test classes; the agent {name} names its own model")
    return find_agent_prompt(app.config, manager, name, options["judge"])


def _run(
    app: AppContext, manager: LLMManager, task: PromptTask, resume: str | None, *, quiet: bool
) -> PromptReport:
    from poor_bench.pool.control import RunControl
    from poor_bench.tuning.prompt.cases import read_split
    from poor_bench.tuning.prompt.session import split_task, tune_prompt
    from poor_bench.tuning.searches import find_search

    search = find_search(app.data_dir, resume, kind="prompt") if resume else None
    split = split_task(task) if search is None else read_split(search.header)
    control = RunControl()
    with open_view(task, split, quiet=quiet) as tell, stop_on_signal(control):
        return tune_prompt(task, app.data_dir, manager, control, tell, search)


_SHOWN_LINE = 70
_LEAST_LINES = 10


def _print_plan(task: PromptTask, *, as_json: bool) -> int:
    from poor_bench.tuning.prompt.session import split_task

    split = split_task(task)
    if as_json:
        from poor_bench.tuning.searches import SEARCHES

        found = {
            "train": len(split.train),
            "validation": len(split.validation),
            "held_out": len(split.held_out),
            "budget_calls": task.limits.n_calls,
            "models": [llm.id for llm in task.asked],
        }
        about = {"kind": "prompt", "name": task.subject.name}
        print_plan_json(SEARCHES, about, found, cost_usd=_estimate_cost_usd(task))
    else:
        click.echo(_describe_plan(task, split))
    return 0


def _describe_plan(task: PromptTask, split: Split) -> str:
    return (
        f"Tuning the {harmless(task.subject.name)} for {harmless(task.llm.id)}: "
        f"{write_count(len(task.subject.cases), 'test')}, "
        f"at most {task.limits.n_calls} calls{_describe_cost(task)}; {_describe_writer(task)}.\n"
        f"{_describe_split(split)}"
    )


@contextmanager
def open_view(
    task: PromptTask, split: Split, *, quiet: bool
) -> Iterator[Callable[[PromptProgress], None]]:
    """Print the plan, then show progress as the output allows."""
    from poor_bench.cli.screen import open_job_view

    n_calls = task.limits.n_calls
    if not quiet:
        click.echo(_describe_plan(task, split), err=True)
    shown: tuple[str, int] | None = None

    def tell(now: PromptProgress) -> None:
        """Move the bar; elsewhere print changed figures, and a line per tenth of the calls."""
        nonlocal shown
        figures = _describe_progress(now)
        tenth = now.n_calls * _LEAST_LINES // n_calls if n_calls else 0
        if (figures, tenth) != shown:
            shown = figures, tenth
            view.tell(f"{write_count(now.n_calls, 'call')}  {figures}")
        view.move(f"calls  {figures}", completed=now.n_calls)

    with open_job_view(total=n_calls, quiet=quiet) as view:
        yield tell


def print_prompt_report(report: PromptReport) -> None:
    """Print the result and the next step."""
    from poor_bench.tuning.prompt.cases import read_split

    print_table(
        {
            "Prompt": "current" if candidate is report.end.base else candidate.key,
            ">Validation": f"{candidate.score:.3f}",
            "From": ", ".join(_name_parent(key, report) for key in candidate.parents),
            "By": candidate.made_by,
            "Text": shorten(candidate.text, _SHOWN_LINE),
        }
        for candidate in report.end.candidates
    )
    if report.diff:
        click.echo(_colour(report.diff))
        click.echo("")
    click.echo(_describe_split(read_split(report.header)))
    click.echo(_describe_end(report))
    if report.proof is not None:
        click.echo(report.proof.sentence)
    click.echo(f"Spent: {write_count(report.n_calls, 'call')}{_format_cost(report.cost_usd)}.")
    click.echo(_suggest_next_step(report))


def _describe_split(split: Split) -> str:
    """Describe the split of the tests, and warn if it is too small."""
    from poor_bench.tuning.prompt.report import LEAST_TO_PROVE

    n_held_out = len(split.held_out)
    text = (
        f"Tests: {len(split.train)} training, {len(split.validation)} validation, "
        f"{n_held_out} held out for the final test"
    )
    if n_held_out >= LEAST_TO_PROVE:
        return f"{text}."
    return (
        f"{text}: too few for a significant gain of any size. Use 40 tests or more, so that at "
        f"least {LEAST_TO_PROVE} are held out."
    )


def _describe_writer(task: PromptTask) -> str:
    from poor_bench.tuning.prompt.edits import IdeaSource

    writer = f"{harmless(task.reflection_llm.id)} writes prompts"
    return {
        IdeaSource.WRITER: writer,
        IdeaSource.EDITS: "rules edit prompts",
        IdeaSource.BOTH: f"{writer}, in turn with rules",
    }[task.ideas]


def _estimate_cost_usd(task: PromptTask) -> float | None:
    """Estimate what all calls of the budget cost; None where a price is unknown."""
    each = task.subject.estimate_cost_usd()
    n_attempts = (task.limits.n_calls or 0) / task.subject.n_calls_per_case
    return None if each is None else n_attempts * each


def _describe_cost(task: PromptTask) -> str:
    cost_usd = _estimate_cost_usd(task)
    return f" (about{_format_cost(cost_usd).removeprefix(',')})" if cost_usd else ""


def _suggest_next_step(report: PromptReport) -> str:
    if report.accepted:
        return f"Written: prompt {report.accepted}."
    go_on = _describe_resume(report)
    if report.improved is not None:
        is_proven = report.proof is not None and report.proof.is_proven
        way = "Next" if is_proven else "To accept it anyway"
        accept = next_command(f"tune accept {report.run_id}")
        step = f"Nothing is written yet. {way}: {accept}"
        return f"{step}\n{go_on}" if go_on else step
    return go_on or "Nothing is written; the current prompt stays."


def _describe_resume(report: PromptReport) -> str:
    """Describe how to continue the search; empty if it is finished and no test failed to run."""
    from poor_bench.tuning.searches import StopReason

    reason = report.end.reason
    if report.proof is not None or not reason.can_go_on:
        failed = write_count(report.n_failed, "test")
        again = f"{failed} failed to run. To run them again, add --resume {report.run_id}"
        return again if report.n_failed else ""
    more = {
        StopReason.BUDGET: " and a larger --budget-calls",
        StopReason.COST: " and a larger --max-cost",
    }
    return f"To continue, add --resume {report.run_id}{more.get(reason, '')}"


def _describe_end(report: PromptReport) -> str:
    from poor_bench.tuning.searches import StopReason

    words = {
        StopReason.THRESHOLD: "The target score is reached.",
        StopReason.NO_GAIN: "Stopped: no better prompt in the last rounds.",
        StopReason.BUDGET: "Stopped: the call budget is used up.",
        StopReason.COST: "Stopped: the next step would exceed --max-cost.",
        StopReason.LLM_FAILED: "Stopped: a model could not be reached.",
        StopReason.CANCELLED: "Stopped; results so far are stored.",
        StopReason.RUNNING: "The search is still running.",
    }
    ending = words.get(report.end.reason, "")
    return f"{ending} {harmless(report.end.message)}".strip()


def _name_parent(key: str, report: PromptReport) -> str:
    base = report.end.base
    return "current" if base is not None and key == base.key else key


def _colour(diff: str) -> str:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    lines = harmless(diff).split("\n")
    return "\n".join(click.style(line, fg=colours.get(line[:1])) for line in lines)


def _format_cost(cost_usd: float | None) -> str:
    from poor_bench.metrics import cost_text

    return f", {cost_text(cost_usd)}" if cost_usd else ""


def _describe_progress(now: PromptProgress) -> str:
    figures = _describe_scores(now)
    return f"{figures}, writing a prompt" if now.is_writing else figures


def _describe_scores(now: PromptProgress) -> str:
    if now.base_score is None or now.best_score is None:
        return "testing the current prompt"
    candidates = write_count(now.n_candidates, "candidate")
    return f"current {now.base_score:.3f}, best {now.best_score:.3f}, {candidates}"
