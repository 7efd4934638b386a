"""Agreement of evaluators with people's ratings of stored answers."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from poor_bench.judge.agreement import Agreement, ScoredItem, measure_agreement
from poor_bench.judge.report_text import estimate_text
from poor_bench.labels.label import LARGEST_SCORE
from poor_bench.messages import write_share
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.intervals import Estimate, mid_p_interval

if TYPE_CHECKING:
    from poor_bench.labels.ratings import AnswerRatings
    from poor_bench.results.table import ResultTable

_TEXTS = ("response", "thinking", "prompt", "system_prompt", "judgement")
_LEAST = 2
"""Answers from which on a share has an interval that says something."""


def read_rated(table: ResultTable, ratings: Mapping[str, AnswerRatings]) -> Iterator[Result]:
    """Yield the stored answers that people rated, with their texts; other tests are not read."""
    tests = {given.labels[0].test_id for given in ratings.values()}
    rows = table.find_entries("test_id", tests.__contains__).nonzero()[0]
    return (result for result in table.whole(rows, _TEXTS) if result.answer_id in ratings)


def collect_rated_items(
    results: Iterable[Result], ratings: Mapping[str, AnswerRatings]
) -> dict[str, ScoredItem]:
    """Set the evaluator's score of each rated answer against people's, by `Result.answer_id`.

    The same words count once, with the mean of their scores. Scores are from 0.0 to 10.0, as
    everywhere where judges meet people.
    """
    scores: dict[str, list[float]] = {}
    lengths: dict[str, int] = {}
    for result in results:
        given = ratings.get(result.answer_id)
        if given is not None and given.scores and result.score is not None:
            scores.setdefault(result.answer_id, []).append(result.score * LARGEST_SCORE)
            lengths[result.answer_id] = len(result.response)
    return {
        about: ScoredItem(
            judge=statistics.fmean(found),
            humans={who: score * LARGEST_SCORE for who, score in ratings[about].scores.items()},
            length=lengths[about],
        )
        for about, found in scores.items()
    }


def collect_judged_answers(
    results: Iterable[Result], ratings: Mapping[str, AnswerRatings]
) -> dict[str, tuple[ScoredItem, ...]]:
    """Collect by judge the rated answers whose evaluator asked a model."""
    by_judge: dict[str, list[Result]] = {}
    for result in results:
        judge = (result.judgement or {}).get("judge")
        if isinstance(judge, str) and judge:
            by_judge.setdefault(judge, []).append(result)
    found = {judge: collect_rated_items(each, ratings) for judge, each in by_judge.items()}
    return {judge: tuple(items.values()) for judge, items in found.items() if items}


def add_judged_answers(
    items: Mapping[str, tuple[ScoredItem, ...]],
    ratings: Mapping[str, AnswerRatings],
    table: ResultTable,
) -> dict[str, tuple[ScoredItem, ...]]:
    """Add rated answers to judged conversations, by judge.

    Args:
        items: The conversations.
        ratings: All ratings.
        table: The stored results.
    """
    found = dict(items)
    for judge, answers in collect_judged_answers(read_rated(table, ratings), ratings).items():
        found[judge] = found.get(judge, ()) + answers
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorAgreement:
    """Agreement of the evaluator of one test class with people; None where data are too few."""

    class_id: str
    """Empty for all classes together."""
    n_disputed: int
    """Answers whose rating is 0.5 or more away from the evaluator's score."""
    same_verdict: Estimate | None
    """Share of answers that both pass, or both do not."""
    difference: Estimate | None
    """Mean of evaluator minus people, -1.0 to 1.0."""
    agreement: Agreement

    @property
    def n(self) -> int:
        """Number of different answers with a score of both."""
        return self.agreement.n


def measure_evaluators(
    results: Iterable[Result],
    ratings: Mapping[str, AnswerRatings],
    tests: Mapping[str, Test],
    *,
    pass_score: float = 1.0,
) -> list[EvaluatorAgreement]:
    """Measure the agreement of evaluators with people, all classes together first.

    Args:
        results: With their texts, in any order; the rest are passed over.
        ratings: By `Result.answer_id`.
        tests: By test id; answers to other tests are left out.
        pass_score: Lowest score that passes, 0.0 to 1.0.
    """
    known = [result for result in results if result.test_id in tests]
    class_of = {result.answer_id: tests[result.test_id].class_id for result in known}
    items = collect_rated_items(known, ratings)
    by_class: dict[str, list[ScoredItem]] = {}
    for about, item in items.items():
        by_class.setdefault(class_of[about], []).append(item)
    if not by_class:
        return []
    order = dict.fromkeys(test.class_id for test in tests.values())
    groups = {"": list(items.values())} | {
        name: by_class[name] for name in order if name in by_class
    }
    return [_measure(name, members, pass_score) for name, members in groups.items()]


def _measure(class_id: str, items: Collection[ScoredItem], pass_score: float) -> EvaluatorAgreement:
    limit = pass_score * LARGEST_SCORE
    n = len(items)
    n_same = sum((item.judge >= limit) == (item.human >= limit) for item in items)
    agreement = measure_agreement(list(items), limit)
    same = None
    if n >= _LEAST:
        low, high = mid_p_interval(n_same, n)
        same = Estimate(value=n_same / n, low=low, high=high, n=n)
    return EvaluatorAgreement(
        class_id=class_id,
        n_disputed=sum(abs(item.judge - item.human) >= LARGEST_SCORE / 2 for item in items),
        same_verdict=same,
        difference=_scale(agreement.bias),
        agreement=agreement,
    )


def _scale(estimate: Estimate | None) -> Estimate | None:
    if estimate is None:
        return None
    limits = (estimate.value, estimate.low, estimate.high)
    value, low, high = (each / LARGEST_SCORE for each in limits)
    return replace(estimate, value=value, low=max(low, -1.0), high=min(high, 1.0))


def write_evaluator_figures(measured: EvaluatorAgreement) -> dict[str, str]:
    """Format the agreement of one class, by the labels of its figures."""
    agreement = measured.agreement
    return {
        "Class": measured.class_id or "all",
        "Answers rated": f"{measured.n:,}",
        "People": f"{agreement.n_people:,}",
        "Same verdict": _write_percent(measured.same_verdict),
        "Weighted kappa": estimate_text(agreement.with_people),
        "Evaluator minus people": estimate_text(measured.difference),
        "Disputed": f"{measured.n_disputed:,}",
    }


def _write_percent(share: Estimate | None) -> str:
    if share is None:
        return "n/a"
    return f"{write_share(share.value)} ({write_share(share.low)} to {write_share(share.high)})"
