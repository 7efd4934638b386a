"""Pair the scores of judges and people; pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from poor_bench.judge.agreement.agreement import ScoredItem
from poor_bench.judge.history.judge_run import JudgeRun
from poor_bench.judge.history.summary import OVERALL
from poor_bench.judge.judgement import Judgement
from poor_bench.judge.labels.label import Label, current_labels, run_hash

_Thing = tuple[str, str]
"""Hash of a conversation, and a dimension."""
_Scored = tuple[_Thing, float, int]
"""Item, score and number of characters of the agent."""


class Scope(StrEnum):
    """Kinds of scored items."""

    CASES = "cases"
    """Single conversations."""
    AGENTS = "agents"
    """Agents as a whole: their overall score and each dimension of their rubric."""


def judged_items(
    runs: Iterable[JudgeRun], labels: Iterable[Label], scope: Scope = Scope.CASES
) -> dict[str, tuple[ScoredItem, ...]]:
    """Collect by judge the items that a person scored, too.

    Where a judge scored one thing several times, also in several runs, its mean counts. Fallbacks
    count nothing.

    Args:
        runs: In any order.
        labels: All labels, in the order in which they were given.
        scope: Which things are looked at.
    """
    scores_in = _case_scores if scope is Scope.CASES else _agent_scores
    people = _scores_by_thing(labels)
    judged: dict[str, dict[_Thing, list[float]]] = {}
    lengths: dict[_Thing, int] = {}
    for run in runs:
        for judgement in run.usable_judgements:
            for thing, score, length in scores_in(run, judgement):
                judged.setdefault(judgement.judge, {}).setdefault(thing, []).append(score)
                lengths[thing] = length
    return {
        judge: tuple(
            ScoredItem(judge=statistics.fmean(scores), humans=people[thing], length=lengths[thing])
            for thing, scores in things.items()
            if thing in people
        )
        for judge, things in judged.items()
    }


def _scores_by_thing(labels: Iterable[Label]) -> Mapping[_Thing, tuple[float, ...]]:
    scores: dict[_Thing, tuple[float, ...]] = {}
    for label in current_labels(labels):
        thing = label.about, label.dimension
        assert label.score is not None
        scores[thing] = (*scores.get(thing, ()), label.score)
    return scores


def _case_scores(run: JudgeRun, judgement: Judgement) -> Iterator[_Scored]:
    for case in judgement.scored_cases:
        talk = run.conversation(case.test_name)
        if talk is not None:
            yield (talk.hash, OVERALL), case.score, talk.n_characters


def _agent_scores(run: JudgeRun, judgement: Judgement) -> Iterator[_Scored]:
    about = run_hash(run)
    length = sum(talk.n_characters for talk in run.conversations)
    yield (about, OVERALL), judgement.overall_score, length
    for dimension, score in judgement.scores.items():
        yield (about, dimension), score, length
