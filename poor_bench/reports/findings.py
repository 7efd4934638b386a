"""Findings of a report, in a few sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from poor_bench.messages import stale_text, write_count, write_removed_tests, write_share
from poor_bench.metrics import interval_text, score_text
from poor_bench.reports.report_data import ReportData
from poor_bench.statistics.comparison import name_tie_groups

Quote = Callable[[str], str]
"""Makes the name of an LLM, class or test safe for where the sentence will stand."""
_ALL_NAMED_UP_TO = 4
"""Detectors that say no more than that the answer is wrong."""


def list_findings(data: ReportData, quote: Quote, *, with_cause: bool = True) -> Iterator[str]:
    """Yield sentences: who leads, what changed since the base, why score is lost, what is missing.

    Args:
        data: The report.
        quote: Applied to every name that is not ours.
        with_cause: Whether to look why score is lost, which reads every response.
    """
    yield from _tell_leader(data, quote)
    yield from _tell_coverage(data, quote)
    yield from _describe_predicted(data, quote)
    yield from _tell_groups(data)
    yield from _tell_uncertainty(data, quote)
    yield from _tell_changes(data, quote)
    if with_cause:
        yield from _tell_main_cause(data)
    yield from _tell_missing(data)
    yield from _describe_disabled(data, quote)
    yield from _tell_weakly_isolated(data)
    yield from _tell_settings(data, quote)


def name_ties(data: ReportData) -> dict[str, str]:
    """Name the tie groups by LLM id: LLMs that share one are tied; empty for a single LLM."""
    return name_tie_groups(data.ranking.groups) if len(data.ranking.ranks) > 1 else {}


def _tell_leader(data: ReportData, quote: Quote) -> Iterator[str]:
    """Yield who leads; an LLM that was scored on other tests is never named best."""
    yield from _tell_leader_without_rank(data, quote)
    ranks = data.ranking.ranks
    if len(ranks) < 2:
        return
    first = ranks[0]
    llm = "model" if len(ranks) == len(data.standing.ranks) else "comparable model"
    if first.worst == 1:
        leader = quote(data.name(first.llm_id))
        common = _describe_common_tests(data)
        yield f"{leader} is significantly better than every other {llm}{common}."
        return
    tied = {llm_id for group in data.ranking.groups if first.llm_id in group for llm_id in group}
    names = [quote(data.name(rank.llm_id)) for rank in ranks[1:] if rank.llm_id in tied]
    shown = "; ".join(names[:_ALL_NAMED_UP_TO])
    more = f" and {len(names) - _ALL_NAMED_UP_TO} more" if len(names) > _ALL_NAMED_UP_TO else ""
    leader = quote(data.name(first.llm_id))
    if names:
        rest = f"but not significantly higher than: {shown}{more}"
        yield f"{leader} scores highest{_describe_common_tests(data)}, {rest}."


def _describe_common_tests(data: ReportData) -> str:
    """Say that models are compared on common tests, where some compared model misses tests."""
    compared = (data.coverage[rank.llm_id] for rank in data.ranking.ranks)
    return "" if all(each.is_complete for each in compared) else " on their common tests"


def _tell_leader_without_rank(data: ReportData, quote: Quote) -> Iterator[str]:
    """Yield why the first LLM is not called the best, if it misses too many tests for that."""
    first = next(iter(data.order.llm_ids), "")
    if len(data.order.llm_ids) > 1 and not data.is_comparable(first):
        yield (
            f"{quote(data.name(first))} scores highest after adjusting for the tests, but has "
            f"{data.coverage[first].badge}: too few to call it the best."
        )


def _tell_coverage(data: ReportData, quote: Quote) -> Iterator[str]:
    for llm_id in data.places:
        if not data.is_comparable(llm_id):
            yield f"{quote(data.name(llm_id))}: {data.warning(llm_id)}."


def _tell_groups(data: ReportData) -> Iterator[str]:
    """Yield how many groups the tests are in, where some share one."""
    scores = [row.score for row in data.summaries() if row.score and row.score.n_tests]
    if scores:
        largest = max(scores, key=lambda score: score.n_all)
        yield f"Confidence intervals count groups of tests: {largest.basis}."


def _describe_predicted(data: ReportData, quote: Quote) -> Iterator[str]:
    """Yield the predicted full score of each LLM that ran the short form only."""
    for llm_id, score in data.order.predicted.items():
        figures = f"{score_text(score.value)} ({interval_text(score.low, score.high)})"
        tests = f"predicted for all {len(data.tests)} tests from {score.n} of the short form"
        yield f"{quote(data.name(llm_id))}: {figures} is {tests}."


def _tell_uncertainty(data: ReportData, quote: Quote) -> Iterator[str]:
    if data.shows_uncertainty:
        from poor_bench.reports.uncertainty import describe_uncertainty

        yield from describe_uncertainty(
            data.uncertainties, data.budget, lambda llm_id: quote(data.name(llm_id))
        )


def _tell_changes(data: ReportData, quote: Quote) -> Iterator[str]:
    if data.base is None:
        return
    from poor_bench.comparison.messages import (
        describe_mismatches,
        list_unpaired_lines,
        verdict,
        write_difference,
    )

    n_told = 0
    for item in data.base.llms:
        groups = [*([item.overall] if item.overall else []), *item.by_change]
        for group in (group for group in groups if group.is_real()):
            n_told += 1
            since = f" since the {describe_mismatches(group.changes)}" if group.changes else ""
            figures = f"{verdict(group)} than before{since}, {write_difference(group)}"
            yield f"{quote(data.name(item.llm_after))}: {figures}."
    if data.base.llms and not n_told:
        yield "No significant difference from the baseline."
    base = data.base
    for line in list_unpaired_lines(
        base.before, base.after, lambda llm_id: quote(data.name(llm_id))
    ):
        yield f"{line}."


def _tell_main_cause(data: ReportData) -> Iterator[str]:
    from poor_bench.issues.wrong_answers import PLAIN

    named = [group for group in data.issue_groups if group.detector_id not in PLAIN]
    if named and named[0].lost_share > 0:
        first = named[0]
        title = f"{first.title[:1].lower()}{first.title[1:]}"
        yield f"Most score is lost to: {title} ({write_share(first.lost_share)} of what is lost)."


def _tell_missing(data: ReportData) -> Iterator[str]:
    if n_failed := data.n_failed - sum(row.n_unjudged for row in data.summaries()):
        trials = write_count(data.n_failed + data.n_scored, "trial")
        yield f"{n_failed} of {trials} failed to run and count in no score."
    if n_newer_failed := sum(row.n_newer_failed for row in data.summaries()):
        trials = write_count(n_newer_failed, "scored trial")
        yield f"A newer attempt failed on {trials}; the stored scores count."
    if data.n_stale:
        yield f"{stale_text(data.n_stale, data.n_scored)}."
    if data.n_removed:
        yield f"{write_removed_tests(data.n_removed)}."


def _describe_disabled(data: ReportData, quote: Quote) -> Iterator[str]:
    if data.disabled_llms:
        names = "; ".join(quote(data.name(llm_id)) for llm_id in data.disabled_llms)
        yield f"All models with results are disabled in llms.json: {names}."


def _tell_weakly_isolated(data: ReportData) -> Iterator[str]:
    """Warn of scores of code that could reach beyond its sandbox."""
    for level, count in sorted(data.weak_sandboxes.items()):
        yield f"{write_count(count, 'score')} of code that ran at sandbox level {level} only."


def _tell_settings(data: ReportData, quote: Quote) -> Iterator[str]:
    """Tell which settings a server did not obey, as a probe found."""
    for llm_id in data.places:
        notes = data.settings_notes.get(llm_id)
        if notes:
            yield f"{quote(data.name(llm_id))}: {', '.join(notes)} (see `llms probe`)."
