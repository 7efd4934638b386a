"""Scores of judges corrected by a few labels, and which answers to label next."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from poor_bench.judge.agreement import CorrectedScore
from poor_bench.judge.judged_run import JudgeRun
from poor_bench.labels.label import LARGEST_SCORE, OVERALL, Label, keep_current_labels
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.prediction_powered import (
    LEAST_LABELS,
    compute_chances,
    compute_sizes,
    estimate_corrected_mean,
    order_by_chance,
)

_HASH_BITS = 64
IMAGINED_ERROR = 0.5
"""Points that whole scores may hide: a few of them are often equal by rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswer:
    """A judged conversation of one model."""

    about: str
    """`Conversation.hash`."""
    agent_id: str
    llm_id: str
    run_id: str
    """The newest run that holds it."""
    case_id: str
    group: str
    """Of the case, or else the case itself: conversations about it are not independent."""
    scores: Mapping[str, list[float]] = field(default_factory=dict)
    """Every score of each judge, 0.0 to 10.0."""

    @property
    def lot(self) -> float:
        """Number between 0 and 1, drawn once for all from the conversation's hash."""
        return float((int(self.about, 16) + 0.5) / 2**_HASH_BITS)

    @property
    def squares(self) -> tuple[float, int]:
        """Sum of squared deviations of all judges' scores, and its degrees of freedom."""
        scores = [score for given in self.scores.values() for score in given]
        mean = statistics.fmean(scores)
        return sum((score - mean) ** 2 for score in scores), len(scores) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class NextAnswer:
    """An answer to label next."""

    answer: JudgedAnswer
    weight: float
    """As `Label.weight`."""


_Model = tuple[str, str]
"""Agent and LLM."""


def collect_answers(runs: Iterable[JudgeRun]) -> dict[_Model, list[JudgedAnswer]]:
    """Collect the judged conversations of each model, with all scores; fallbacks count nothing."""
    found: dict[_Model, dict[str, JudgedAnswer]] = {}
    for run in runs:
        model = run.header.agent_id, run.header.llm_id
        for judgement in run.usable_judgements:
            for case in judgement.scored_cases:
                talk = run.conversation(case.test_name)
                if talk is None:
                    continue
                answers = found.setdefault(model, {})
                known = answers.get(talk.hash)
                scores = dict(known.scores) if known else {}
                scores[judgement.judge] = [*scores.get(judgement.judge, ()), case.score]
                answers[talk.hash] = JudgedAnswer(
                    about=talk.hash,
                    agent_id=model[0],
                    llm_id=model[1],
                    run_id=run.run_id,
                    case_id=talk.case_id,
                    group=talk.group or talk.case_id,
                    scores=scores,
                )
    return {model: list(answers.values()) for model, answers in found.items()}


def choose_next(
    runs: Iterable[JudgeRun], labels: Iterable[Label], n: int
) -> tuple[NextAnswer, ...]:
    """Choose the answers to label next.

    Answers on which the judges' scores differ have a larger chance. Chances are known, so that the
    corrected scores stay unbiased. In simulation (`benchmarks/statistics/judge_corrected.py`) the
    corrected score needs 13 % to 49 % of the labels that the mean of randomly drawn labels needs.
    The correction does most of that: beside it, the choice saves 21 % to 40 % of the labels where a
    judge is sure and right about most answers (passed or not), and up to 9 % elsewhere. Chances by
    the true standard error of the judge on each answer would not save more.

    Args:
        runs: In any order.
        labels: All labels, in the order in which they were given.
        n: At most so many answers.
    """
    labelled = {label.about for label in keep_current_labels(labels)}
    chosen = [
        NextAnswer(answer=answer, weight=size)
        for answers in collect_answers(runs).values()
        for answer, size in zip(answers, _count_sizes(answers), strict=True)
        if answer.about not in labelled
    ]
    order = order_by_chance([item.weight for item in chosen], [item.answer.lot for item in chosen])
    return tuple(chosen[index] for index in order[:n])


def _count_sizes(answers: Sequence[JudgedAnswer]) -> list[float]:
    """Compute how much is to be learnt from each answer, by the spread of its scores."""
    parts = [answer.squares for answer in answers]
    return compute_sizes([squares for squares, _ in parts], [freedom for _, freedom in parts])


def correct_scores(runs: Iterable[JudgeRun], labels: Iterable[Label]) -> tuple[CorrectedScore, ...]:
    """Correct the mean score of each judge and model by what people gave some of the answers.

    Labels that `choose_next` drew are weighted by their chance; other labels beside them stand for
    themselves only. If people chose all of them, they count as a random sample.

    Args:
        runs: In any order.
        labels: All labels, in the order in which they were given.
    """
    history = list(labels)
    # A newer score of the same person does not undo how the answer was chosen.
    weights = {label.about: label.weight for label in history if label.weight is not None}
    given: dict[str, list[float]] = {}
    for label in keep_current_labels(history):
        if label.dimension == OVERALL and label.score is not None:
            given.setdefault(label.about, []).append(label.score)
    found = []
    for (agent_id, llm_id), answers in collect_answers(runs).items():
        drawn = {about: weight for about, weight in weights.items() if about in given}
        chances = _compute_chances(answers, set(given), drawn)
        for judge in dict.fromkeys(judge for answer in answers for judge in answer.scores):
            judged = [answer for answer in answers if judge in answer.scores]
            guesses = [statistics.fmean(answer.scores[judge]) for answer in judged]
            people = [_mean_or_nan(given.get(answer.about, ())) for answer in judged]
            estimate = estimate_corrected_mean(
                guesses,
                people,
                [chances[answer.about] for answer in judged],
                groups=[answer.group for answer in judged],
                imagined_error=IMAGINED_ERROR,
                bounds=(0.0, LARGEST_SCORE),
            )
            found.append(
                CorrectedScore(
                    judge=judge,
                    agent_id=agent_id,
                    llm_id=llm_id,
                    n_judged=len(judged),
                    n_labelled=sum(answer.about in given for answer in judged),
                    judge_mean=statistics.fmean(guesses),
                    corrected=estimate and _limit_to_scale(estimate),
                )
            )
    return tuple(found)


def _mean_or_nan(scores: Sequence[float]) -> float:
    return statistics.fmean(scores) if scores else float("nan")


def _compute_chances(
    answers: Sequence[JudgedAnswer], labelled: Collection[str], weights: Mapping[str, float]
) -> dict[str, float]:
    """Compute the chance of each answer to be labelled; all 1 for a random sample.

    Args:
        answers: Of one model.
        labelled: Hashes of the labelled ones.
        weights: Of those of them that were drawn.
    """
    drawn = {answer.about for answer in answers} & weights.keys()
    if len(drawn) < LEAST_LABELS:
        return dict.fromkeys((answer.about for answer in answers), 1.0)
    sizes = {
        answer.about: weights.get(answer.about, size)
        for answer, size in zip(answers, _count_sizes(answers), strict=True)
        if answer.about in drawn or answer.about not in labelled
    }
    chances = compute_chances(list(sizes.values()), len(drawn))
    by_answer = dict(zip(sizes, map(float, chances), strict=True))
    return {answer.about: by_answer.get(answer.about, 1.0) for answer in answers}


def _limit_to_scale(estimate: Estimate) -> Estimate:
    limits = (estimate.value, estimate.low, estimate.high)
    value, low, high = (min(max(each, 0.0), LARGEST_SCORE) for each in limits)
    return replace(estimate, value=value, low=low, high=high)
