"""A judged run in sentences; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from poor_bench.judge.agreement import FEW_ITEMS, Agreement, CorrectedScore, Trust
from poor_bench.judge.judged_run import (
    AgentEvent,
    ConversationHeld,
    JudgementMade,
    JudgeRun,
    RunSummary,
)
from poor_bench.judge.pairwise_results import PairOutcome, PairwiseTally, PanelPreferences
from poor_bench.judge.panel import JudgeSpread, Panel, PanelDecision
from poor_bench.judge.prompt import LARGEST_SCORE
from poor_bench.judge.run_comparison import JudgedChange, RunComparison
from poor_bench.messages import write_count
from poor_bench.metrics import cost_text
from poor_bench.pool.events import ModelLoading
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.ranking import COMPARABLE_SHARE

_MOST_REPAIRS = 4


def write_verdict(summary: RunSummary) -> str:
    """State in one line whether an agent is approved, and why.

    The first words are `Approved`, `Not approved` or `Incomplete`.
    """
    panel = summary.panel
    if panel.overall_score is None:
        return "Incomplete: no judgement"
    score = f"{panel.overall_score:.2f} of 10, threshold {panel.threshold:g}"
    if not summary.run.is_complete:
        return f"Incomplete: {score}, but part of the run is missing"
    if panel.decision is PanelDecision.MAJORITY:
        score += f"; {panel.n_approving} of {len(panel.members)} judges approve"
    if summary.n_broken:
        score += f"; {write_count(summary.n_broken, 'case')} broke a rule"
    return f"{'Approved' if summary.is_approved else 'Not approved'}: {score}"


def list_run_notes(summary: RunSummary) -> tuple[str, ...]:
    """List notes beside the scores: failures, noise, disagreement."""
    return (
        *_describe_failures(summary),
        *_describe_noise(summary),
        *_describe_repetitions(summary),
        *_describe_repairs(summary),
        *_describe_disagreement(summary.panel),
        *(
            f"{member.judge} judges its own model: such scores tend to be too high."
            for member in summary.panel.members
            if member.is_self_judged
        ),
    )


def write_change(comparison: RunComparison, change: JudgedChange) -> str:
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


def spread_text(spread: JudgeSpread) -> str:
    """Format range and deviation of repeated scores; empty for a single score.

    Example:
        >>> from poor_bench.judge.panel import compute_spread
        >>> spread_text(compute_spread([6.0, 7.0, 8.0]))
        '6.0 to 8.0, sd 1.00'
    """
    if spread.sd is None:
        return ""
    return f"{spread.low:.1f} to {spread.high:.1f}, sd {spread.sd:.2f}"


def _describe_failures(summary: RunSummary) -> Iterator[str]:
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


def _describe_noise(summary: RunSummary) -> Iterator[str]:
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


def _describe_repetitions(summary: RunSummary) -> Iterator[str]:
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


def _describe_repairs(summary: RunSummary) -> Iterator[str]:
    """List values filled in or clamped, and judgements in parts."""
    told = dict.fromkeys(
        f"{judgement.judge}: {repair}"
        for judgement in summary.run.usable_judgements
        for repair in judgement.repairs
    )
    yield from list(told)[:_MOST_REPAIRS]
    if len(told) > _MOST_REPAIRS:
        yield f"{len(told) - _MOST_REPAIRS} more notes are stored with the judgements."


def _describe_disagreement(panel: Panel) -> Iterator[str]:
    if len(panel.voters) < 2:
        return
    text = f"The judges differ by {panel.disagreement:.2f} points"
    if panel.dimension_disagreement:
        name, width = max(panel.dimension_disagreement.items(), key=lambda item: item[1])
        text += f", most in {name} ({width:.2f})" if width else ""
    if panel.alpha is not None:
        text += f"; Krippendorff's alpha over the cases {panel.alpha:.2f}"
    yield f"{text}."


_WEAK_PEOPLE = 0.667
"""Limit of alpha below which Krippendorff advises against conclusions from people's scores."""


def trust_text(agreement: Agreement) -> str:
    """Rate a judge's agreement with people in one line."""
    if agreement.n == 0:
        return "no labels yet"
    if agreement.n < FEW_ITEMS:
        return f"{agreement.trust} (only {agreement.n} labelled)"
    return "; ".join(
        (f"{agreement.trust}{_describe_basis(agreement)}", *_describe_people(agreement))
    )


def _describe_basis(agreement: Agreement) -> str:
    test = agreement.annotator_test
    if test is None:
        return " (held against single scores: a second person would tell more)"
    if agreement.trust is Trust.YES:
        return " as much as a person"
    return ""


def _describe_people(agreement: Agreement) -> Iterator[str]:
    alpha = agreement.human_alpha
    if alpha is not None and alpha < _WEAK_PEOPLE:
        yield f"people agree little among themselves (alpha {alpha:.2f})"


def write_agreement_figures(agreement: Agreement) -> dict[str, str]:
    """Format the figures of a judge, by their labels."""
    return {
        "Labelled": str(agreement.n),
        "Agrees with people": estimate_text(agreement.with_people),
        "People among themselves": estimate_text(agreement.among_people),
        "May replace": write_replaced(agreement),
        "Weighted kappa": write_figure(agreement.weighted_kappa),
        "Alpha of people": write_figure(agreement.human_alpha),
        "Cohen's kappa": write_figure(agreement.kappa),
        "Spearman": estimate_text(agreement.spearman),
        "Pearson": estimate_text(agreement.pearson),
        "Judge minus people": estimate_text(agreement.bias),
        "Points per doubled length": estimate_text(agreement.length_bias),
    }


def write_corrected_figures(score: CorrectedScore) -> dict[str, str]:
    """Format a corrected score, by the labels of its figures."""
    return {
        "Judge": score.judge,
        "Agent": score.agent_id,
        "Model": score.llm_id,
        "Labelled": f"{score.n_labelled} of {score.n_judged}",
        "Judge's mean": f"{score.judge_mean:.2f}",
        "Corrected": estimate_text(score.corrected),
    }


def write_replaced(agreement: Agreement) -> str:
    """Write how many people the judge may replace; n/a where too few scored the same items."""
    test = agreement.annotator_test
    if test is None:
        return "n/a"
    return f"{round(test.winning_rate * test.n_people)} of {test.n_people} people"


def list_biases(agreement: Agreement) -> Iterator[str]:
    """List significant biases."""
    bias, length = agreement.bias, agreement.length_bias
    if bias is not None and not bias.low <= 0 <= bias.high:
        side = "kinder" if bias.value > 0 else "stricter"
        yield f"{side} than people by {abs(bias.value):.2f} points"
    if length is not None and not length.low <= 0 <= length.high:
        kind = "long" if length.value > 0 else "short"
        yield f"prefers {kind} answers of the same quality"


def write_figure(figure: float | None) -> str:
    """Format a figure with two decimals, or n/a."""
    return "n/a" if figure is None else f"{figure:.2f}"


def estimate_text(estimate: Estimate | None) -> str:
    """Format an estimate with its interval, or n/a.

    Example:
        >>> estimate_text(Estimate(value=0.5, low=0.1, high=0.8, n=9))
        '0.50 (0.10 to 0.80)'
    """
    if estimate is None:
        return "n/a"
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


def write_outcome(outcome: PairOutcome) -> str:
    """Name the outcome of a comparison."""
    return "changes with order" if outcome is PairOutcome.SWAYED else outcome.value


def tally_text(tally: PairwiseTally) -> Iterator[str]:
    """Describe the winner, its significance, and the position bias."""
    won, lost = tally.count(PairOutcome.A), tally.count(PairOutcome.B)
    tied, swayed = tally.count(PairOutcome.TIE), tally.count(PairOutcome.SWAYED)
    yield (
        f"A better: {won}, B better: {lost}, tie: {tied}, changes with order: {swayed}, "
        f"not judged: {tally.count(PairOutcome.FAILED)}"
    )
    share = tally.share_of_a
    if share is not None:
        verdict = _describe_verdict(share, [each.outcome for each in tally.comparisons])
        yield f"A wins {_write_percent(share)} of the pairs with a winner: {verdict}."
    bias = tally.position_bias
    if bias is not None:
        yield f"The winner changes with the order in {_write_percent(bias)} of the pairs."
    yield from _describe_position(tally)


def _describe_position(tally: PairwiseTally) -> Iterator[str]:
    """Tell position bias from inconsistency."""
    preference, effect = tally.order_preference, tally.order_effect
    found = tally.order_significance
    if preference is None or found is None:
        return
    side = {True: "the first", False: "the second"}[preference.value >= 0]
    if found.prefers_position:
        yield f"Position bias: {side} position is preferred, net {_write_percent(preference)}."
    else:
        yield f"Preference for a position: {_write_percent(preference)}, not significant."
    if effect is None or tally.inconsistency is None:
        yield (
            "Without repeats, changes with the order may be position bias or inconsistency: use "
            "--again."
        )
        return
    changed = _write_percent(tally.inconsistency)
    yield f"Asked the same again, the judge changes its answer in {changed}."
    meaning = "position bias" if found.depends_on_order else "not significant"
    yield f"With the order it changes by {_write_percent(effect)} more: {meaning}."


def describe_panel(decisions: PanelPreferences) -> Iterator[str]:
    """Describe the panel's decision and its unanimity."""
    said = list(decisions.by_case.values())
    yield (
        f"Together: A better: {said.count(PairOutcome.A)}, B better: {said.count(PairOutcome.B)}, "
        f"of {len(said)} cases; unanimous: {decisions.n_unanimous}."
    )
    share = decisions.share_of_a
    if share is not None:
        verdict = _describe_verdict(share, said)
        yield f"A wins {_write_percent(share)} of the cases with a winner: {verdict}."


def _describe_verdict(share: Estimate, outcomes: Sequence[PairOutcome]) -> str:
    n_judged = len(outcomes) - outcomes.count(PairOutcome.FAILED)
    if n_judged < COMPARABLE_SHARE * len(outcomes):
        return f"{n_judged} of {len(outcomes)} were judged, too few to name the better one"
    if share.low > 0.5:
        return "A is better"
    return "B is better" if share.high < 0.5 else "no significant difference"


def _write_percent(share: Estimate) -> str:
    low, high = 100 * share.low, 100 * share.high
    return f"{100 * share.value:.0f} % ({low:.0f} to {high:.0f} %, n = {share.n})"


def describe_event(event: AgentEvent) -> str:
    """Format an event as one line."""
    match event:
        case ModelLoading(llm_id=llm_id):
            return f"{llm_id}: loading"
        case ConversationHeld(conversation=talk):
            if talk.failure is not None:
                return f"{talk.case_id}: stopped: {talk.failure.message}"
            return f"{talk.case_id}: {write_count(len(talk.turns), 'turn')}"
        case JudgementMade(judgement=judgement):
            if judgement.is_fallback:
                return f"{judgement.judge}: no judgement: {judgement.error}"
            return f"{judgement.judge}: {judgement.overall_score:.2f} of 10"
