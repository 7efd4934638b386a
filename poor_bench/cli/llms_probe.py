"""`llms probe`: which settings a server honours, and how many requests at once pay."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from poor_bench import metrics
from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.options import count_option
from poor_bench.cli.output import json_option, print_json, print_table, say
from poor_bench.command_line import next_command, write_examples
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from poor_bench.models.llm import LLM
    from poor_bench.probe.finding import Setting
    from poor_bench.probe.load_curve import LoadBar, LoadCurve
    from poor_bench.probe.report import ProbeReport

_EPILOG = write_examples(
    """
  {program} llms probe embedded:smollm2-135m              at most 20 requests
  {program} llms probe ollama:qwen3:1.7b --only num_ctx --only seed
  {program} llms probe ollama:qwen3:1.7b --load --most 16
"""
)
_SETTINGS = (
    "seed",
    "temperature",
    "max_tokens",
    "num_ctx",
    "stop",
    "response_schema",
    "effort",
    "system_prompt",
)
_MOST_AT_ONCE = 256
_BAR_LENGTH = 20
"""Characters of the longest bar of a load curve."""


@click.command("probe", epilog=_EPILOG)
@click.argument("llm_id")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(_SETTINGS),
    help="Probe this setting only; repeatable.",
)
@click.option("--load", "with_load", is_flag=True, help="Measure the load curve instead.")
@count_option("--most", default=8, most=_MOST_AT_ONCE, hint="Most requests at once of --load.")
@json_option
@pass_app
def probe_llm(
    app: AppContext,
    /,
    llm_id: str,
    only: tuple[str, ...],
    with_load: bool,
    most: int,
    as_json: bool,
) -> int:
    """Find out which settings the server of a model honours.

    Reports, `llms` and the dashboard then show what is ignored beside the results of the model,
    until its entry or its server changes. With --load: latency and throughput by concurrency.
    """
    from poor_bench.probe.storage import save_probe

    if with_load and only:
        raise click.UsageError("--only and --load exclude each other")
    llm = app.find_llm(llm_id)
    report = (
        _measure_load(app, llm, most, quiet=as_json)
        if with_load
        else _probe_settings(app, llm, only, quiet=as_json)
    )
    stored = save_probe(app.data_dir, llm.id, report)
    if as_json:
        print_json(probe_to_json(llm.id, report, is_current=True))
        return 0
    if report.load is not None:
        _print_load(report.load)
    else:
        _print_findings(report)
    if with_load and not stored.findings:
        click.echo(f"Next: {next_command('llms probe', llm.id)}")
    return 0


def _probe_settings(
    app: AppContext, llm: LLM, only: Collection[str], *, quiet: bool
) -> ProbeReport:
    from poor_bench.cli.screen import open_job_view
    from poor_bench.llm_manager import LLMManager
    from poor_bench.probe.ask import probe_llm
    from poor_bench.probe.finding import Setting
    from poor_bench.probe.plan import ALL_SETTINGS, MOST_CALLS

    chosen: frozenset[Setting] = frozenset(map(Setting, only)) or ALL_SETTINGS
    manager = LLMManager(app.data_dir)
    try:
        with open_job_view(f"Probing {llm.id}", MOST_CALLS, quiet=quiet) as view:
            view.tell(f"Probing {llm.id} with at most {MOST_CALLS} requests ...")
            return probe_llm(
                manager, llm, chosen, lambda call: view.move(call.setting.words, advance=1)
            )
    finally:
        manager.close()


def _measure_load(app: AppContext, llm: LLM, most: int, *, quiet: bool) -> ProbeReport:

    from poor_bench.calls.caller import RetryPolicy
    from poor_bench.cli.screen import open_job_view
    from poor_bench.llm_manager import LLMManager
    from poor_bench.probe.ask import list_levels, measure_load
    from poor_bench.probe.report import ProbeReport, hash_settings

    def open_manager() -> LLMManager:
        return LLMManager(app.data_dir, policy=RetryPolicy(max_attempts={}))

    with open_job_view(f"Measuring {llm.id}", len(list_levels(most)), quiet=quiet) as view:

        def tell(concurrency: int) -> None:
            text = write_count(concurrency, "request")
            view.tell(f"Asking with {text} at once ...")
            view.move(f"{text} at once", advance=1)

        curve = measure_load(open_manager, llm, most, tell)
    return ProbeReport(
        created=datetime.now(UTC).isoformat(timespec="milliseconds"),
        settings=hash_settings(llm),
        load=curve,
    )


def probe_to_json(llm_id: str, report: ProbeReport, *, is_current: bool) -> dict[str, Any]:
    """Build the JSON output of a probe."""
    more = {"is_current": is_current, "notes": report.notes}
    return {"llm_id": llm_id, **asdict(report), **more}


def _print_findings(report: ProbeReport) -> None:
    print_table(
        {
            "Setting": finding.setting.words,
            "Verdict": finding.verdict.value,
            "Reason": f"{finding.reason} {finding.evidence}".strip(),
        }
        for finding in report.findings
    )
    click.echo(f"{write_count(report.n_calls, 'request')} sent.")
    if report.notes:
        say(f"Results of this model now say: {', '.join(report.notes)}.")


def _print_load(curve: LoadCurve) -> None:
    print_table(map(_build_level_row, curve.draw()), hides_empty=True)
    for level in curve.levels:
        if level.failure:
            say(f"At {level.concurrency}: {level.failure}")
    if curve.stopped:
        click.echo(f"Stopped: {curve.stopped}.")
    click.echo(f"Recommended: concurrency {curve.recommended}")


def _build_level_row(bar: LoadBar) -> dict[str, str]:

    level = bar.level
    return {
        ">At once": str(level.concurrency),
        ">Requests": str(level.n_requests),
        ">Failed": str(level.n_failed or ""),
        ">Median": metrics.time_text(level.median_ms),
        ">p95": metrics.time_text(level.p95_ms),
        ">Requests/s": f"{level.requests_per_s:.2f}",
        ">Tokens/s, all": metrics.speed_text(level.tokens_per_s),
        ">Tokens/s, each": metrics.speed_text(level.request_tokens_per_s),
        ">Answers changed": metrics.percent_text(level.changed_share),
        "Throughput": "#" * round(_BAR_LENGTH * bar.share) + (" knee" if bar.is_knee else ""),
    }
