"""`issues`: why score is lost, and what to try."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.options import baseline_option, read_selection, selection_options
from poor_bench.cli.output import json_option, print_json, print_table, say
from poor_bench.cli.process import prepare_to_look
from poor_bench.command_line import next_command, write_examples
from poor_bench.errors import ConfigError
from poor_bench.messages import write_count, write_share

if TYPE_CHECKING:
    from poor_bench.issues.detector import Detector, Issue, IssueGroup
    from poor_bench.issues.form import FormatTax
    from poor_bench.report_generator import ReportGenerator
    from poor_bench.reports.report_data import ReportData

_EPILOG = write_examples(
    """
  {program} issues                          causes: severity first, then lost score
  {program} issues truncated                trials of one cause
  {program} issues --llm 'ollama:*' --class 'math*'
  {program} issues --compare previous       with regressions
  {program} issues new apologises           write a detector of your own
"""
)
_SHOWN = 20


@click.command(epilog=_EPILOG)
@click.argument("cause", required=False)
@click.argument("name", required=False)
@selection_options
@baseline_option
@click.option("--all", "shows_all", is_flag=True, help="Show every trial of the cause.")
@json_option
@pass_app
def command(
    app: AppContext,
    /,
    cause: str | None,
    name: str | None,
    base: str | None,
    shows_all: bool,
    as_json: bool,
    **filters: Any,
) -> int:
    """Show why score is lost, the cost of format alone, and possible fixes.

    CAUSE is the id of a cause, as shown in the table and by --json; its trials are listed. A lost
    score is charged to one cause only, so the shares add up to 100 %.

    `issues new NAME` writes issues/NAME.py, a detector of your own, into the workspace.
    """
    if cause == "new":
        return _write_detector(app, name)
    if name is not None:
        raise click.UsageError(f"unexpected argument {name!r}: give one cause")
    from poor_bench.report_generator import ReportGenerator

    prepare_to_look()
    chosen = read_selection(filters)
    report = ReportGenerator(app.config, chosen, base=base or "", reads_columns=True)
    causes = report.read_causes() if cause is None else None
    if causes is None:
        if not report.data.results:
            from poor_bench.cli.report import print_no_results

            print_no_results(report.data, "issues")
            return 0
        _find_issues(report.data, quiet=as_json)
        if cause is not None:
            _show_cause(report.data, cause, shows_all=shows_all, as_json=as_json)
            return 0
        causes = report.find_causes()
    _print_all(report, *causes, as_json=as_json)
    return 0


def _print_all(
    report: ReportGenerator,
    groups: Sequence[IssueGroup],
    taxes: Sequence[FormatTax],
    *,
    as_json: bool,
) -> None:
    from poor_bench.issues.detector import sort_by_severity

    if as_json:
        print_json({"issues": groups, "format_tax": taxes})
    else:
        _print_causes(sort_by_severity(groups))
        _print_failed(groups)
        _print_format_tax(report.names, taxes)


def _find_issues(data: ReportData, *, quiet: bool) -> None:
    """Look for issues, with progress where many results are read."""
    from poor_bench.cli.screen import open_job_view

    if data.stored is not None:
        with open_job_view("Reading results", len(data.results), quiet=quiet) as view:
            data.stored.follow(lambda n_read: view.move(completed=n_read))
            len(data.issues)  # computed now, and kept


def _write_detector(app: AppContext, name: str | None) -> int:
    from poor_bench.plugins.new_plugin import write_new_detector

    if name is None:
        raise click.UsageError("missing the detector's name, such as `issues new apologises`")
    path = write_new_detector(name, app.data_dir / "issues")
    click.echo(f"Wrote {path}.")
    click.echo(f"Next: {next_command('issues', name)}")
    return 0


def _print_failed(groups: Sequence[IssueGroup]) -> None:
    """Name the file and line of detectors that failed: without them the table is incomplete."""
    from poor_bench.issues.detector import FAILED

    for group in groups:
        for issue in group.examples if group.detector_id == FAILED else ():
            say(f"Detector failed: {issue.evidence}", err=True)


def _show_cause(data: ReportData, cause: str, *, shows_all: bool, as_json: bool) -> None:
    _require_cause(cause, data.detectors)
    group = next((group for group in data.issue_groups if group.detector_id == cause), None)
    of_cause = [*data.issues.where(cause)]
    issues = sorted(of_cause, key=lambda issue: (-issue.lost_score, issue.llm_id, issue.test_id))
    if as_json:
        print_json({"group": group, "issues": issues})
    elif group is None:
        click.echo(f"No trial has the cause `{cause}`.")
    else:
        _print_group(data, group, issues if shows_all else issues[:_SHOWN])


def _require_cause(cause: str, detectors: Sequence[Detector]) -> None:
    from poor_bench.config.names import write_names_hint

    known = [detector.id for detector in detectors]
    if cause not in known:
        hint = write_names_hint(cause, known, limit=len(known))
        raise ConfigError(f"the cause `{cause}` does not exist", hint=hint)


def _print_causes(groups: Sequence[IssueGroup]) -> None:
    if not groups:
        click.echo("No issues.")
        return
    print_table(
        {
            "Id": group.detector_id,
            "Cause": group.title,
            "Severity": group.severity.value,
            ">Trials": str(group.n_trials),
            ">Models": str(len(group.n_by_llm)),
            ">Of lost score": write_share(group.lost_share, 1) if group.lost_score else "",
            "Fix": group.advice,
        }
        for group in groups
    )


def _print_format_tax(names: Mapping[str, str], taxes: Sequence[FormatTax]) -> None:
    from poor_bench import metrics

    if not taxes:
        return
    click.echo("Format tax (score lost by correct answers in the wrong format):")
    print_table(
        {
            "Model": names.get(tax.llm_id, tax.llm_id),
            "Class": tax.class_id,
            f">{metrics.SCORE.label}": metrics.SCORE.text(tax.score),
            f">{metrics.STRICT_SCORE.label}": metrics.STRICT_SCORE.text(tax.strict_score),
            f">{metrics.FORMAT_TAX.label}": metrics.FORMAT_TAX.text(tax.tax),
            "Found": _write_counts(tax.n_by_found.items()),
            "Fix": tax.fix,
        }
        for tax in taxes
    )


def _print_group(data: ReportData, group: IssueGroup, issues: Sequence[Issue]) -> None:
    of_lost = f", {write_share(group.lost_share, 1)} of the lost score" if group.lost_score else ""
    click.echo(f"{group.title}: {write_count(group.n_trials, 'trial')}{of_lost}")
    if group.meaning:
        click.echo(f"Meaning: {group.meaning}")
    click.echo(f"Fix: {group.advice}")
    by_llm = ((data.name(llm_id), count) for llm_id, count in group.n_by_llm.items())
    say(f"Models: {_write_counts(by_llm)}")
    print_table(
        {
            "Model": data.name(issue.llm_id),
            "Test": issue.test_id,
            ">Lost": f"{issue.lost_score:.2f}",
            "Evidence": issue.evidence,
        }
        for issue in issues
    )
    if len(issues) < group.n_trials:
        click.echo(f"{group.n_trials - len(issues)} more: --all shows them.")


def _write_counts(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts)
