"""`suite run` and `suite record`: run cases, show progress, print and write reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.options import (
    HTML_FILE,
    OutputFileType,
    beside_option,
    combine,
    cost_options,
    count_option,
    resume_option,
)
from poor_bench.cli.output import json_option, print_json, print_plan_json, print_table, say
from poor_bench.cli.process import stop_on_signal
from poor_bench.command_line import write_examples
from poor_bench.messages import harmless, write_count

if TYPE_CHECKING:
    from poor_bench.evaluation.models import (
        EvalCaseResult,
        EvalSuite,
        EvalSuiteResult,
        EvalTagResult,
        EvalTrialResult,
    )
    from poor_bench.evaluation.runner import SuiteEvent, SuiteOptions
    from poor_bench.evaluation.stored_run import SuiteRun
    from poor_bench.runs.history import RunHistory


report_file_options = combine(
    click.option("--html", "html_file", type=HTML_FILE, help="Write one HTML page with replays."),
    click.option("--junit", "junit_file", type=OutputFileType(".xml"), help="Write JUnit XML."),
    click.option(
        "--output", "json_file", type=OutputFileType(".json"), help="Write the report as JSON."
    ),
)

_EPILOG = write_examples(
    """
  {program} suite run example
  {program} suite run shop.yaml --case 'cart*' --trials 5 --parallel 2
  {program} suite run shop.yaml --llm ollama:qwen3:8b --html report.html --junit report.xml
  {program} suite run shop.yaml --max-cost 0.50
  {program} suite run shop.yaml --resume last           finish an interrupted run
"""
)


@click.command(epilog=_EPILOG)
@click.argument("file", metavar="FILE|NAME")
@click.option(
    "--tag", "tags", multiple=True, metavar="TAG", help="Only cases with this tag; repeatable."
)
@click.option(
    "--case",
    "cases",
    multiple=True,
    metavar="ID",
    help="Only cases with this id or glob; repeatable.",
)
@count_option("--trials", default=None, most=1000, hint="Number of trials, for all cases.")
@count_option("--parallel", most=64, hint="Parallel trials, each in a browser of its own.")
@click.option(
    "--llm",
    "llm_id",
    metavar="ID",
    help="Model for all cases; cases that a playbook completes do not use it.",
)
@cost_options
@resume_option
@beside_option
@report_file_options
@json_option
@pass_app
def run(
    app: AppContext,
    /,
    file: str,
    resume: str | None,
    parallel: int,
    llm_id: str | None,
    max_cost: float | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Run the cases of a suite, given as a FILE or by NAME.

    Exit code: 1 if a case failed, else 3 if a case could not be run, else 0. Ctrl-C stops cleanly:
    finished trials are kept, and `suite report` shows them. With --resume, continue a stored run:
    its cases and models count; trials that are missing or failed to run are run.
    """
    from poor_bench.evaluation.runner import SuiteOptions, resume_suite
    from poor_bench.evaluation.stored_run import SUITE_RUNS, find_suite_run
    from poor_bench.evaluation.suite_file import find_suite, read_suite, select_cases
    from poor_bench.runs.history import RunHistory
    from poor_bench.runs.turn import run_alone

    suite = read_suite(find_suite(file, app.data_dir), app.data_dir)
    resumed = find_suite_run(app.data_dir, resume) if resume else None
    if resumed is not None:
        _refuse_filters(options)
        suite = resume_suite(resumed, suite)
    else:
        patterns, tags = options["cases"], options["tags"]
        suite = select_cases(suite, case_patterns=patterns, tags=tags, trials=options["trials"])
    settings = SuiteOptions(
        data_dir=app.data_dir,
        llm_id=llm_id,
        parallel=parallel,
        max_cost_usd=max_cost,
        resume=resumed,
    )
    if options["dry_run"]:
        return _print_plan(suite, settings, as_json=as_json)
    history = RunHistory(app.data_dir, SUITE_RUNS)
    with run_alone(history, {"suite": suite.name}, beside=options["beside"]):
        report = _run(suite, settings, quiet=as_json)
    show_report(report, history, as_json=as_json)
    write_report_files(report, find_suite_run(app.data_dir, report.run_id), options)
    if llm_id and not report.llms:
        say(_describe_unused(llm_id), err=True)
    return exit_code(report)


def _refuse_filters(options: dict[str, Any]) -> None:
    given = [name for name in ("cases", "tags", "trials") if options[name]]
    if given:
        option = f"--{given[0]}" if given[0] == "trials" else f"--{given[0].removesuffix('s')}"
        raise click.UsageError(
            f"{option} cannot be combined with --resume: the cases of the stored run count"
        )


def _print_plan(suite: EvalSuite, settings: SuiteOptions, *, as_json: bool) -> int:
    from poor_bench.evaluation.runner import plan_trials

    plans = plan_trials(suite, settings)
    by_case = Counter(plan.case.id for plan in plans)
    llms = sorted({plan.llm.id for plan in plans if plan.llm})
    if as_json:
        from poor_bench.evaluation.stored_run import SUITE_RUNS

        found = {"trials": dict(by_case), "llms": llms}
        about = {"suite": suite.name}
        print_plan_json(SUITE_RUNS, about, found, n_planned=len(plans), cost_usd=None)
        return 0
    print_table({"Case": case_id, ">Trials": str(n)} for case_id, n in by_case.items())
    models = f" with {', '.join(llms)}" if llms else ""
    say(f"{write_count(len(plans), 'trial')}{models}. The cost depends on what the agents do.")
    return 0


def _describe_unused(llm_id: str) -> str:
    return (
        f"Warning: {llm_id} was not used, so this result says nothing about it. No trial reached "
        "a model; to test one, set `execution_mode: agent_only` in the cases."
    )


def _run(suite: EvalSuite, settings: SuiteOptions, *, quiet: bool) -> EvalSuiteResult:
    from poor_bench.evaluation.runner import run_suite_now
    from poor_bench.pool.control import RunControl

    control = RunControl()
    with _open_view(quiet=quiet) as show, stop_on_signal(control):
        return run_suite_now(suite, settings, show, control)


@contextmanager
def _open_view(*, quiet: bool) -> Iterator[Callable[[SuiteEvent], None]]:
    """Show each step on a live bar, and each trial that ended."""
    from poor_bench.cli.screen import open_job_view
    from poor_bench.evaluation.runner import StepDone, SuiteStarted, SuiteTrialFinished

    n_trials = n_done = 0

    def show(event: SuiteEvent) -> None:
        nonlocal n_trials, n_done
        if isinstance(event, SuiteStarted):
            n_trials = event.n_trials
            view.move(description=harmless(event.suite), total=n_trials)
        elif isinstance(event, StepDone):
            view.move(f"{event.case_id}: {event.step.text}"[:60])
        elif isinstance(event, SuiteTrialFinished):
            n_done += 1
            view.say(f"{n_done}/{n_trials}  {_describe_trial(event.result)}")
            view.move(advance=1)

    with open_job_view(quiet=quiet) as view:
        yield show


def _describe_trial(trial: EvalTrialResult) -> str:
    name = f"{trial.case_id} (trial {trial.trial})" if trial.trial_index else trial.case_id
    if trial.failure is not None:
        return f"{name}: not run: {trial.failure.message}"
    seconds = trial.duration_ms / 1000
    verdict = "passed" if trial.passed else f"failed: {trial.failed_checks[0]}"
    return (
        f"{name}: {verdict} ({trial.mode}, {write_count(trial.actions, 'action')}, {seconds:.1f} s)"
    )


_RECORD_EXAMPLES = write_examples(
    """
  {program} suite run shop.yaml --case cancel --llm ollama:qwen3:8b
  {program} suite record cancel                  then, in the suite:  playbook: cancel
  {program} suite record cancel --run 20261122T0245 --name cancel_quickly
"""
)


@click.command(epilog=_RECORD_EXAMPLES)
@click.argument("case")
@click.option(
    "--run",
    "run_reference",
    metavar="RUN",
    help="Run to record; the newest that passed by default.",
)
@click.option("--name", metavar="NAME", help="Name of the playbook; the case's id by default.")
@click.option("--force", is_flag=True, help="Replace an existing playbook.")
@click.option("--no-replay", is_flag=True, help="Do not try the playbook after writing it.")
@pass_app
def record(
    app: AppContext,
    /,
    case: str,
    run_reference: str | None,
    name: str | None,
    force: bool,
    no_replay: bool,
) -> int:
    """Write a playbook from the newest trial of CASE that an agent passed.

    The playbook is then tried without a model, against the expectations of the case. Exit code: 1
    if it fails.
    """
    from poor_bench.evaluation.recording import (
        find_recordable,
        make_replay_suite,
        name_playbook_file,
        write_playbook,
    )

    found = find_recordable(app.data_dir, case, run_reference)
    path = name_playbook_file(app.data_dir, name or case)
    write_playbook(found, path, overwrite=force)
    click.echo(f"Wrote {path}, from run {found.run.run_id}, trial {found.trial.trial}.")
    if no_replay:
        return 0
    return _replay(app, make_replay_suite(found, path))


def _replay(app: AppContext, suite: EvalSuite) -> int:
    from poor_bench.evaluation.runner import SuiteOptions

    report = _run(suite, SuiteOptions(data_dir=app.data_dir), quiet=True)
    show_report(report, None, as_json=False)
    return exit_code(report)


def write_report_files(
    report: EvalSuiteResult, run: SuiteRun | None, files: dict[str, Path | None]
) -> None:
    """Write the files that the options name, and list them on standard error."""
    from poor_bench.evaluation.reports import (
        report_to_html,
        report_to_junit,
        write_file,
        write_report,
    )

    writers: dict[str, Callable[[Path], None]] = {
        "html_file": lambda path: write_file(path, report_to_html(report, run)),
        "junit_file": lambda path: write_file(path, report_to_junit(report)),
        "json_file": lambda path: write_report(report, path),
    }
    for name, write in writers.items():
        path = files[name]
        if path is not None:
            write(path)
            click.echo(f"Wrote {path}", err=True)


def show_report(report: EvalSuiteResult, history: RunHistory | None, *, as_json: bool) -> None:
    """Print a report as JSON, or as a table followed by failures and results by tag.

    Args:
        report: Of a run.
        history: Where the run is stored; None for the report of a file.
        as_json: True to print JSON.
    """
    if as_json:
        from poor_bench.evaluation.reports import report_to_json
        from poor_bench.runs.history import run_to_json

        shared = {}
        if history is not None:
            n_failed, cost_usd = report.n_failed, report.cost_usd
            run = run_to_json(history, report.run_id, n_failed=n_failed, cost_usd=cost_usd)
            shared["run"] = run
        print_json(shared | report_to_json(report))
        return
    print_table(map(_build_row, report.case_results))
    for case in report.case_results:
        for line in _list_reasons(case):
            say(f"{case.id}: {line}")
    if report.tag_results:
        print_table(map(_build_tag_row, report.tag_results))
    say(_summarise(report))


def exit_code(report: EvalSuiteResult) -> int:
    """130 if the run was stopped, 1 if a case failed, 3 if a case was not run, else 0."""
    if report.cancelled:
        return 130
    if report.failed:
        return 1
    return 3 if report.not_run else 0


def _build_row(case: EvalCaseResult) -> dict[str, str]:
    from poor_bench.metrics import cost_text, count_text, time_text

    n_passed = sum(trial.passed for trial in case.trial_results)
    missing = "n/a" if case.trials_run else ""
    return {
        "Case": case.id,
        "": case.status.value.replace("_", " "),
        "By": case.mode or "",
        ">Trials": f"{n_passed}/{case.trials_run}" if case.trials_run else "",
        ">Duration": time_text(case.avg_duration_ms),
        ">Actions": str(case.actions) if case.trials_run else "",
        ">Tokens": missing if case.n_tokens is None else count_text(case.n_tokens),
        ">Cost": cost_text(case.avg_estimated_cost_usd) or missing,
    }


def _list_reasons(case: EvalCaseResult) -> list[str]:
    if case.status.value == "not_run" and not case.failures:
        return ["not run: the run was stopped first", *case.read_errors]
    return [*case.reasons, *case.read_errors]


def _build_tag_row(tag: EvalTagResult) -> dict[str, str]:
    interval = tag.pass_interval
    return {
        "Tag": tag.tag,
        ">Passed": f"{tag.passed}/{tag.total}",
        ">Pass rate": f"{tag.pass_rate:.2f}" if tag.total else "n/a",
        "95 % CI": "{:.2f} to {:.2f}".format(*interval) if interval else "",
        "": f"{tag.not_run} not run" if tag.not_run else "",
    }


def _summarise(report: EvalSuiteResult) -> str:
    text = f"{report.passed} of {write_count(report.total, 'case')} passed"
    if "pass_rate" in report.intervals:
        low, high = report.intervals["pass_rate"]
        text += f" ({report.pass_rate:.2f}, 95 % CI {low:.2f} to {high:.2f})"
    if report.not_run:
        text += f"; {report.not_run} not run, excluded from the rate"
    text = f"{text}. {_describe_models(report)}".rstrip()
    return f"{text} Run {report.run_id}" if report.run_id else text


def _describe_models(report: EvalSuiteResult) -> str:
    """One sentence on the share of models in a result; empty where a model acted in all trials."""
    trials = [trial for case in report.case_results for trial in case.trial_results]
    ran = [trial for trial in trials if trial.failure is None]
    n_playbook = sum(trial.mode == "playbook" for trial in ran)
    if not n_playbook:
        return ""
    if n_playbook == len(ran):
        return "No model was used: only playbooks acted."
    return f"A model acted in {len(ran) - n_playbook} of {write_count(len(ran), 'trial')}."
