"""Labels of conversations and of agents' whole runs: set against judges, and as CSV; pure.

A row of the CSV stands for a case, or for a dimension of the agent as a whole where `case_id` is
empty. Rows without a score are passed over, so that a sheet may be filled in bit by bit.
"""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from poor_bench.judge.agreement import ScoredItem
from poor_bench.judge.corrected import NextAnswer
from poor_bench.judge.judged_run import JudgeRun
from poor_bench.judge.judgement import Judgement
from poor_bench.labels.label import (
    OVERALL,
    Label,
    check_name,
    check_score,
    check_weight,
    collect_labels,
    keep_current_labels,
    read_rows,
)
from poor_bench.reports.csv_table import write_csv


def hash_run(run: JudgeRun) -> str:
    """Hash all conversations of a run to 16 hexadecimal digits."""
    said = "".join(sorted(talk.hash for talk in run.conversations))
    return hashlib.blake2b(said.encode(), digest_size=8).hexdigest()


def make_label(
    run: JudgeRun, *, case_id: str, dimension: str, score: float | None, who: str, when: str,
    note: str = "", weight: float | None = None,
) -> Label:  # fmt: skip
    """Build a person's label for a part of a run.

    Args:
        run: What the person looks at.
        case_id: One of its cases; empty for the agent as a whole.
        dimension: `OVERALL`, or for the agent as a whole one of its dimensions.
        score: 0.0 to 10.0; None takes an earlier label back.
        who: Name of the person.
        when: ISO 8601, UTC.
        note: Why.
        weight: As `Label.weight`.

    Raises:
        ValueError: If the run has no such case or dimension, or the score or name cannot be used.
    """
    talk = run.conversation(case_id)
    if case_id and talk is None:
        raise ValueError(f"{run.run_id} has no case {case_id!r}")
    if dimension != OVERALL and (case_id or dimension not in run.header.weights):
        what = (
            "a case has no dimensions" if case_id else f"the dimension {dimension!r} does not exist"
        )
        raise ValueError(what)
    return Label(
        about=hash_run(run) if talk is None else talk.hash,
        dimension=dimension,
        score=None if score is None else check_score(score),
        who=check_name(who),
        when=when,
        note=note,
        agent_id=run.header.agent_id,
        run_id=run.run_id,
        case_id=case_id,
        weight=weight,
    )


_Thing = tuple[str, str]
"""Hash of a conversation, and a dimension."""
_Scored = tuple[_Thing, float, int, str | None]
"""Item, score, number of characters of the agent, and the group of the case."""


class LabelScope(StrEnum):
    """Kinds of scored items."""

    CASES = "cases"
    """Single conversations."""
    AGENTS = "agents"
    """Agents as a whole: their overall score and each dimension of their rubric."""


def collect_judged_items(
    runs: Iterable[JudgeRun], labels: Iterable[Label], scope: LabelScope = LabelScope.CASES
) -> dict[str, tuple[ScoredItem, ...]]:
    """Collect by judge the items that a person scored, too.

    Where a judge scored one thing several times, also in several runs, its mean counts. Fallbacks
    count nothing.

    Args:
        runs: In any order.
        labels: All labels, in the order in which they were given.
        scope: Which things are looked at.
    """
    scores_in = _list_case_scores if scope is LabelScope.CASES else _list_agent_scores
    people = _group_scores(labels)
    judged: dict[str, dict[_Thing, list[float]]] = {}
    facts: dict[_Thing, tuple[int, str | None]] = {}
    for run in runs:
        for judgement in run.usable_judgements:
            for thing, score, length, group in scores_in(run, judgement):
                judged.setdefault(judgement.judge, {}).setdefault(thing, []).append(score)
                facts[thing] = length, group
    return {
        judge: tuple(
            ScoredItem(
                judge=statistics.fmean(scores),
                humans=people[thing],
                length=facts[thing][0],
                group=facts[thing][1],
            )
            for thing, scores in things.items()
            if thing in people
        )
        for judge, things in judged.items()
    }


def _group_scores(labels: Iterable[Label]) -> Mapping[_Thing, Mapping[str, float]]:
    """Collect each person's score of each item."""
    scores: dict[_Thing, dict[str, float]] = {}
    for label in keep_current_labels(labels):
        if label.score is not None:
            scores.setdefault((label.about, label.dimension), {})[label.who] = label.score
    return scores


def _list_case_scores(run: JudgeRun, judgement: Judgement) -> Iterator[_Scored]:
    for case in judgement.scored_cases:
        talk = run.conversation(case.test_name)
        if talk is not None:
            yield (talk.hash, OVERALL), case.score, talk.n_characters, talk.group


def _list_agent_scores(run: JudgeRun, judgement: Judgement) -> Iterator[_Scored]:
    about = hash_run(run)
    length = sum(talk.n_characters for talk in run.conversations)
    yield (about, OVERALL), judgement.overall_score, length, None
    for dimension, score in judgement.scores.items():
        yield (about, dimension), score, length, None


_FIELDS = (
    "run_id", "case_id", "dimension", "score", "who", "note", "weight", "expected_behavior",
    "conversation",
)  # fmt: skip
_NEEDED = ("run_id", "score")

FindRun = Callable[[str], JudgeRun]
"""Finds a run by its id; raises ConfigError where it does not exist."""


def labels_to_csv(runs: Iterable[JudgeRun], labels: Iterable[Label]) -> str:
    """Build a sheet: one row per label, and empty rows for items without one.

    The judges' scores are not in it, so that they do not sway the people.

    Args:
        runs: What can be labelled.
        labels: All labels, in the order in which they were given.
    """
    known: dict[tuple[str, str], list[Label]] = {}
    for label in keep_current_labels(labels):
        known.setdefault((label.about, label.dimension), []).append(label)
    rows = (filled for run in runs for filled in _fill_rows(run, known))
    return write_csv([(name, name) for name in _FIELDS], rows)


def next_to_csv(chosen: Iterable[NextAnswer], find_run: FindRun) -> str:
    """Build a sheet of the answers to label next, without scores.

    Args:
        chosen: The answers.
        find_run: As for `labels_from_csv`.
    """
    rows = (
        {**row, "weight": round(item.weight, 6)}
        for item in chosen
        for about, row in _list_rows(find_run(item.answer.run_id))
        if about == item.answer.about and row["case_id"] == item.answer.case_id
    )
    return write_csv([(name, name) for name in _FIELDS], rows)


def _fill_rows(
    run: JudgeRun, known: Mapping[tuple[str, str], list[Label]]
) -> Iterator[dict[str, Any]]:
    for about, row in _list_rows(run):
        given = known.get((about, row["dimension"]), [])
        filled = [
            {"score": item.score, "who": item.who, "note": item.note, "weight": item.weight}
            for item in given
        ]
        for columns in filled or [{}]:
            yield {**row, **columns}


def _list_rows(run: JudgeRun) -> Iterator[tuple[str, dict[str, str]]]:
    for talk in run.conversations:
        said = "\n".join(f"{turn.speaker.upper()}: {turn.text}" for turn in talk.turns)
        yield (
            talk.hash,
            {
                "run_id": run.run_id,
                "case_id": talk.case_id,
                "dimension": OVERALL,
                "expected_behavior": talk.expected_behavior,
                "conversation": said,
            },
        )
    for dimension in (OVERALL, *run.header.weights):
        yield hash_run(run), {"run_id": run.run_id, "case_id": "", "dimension": dimension}


def labels_from_csv(
    text: str, find_run: FindRun, *, file: str, who: str, when: str
) -> tuple[Label, ...]:
    """Read the labels of a sheet.

    Args:
        text: The sheet; the columns `run_id` and `score` are needed, `case_id`, `dimension`, `who`,
            `note` and `weight` are read where they stand.
        find_run: Returns the run that a row is about.
        file: What messages call the sheet.
        who: The person where a row names none.
        when: ISO 8601, UTC.

    Raises:
        ConfigError: With every problem and its line; then nothing is to be taken from the sheet.
    """

    def read(row: Mapping[str, str]) -> Label | None:
        return _label(row, find_run, who, when) if row.get("score", "").strip() else None

    return collect_labels(read_rows(text, _NEEDED, file, read), file)


def list_new_labels(read: Iterable[Label], stored: Iterable[Label]) -> list[Label]:
    """Choose the labels that differ from what their people said last.

    A sheet that was exported and filled in further holds the earlier labels, too.
    """
    known = {_content(label) for label in keep_current_labels(stored)}
    return [label for label in read if _content(label) not in known]


def _content(label: Label) -> tuple[object, ...]:
    return (*label.key, label.score, label.note, label.weight)


def _label(row: Mapping[str, str], find_run: FindRun, who: str, when: str) -> Label:
    def cell(name: str) -> str:
        return row.get(name, "")

    return make_label(
        find_run(cell("run_id").strip()),
        case_id=cell("case_id").strip(),
        dimension=cell("dimension").strip() or OVERALL,
        score=check_score(cell("score")),
        who=cell("who").strip() or who,
        when=when,
        note=cell("note"),
        weight=check_weight(cell("weight").strip()),
    )
