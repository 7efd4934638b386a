"""A person's label of a conversation, of an agent's whole run, or of an answer to a test; pure."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from poor_bench.errors import ConfigError
from poor_bench.messages import write_count
from poor_bench.models.problem import Problem
from poor_bench.models.result import ANSWER_ID_PREFIX
from poor_bench.reports.csv_table import open_csv, write_cell

if TYPE_CHECKING:
    from pydantic import TypeAdapter

LARGEST_SCORE = 10.0
OVERALL = "overall"
"""Stands for the overall score where dimensions are named."""
_VERSION = 2
"""Version 2 added answers to tests and tags; labels of version 1 have neither."""
_ADDED = ("llm_id", "test_id", "trial", "tags")


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A person's score.

    What is scored is known by what was said, so that a label also counts for every later
    judgement of the same conversation, and never for another answer.
    """

    about: str
    """`Conversation.hash` of the case, `hash_run` for an agent as a whole, or `Result.answer_id`
    of an answer to a test."""
    dimension: str = OVERALL
    """Of an agent as a whole: a dimension of its rubric."""
    score: float | None
    """0.0 to 10.0; None takes an earlier label back, unless the label of an answer has a note or
    tags."""
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
    llm_id: str = ""
    """Of an answer: the model whose answer the person saw."""
    test_id: str = ""
    trial: int = 1
    tags: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """Key: a newer label of the same person replaces this one."""
        return self.about, self.dimension, self.who

    @property
    def is_of_answer(self) -> bool:
        """True for the label of an answer to a test."""
        return self.about.startswith(ANSWER_ID_PREFIX)

    @property
    def is_withdrawn(self) -> bool:
        """True if it takes earlier labels back."""
        return self.score is None and not (self.is_of_answer and (self.note or self.tags))

    @property
    def instant(self) -> datetime:
        """Parse `when`; a time that cannot be read is older than all others."""
        return _parse_instant(self.when) or datetime.min.replace(tzinfo=UTC)


def _parse_instant(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def label_to_record(label: Label) -> dict[str, Any]:
    """Convert a label to its line in the file."""
    record = {"version": _VERSION, **asdict(label)}
    return record if label.is_of_answer else {k: v for k, v in record.items() if k not in _ADDED}


def label_from_record(record: Mapping[str, Any]) -> Label:
    """Read a label written by `label_to_record` of this or an older version.

    Unknown keys are ignored.

    Raises:
        ValueError: If the record is not one, or its score is out of range.
    """
    label = _build_reader().validate_python(record)
    if label.score is not None:
        check_score(label.score)
    check_weight(label.weight)
    return label


@cache
def _build_reader() -> TypeAdapter[Label]:
    from pydantic import TypeAdapter

    return TypeAdapter(Label)


def check_score(score: Any, largest: float = LARGEST_SCORE) -> float:
    """Parse a score.

    Raises:
        ValueError: If it is not a number from 0 to `largest`.
    """
    try:
        number = float(score)
    except (TypeError, ValueError):
        raise ValueError(f"must be a number from 0 to {largest:g}, not {score!r:.40}") from None
    if not 0 <= number <= largest:
        raise ValueError(f"must be from 0 to {largest:g}, not {number:g}")
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


def check_name(who: str) -> str:
    """Parse the name of a person.

    Raises:
        ValueError: If it is empty.
    """
    if not who.strip():
        raise ValueError("enter the name of the person who scores")
    return who.strip()


def check_when(when: str) -> str:
    """Check the time of a label.

    Raises:
        ValueError: If it is not ISO 8601.
    """
    if _parse_instant(when) is None:
        raise ValueError(f"when must be a time such as 2026-11-22T02:00:00Z, not {when!r:.40}")
    return when


ReadLabels = Iterator[tuple[int, Label | Exception]]
"""Line of a file, with its label or what is wrong with it."""


def read_rows(
    text: str, needed: Sequence[str], file: str, read: Callable[[Mapping[str, str]], Label | None]
) -> ReadLabels:
    """Read the labels of a sheet.

    Args:
        text: The sheet, as CSV.
        needed: Columns that it must have.
        file: What messages call it.
        read: Reads a row, by column; None passes it over, and ValueError or ConfigError is a
            problem of the row.

    Raises:
        ConfigError: If a column is missing.
    """
    reader = open_csv(text)
    try:
        missing = [name for name in needed if name not in (reader.fieldnames or ())]
        if missing:
            raise ConfigError(
                f"{file}, line 1: the column {missing[0]} is missing",
                hint=f"A sheet has the columns {', '.join(needed)}; an export writes one.",
            )
        for row in reader:
            cells = {name: write_cell(cell or "") for name, cell in row.items() if name}
            try:
                label = read(cells)
            except (ValueError, ConfigError) as error:
                yield reader.line_num, error
                continue
            if label is not None:
                yield reader.line_num, label
    except csv.Error as error:
        yield reader.line_num, error


def collect_labels(read: ReadLabels, file: str) -> tuple[Label, ...]:
    """Collect the labels of a file.

    Raises:
        ConfigError: With every problem and its line; then no row is to be imported.
    """
    labels, problems = [], []
    for line, label in read:
        if isinstance(label, Label):
            labels.append(label)
        else:
            problems.append(Problem(file=file, place="", message=str(label), line=line))
    if problems:
        n_bad = write_count(len(problems), "row")
        raise ConfigError(
            f"{n_bad} of {file} not valid; nothing is imported",
            problems=problems,
            hint="Correct these lines and import the file again.",
        )
    return tuple(labels)


def keep_current_labels(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Keep the newest label of each person and item, without withdrawn ones.

    The order of `labels` does not matter: of two labels of the same moment, one that withdraws
    counts, else the one with the higher score.
    """
    newest: dict[tuple[str, str, str], Label] = {}
    for label in labels:
        known = newest.get(label.key)
        if known is None or _sort_by_age(label) > _sort_by_age(known):
            newest[label.key] = label
    return tuple(label for label in newest.values() if not label.is_withdrawn)


def _sort_by_age(label: Label) -> tuple[Any, ...]:
    score = -1.0 if label.score is None else label.score
    rest = (label.note, label.tags, label.when, label.weight or 0.0)
    seen = (label.agent_id, label.run_id, label.case_id, label.llm_id, label.test_id, label.trial)
    return label.instant, label.is_withdrawn, score, rest, seen
