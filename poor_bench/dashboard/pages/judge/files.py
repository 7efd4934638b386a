"""The tables of the page as files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poor_bench.dashboard.pages.judge.layout import JudgeUrl, chosen_run, run_with_id
from poor_bench.dashboard.pages.judge.tables import (
    CORRECTED,
    TRUST,
    define_cases,
    define_changes,
    define_dimensions,
    define_runs,
    list_dimensions,
)
from poor_bench.dashboard.table_files import TableFile, table_file

if TYPE_CHECKING:
    from poor_bench.dashboard.services.services import Services


def scores_csv(services: Services, search: str | None) -> TableFile:
    """Export the scores of the open run, or their changes from its baseline."""
    summaries, url = services.judged.summaries(), JudgeUrl.read(search)
    summary, base = chosen_run(summaries, url), run_with_id(summaries, url.base)
    if summary is None:
        return table_file("judge_scores", [])
    if base is None:
        return define_dimensions(summary).file("judge_scores", list_dimensions(summary), url)
    comparison = services.judged.comparison(base, summary)
    changes = (*comparison.scores, *comparison.cases)
    return define_changes(comparison).file("judge_changes", changes, url)


def cases_csv(services: Services, search: str | None) -> TableFile:
    """Export the cases of the open run, with feedback."""
    url = JudgeUrl.read(search)
    summary = chosen_run(services.judged.summaries(), url)
    return define_cases().file("judge_cases", summary.cases if summary else (), url)


def runs_csv(services: Services, search: str | None) -> TableFile:
    """Export all runs, newest first unless the reader sorts them."""
    runs = services.judged.summaries()[::-1]
    return define_runs().file("judge_runs", runs, JudgeUrl.read(search))


def trust_csv(services: Services, search: str | None) -> TableFile:
    """Export the agreement of each judge with people."""
    judges = [each for each in services.judged.agreement().items() if each[1].n]
    return TRUST.file("judge_trust", judges, JudgeUrl.read(search))


def corrected_csv(services: Services, search: str | None) -> TableFile:
    """Export the mean scores that people would give."""
    scores = [each for each in services.judged.corrected_scores() if each.corrected is not None]
    return CORRECTED.file("judge_corrected", scores, JudgeUrl.read(search))
