"""A person's score of a conversation, or of an agent's whole run; pure."""

from __future__ import annotations

import hashlib
import logging
import math
import os
import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter

from poor_bench.config.document import lock_for_writing
from poor_bench.judge.agreement import ScoredItem
from poor_bench.judge.judged_run import OVERALL, JudgeRun
from poor_bench.judge.judgement import Judgement
from poor_bench.runs.journal import dump_record
from poor_bench.safe_files import open_regular, os_errors_told

LARGEST_SCORE = 10.0
_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A person's score.

    What is scored is known by what was said, so that a label also counts for every later
    judgement of the same conversation.
    """

    about: str
    """`Conversation.hash` of the case, or `run_hash` for an agent as a whole."""
    dimension: str = OVERALL
    """Of an agent as a whole: a dimension of its rubric."""
    score: float | None
    """0.0 to 10.0; None takes an earlier label back."""
    who: str
    """Name of the person."""
    when: str
    """ISO 8601, UTC."""
    note: str = ""
    agent_id: str = ""
    run_id: str = ""
    """Where the person saw it."""
    case_id: str = ""
    """Empty for an agent as a whole."""
    weight: float | None = None
    """Above 0: the chance with which `judge labels next` drew the case, relative to others of the
    same model; None if a person chose it."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Key: a newer label of the same person replaces this one."""
        return self.about, self.dimension, self.who


def label_to_record(label: Label) -> dict[str, Any]:
    """Convert a label to its line in the file."""
    return {"version": _VERSION, **asdict(label)}


def label_from_record(record: Mapping[str, Any]) -> Label:
    """Read a label written by `label_to_record`; unknown keys are ignored.

    Raises:
        ValueError: If the record is not one, or its score is out of range.
    """
    label = _reader().validate_python(record)
    if label.score is not None:
        check_score(label.score)
    check_weight(label.weight)
    return label


@cache
def _reader() -> TypeAdapter[Label]:
    return TypeAdapter(Label)


def check_score(score: Any) -> float:
    """Parse a score.

    Raises:
        ValueError: If it is not a number from 0 to 10.
    """
    try:
        number = float(score)
    except (TypeError, ValueError):
        raise ValueError(f"must be a number from 0 to 10, not {score!r:.40}") from None
    if not 0 <= number <= LARGEST_SCORE:
        raise ValueError(f"must be from 0 to 10, not {number:g}")
    return number


def check_weight(weight: Any) -> float | None:
    """Parse a weight; None or an empty text means that a person chose the case.

    Raises:
        ValueError: If it is not a number above 0.
    """
    if weight is None or weight == "":
        return None
    try:
        number = float(weight)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number < math.inf:
        raise ValueError(f"weight must be a number above 0, not {weight!r:.40}")
    return number


def current_labels(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Keep the newest label of each person and item, without withdrawn ones.

    Args:
        labels: In the order in which they were given.
    """
    newest = {label.key: label for label in labels}
    return tuple(label for label in newest.values() if label.score is not None)


def run_hash(run: JudgeRun) -> str:
    """Hash all conversations of a run to 16 hexadecimal digits."""
    said = "".join(sorted(talk.hash for talk in run.conversations))
    return hashlib.blake2b(said.encode(), digest_size=8).hexdigest()


def label_on(
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
    if not who.strip():
        raise ValueError("enter the name of the person who scores")
    return Label(
        about=run_hash(run) if talk is None else talk.hash,
        dimension=dimension,
        score=None if score is None else check_score(score),
        who=who.strip(),
        when=when,
        note=note,
        agent_id=run.header.agent_id,
        run_id=run.run_id,
        case_id=case_id,
        weight=weight,
    )


_LOG = logging.getLogger(__name__)
LABELS_FILE = "human_labels.jsonl"


def read_labels(data_dir: Path) -> list[Label]:
    """Read all labels of a workspace, oldest first.

    Lines that cannot be read are left out and logged.

    Raises:
        StoreError: If the file cannot be read.
    """
    path = data_dir / LABELS_FILE
    if not path.exists():
        return []
    labels = []
    with os_errors_told(path):
        lines = path.read_bytes().splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            labels.append(label_from_record(orjson.loads(line)))
        except (ValueError, AttributeError) as error:
            _LOG.warning("%s:%d is skipped: %s", path, number, error)
    return labels


def add_labels(data_dir: Path, labels: Iterable[Label]) -> None:
    """Append labels to those of a workspace.

    Raises:
        StoreError: If they cannot be written.
        ConfigError: If another process holds the file for long.
    """
    path = data_dir / LABELS_FILE
    lines = b"".join(dump_record(label_to_record(label)) + b"\n" for label in labels)
    with lock_for_writing(path), os_errors_told(path), path.open("ab+") as stream:
        stream.write(lines if _ends_a_line(path) else b"\n" + lines)
        stream.flush()
        os.fsync(stream.fileno())


def _ends_a_line(path: Path) -> bool:
    """True if the file ends with a complete line; a killed process may leave half of one."""
    with open_regular(path) as stream:
        size = stream.seek(0, os.SEEK_END)
        if size == 0:
            return True
        stream.seek(size - 1)
        return stream.read(1) == b"\n"


_Thing = tuple[str, str]
"""Hash of a conversation, and a dimension."""
_Scored = tuple[_Thing, float, int]
"""Item, score and number of characters of the agent."""


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
    scores_in = _case_scores if scope is LabelScope.CASES else _agent_scores
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


def _scores_by_thing(labels: Iterable[Label]) -> Mapping[_Thing, Mapping[str, float]]:
    """Collect each person's score of each item."""
    scores: dict[_Thing, dict[str, float]] = {}
    for label in current_labels(labels):
        thing = label.about, label.dimension
        assert label.score is not None
        scores.setdefault(thing, {})[label.who] = label.score
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
