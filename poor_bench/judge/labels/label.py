"""A person's score of a conversation, or of an agent's whole run; pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from poor_bench.judge.history.judge_run import JudgeRun
from poor_bench.judge.history.summary import OVERALL

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
        ValueError: If it is no such record, or its score is out of range.
    """
    names = {item.name for item in fields(Label)}
    try:
        label = Label(**{key: value for key, value in record.items() if key in names})
    except TypeError as error:
        raise ValueError(f"not a label: {error}") from error
    if label.score is not None:
        check_score(label.score)
    return label


def check_score(score: Any) -> float:
    """Parse a score.

    Raises:
        ValueError: If it is no number from 0 to 10.
    """
    try:
        number = float(score)
    except (TypeError, ValueError):
        raise ValueError(f"must be a number from 0 to 10, not {score!r:.40}") from None
    if not 0 <= number <= LARGEST_SCORE:
        raise ValueError(f"must be from 0 to 10, not {number:g}")
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
    note: str = "",
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
    )
