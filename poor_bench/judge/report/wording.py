"""A judged run in sentences; pure."""

from __future__ import annotations

from collections.abc import Iterator

from poor_bench.judge.agreement.spread import Spread
from poor_bench.judge.history.comparison import RunComparison, ScoreChange
from poor_bench.judge.history.judge_run import JudgeRun
from poor_bench.judge.history.summary import RunSummary
from poor_bench.judge.panel.panel import Decision, Panel
from poor_bench.judge.verdict_schema import LARGEST_SCORE
from poor_bench.messages import counted
from poor_bench.reports.number_text import cost_text

_MOST_REPAIRS = 4


def verdict_text(summary: RunSummary) -> str:
    """State in one line whether an agent is approved, and why.

    The first words are `Approved`, `Not approved` or `Incomplete`.
    """
    panel = summary.panel
    if panel.overall_score is None:
        return "Incomplete: no judgement"
    score = f"{panel.overall_score:.2f} of 10, threshold {panel.threshold:g}"
    if not summary.run.is_complete:
        return f"Incomplete: {score}, but part of the run is missing"
    if panel.decision is Decision.MAJORITY:
        score += f"; {panel.n_approving} of {len(panel.members)} judges approve"
    if summary.n_broken:
        score += f"; {counted(summary.n_broken, 'case')} broke a rule"
    return f"{'Approved' if summary.is_approved else 'Not approved'}: {score}"


def notes_on(summary: RunSummary) -> tuple[str, ...]:
    """List notes beside the scores: failures, noise, disagreement."""
    return (
        *_failures(summary),
        *_noise(summary),
        *_repetitions(summary),
        *_repairs(summary),
        *_disagreement(summary.panel),
        *(
            f"{member.judge} judges its own model: such scores tend to be too high."
            for member in summary.panel.members
            if member.is_self_judged
        ),
    )


def change_text(comparison: RunComparison, change: ScoreChange) -> str:
    """Classify a difference; only those beyond noise are `better` or `worse`."""
    if not comparison.is_comparable(change):
        return "not comparable"
    if change.floor is None:
        return "may be noise: use --repeat"
    if change.is_noise:
        return "within noise"
    return "better" if change.difference > 0 else "worse"


def run_cost_text(run: JudgeRun) -> str:
    """Format the known cost of a run; empty if unknown."""
    apart = "" if run.is_cost_whole else ", without models that have no prices"
    return f"{cost_text(run.cost_usd)}{apart}" if run.cost_usd is not None else ""


def spread_text(spread: Spread) -> str:
    """Format range and deviation of repeated scores; empty for a single score.

    Example:
        >>> from poor_bench.judge.agreement.spread import spread_of
        >>> spread_text(spread_of([6.0, 7.0, 8.0]))
        '6.0 to 8.0, sd 1.00'
    """
    if spread.sd is None:
        return ""
    return f"{spread.low:.1f} to {spread.high:.1f}, sd {spread.sd:.2f}"


def _failures(summary: RunSummary) -> Iterator[str]:
    for talk in summary.run.conversations:
        if talk.failure is not None:
            message = talk.failure.message
            yield f"The conversation {talk.case_id} stopped early and was not judged: {message}"
    errors: dict[str, int] = {}
    for judgement in summary.run.judgements:
        if judgement.is_fallback:
            message = f"{judgement.judge}: {judgement.error}"
            errors[message] = errors.get(message, 0) + 1
    for message, count in errors.items():
        times = "1 time" if count == 1 else f"{count} times"
        yield f"No judgement ({times}), excluded from all scores: {message}"


def _noise(summary: RunSummary) -> Iterator[str]:
    if summary.noise is not None and summary.noise >= LARGEST_SCORE:
        yield (
            "Noise of the judges: two judgements of the same conversations may differ by the "
            "whole scale by chance alone. Use a larger --repeat for a better estimate."
        )
    elif summary.noise is not None:
        yield (
            f"Noise of the judges: two judgements of the same conversations may differ by "
            f"{summary.noise:.2f} points by chance alone."
        )
    elif summary.panel.voters:
        yield "Each judge was asked once, so its noise is unknown: use --repeat 5."


def _repetitions(summary: RunSummary) -> Iterator[str]:
    """Name judges whose repeats are identical, so that noise cannot be measured."""
    for member in summary.panel.voters:
        judgements = [
            judgement
            for judgement in summary.run.usable_judgements
            if judgement.judge == member.judge
        ]
        if len(judgements) > 1 and len({judgement.reply for judgement in judgements}) == 1:
            yield (
                f"{member.judge} gave the same reply {len(judgements)} times (temperature 0 or a "
                "fixed seed): repeats do not measure its noise."
            )


def _repairs(summary: RunSummary) -> Iterator[str]:
    """List values filled in or clamped, and judgements in parts."""
    told = dict.fromkeys(
        f"{judgement.judge}: {repair}"
        for judgement in summary.run.usable_judgements
        for repair in judgement.repairs
    )
    yield from list(told)[:_MOST_REPAIRS]
    if len(told) > _MOST_REPAIRS:
        yield f"{len(told) - _MOST_REPAIRS} more notes are stored with the judgements."


def _disagreement(panel: Panel) -> Iterator[str]:
    if len(panel.voters) < 2:
        return
    text = f"The judges differ by {panel.disagreement:.2f} points"
    if panel.dimension_disagreement:
        name, width = max(panel.dimension_disagreement.items(), key=lambda item: item[1])
        text += f", most in {name} ({width:.2f})"
    if panel.alpha is not None:
        text += f"; Krippendorff's alpha over the cases {panel.alpha:.2f}"
    yield f"{text}."
