"""What the list of tests shows of each test: parts that the reader chooses, and their files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from poor_bench.dashboard.components.sheets import SheetColumn, SheetTable
from poor_bench.dashboard.services.compared_tests import LLMLine, TestAnswers

Read = Callable[[LLMLine], Any]


def define_tests(names: Sequence[str]) -> SheetTable[TestAnswers]:
    """Define the columns of the tests; a figure of a subject is a column of files.

    Args:
        names: What screens call the subjects, the baseline first.
    """
    others = names[1:]
    return SheetTable(
        name="tests",
        label="Tests",
        columns=[
            SheetColumn(field="test", heading="Test ID", value=lambda row: row.test_id),
            SheetColumn(field="class", heading="Test class", value=_read_class,
                        further=[("Level", lambda row: row.test.level if row.test else None)]),
            SheetColumn(field="text", heading="Text", value=_read_text),
            _of_subjects("score", "score", names, lambda line: line.score,
                         trials=lambda line: line.n_scored),
            _of_subjects("change", "difference", others, lambda line: line.change, first=1),
            _of_subjects("answers", "answers", names, _join_answers),
            _of_subjects("latency", "latency (s)", names, _read_seconds),
        ],
    )  # fmt: skip


def _of_subjects(
    field: str,
    what: str,
    names: Sequence[str],
    read: Read,
    *,
    first: int = 0,
    trials: Read | None = None,
) -> SheetColumn[TestAnswers]:
    """Define a part of the lines: in files, one column for each subject.

    Args:
        field: Its name in the address.
        what: Follows the name of a subject.
        names: Of the subjects.
        read: Reads the value of a line.
        first: Place of the first of them among the lines.
        trials: Reads over how many trials the value is, in a column behind it.
    """
    columns: list[tuple[str, Callable[[TestAnswers], Any]]] = []
    for place, name in enumerate(names, first):
        columns.append((f"{name}: {what}", _reader(place, read)))
        if trials is not None:
            columns.append((f"{name}: trials", _reader(place, trials)))
    heading = what.partition(" (")[0].capitalize()
    if not columns:
        return SheetColumn(field=field, heading=heading, value=lambda _: None)
    (file_heading, value), *further = columns
    return SheetColumn(
        field=field, heading=heading, value=value, file_heading=file_heading, further=further
    )


def _reader(place: int, read: Read) -> Callable[[TestAnswers], Any]:
    return lambda row: read(row.lines[place])


def _read_class(row: TestAnswers) -> str:
    return row.test.class_id if row.test else "(removed)"


def _read_text(row: TestAnswers) -> str | None:
    return (row.test.text or " | ".join(row.test.texts or ())) if row.test else None


def _read_seconds(line: LLMLine) -> float | None:
    return None if line.mean_ms is None else line.mean_ms / 1000


def _join_answers(line: LLMLine) -> str | None:
    """Join the answers, the most frequent first, each with its number of trials if several."""
    if len(line.answers) < 2:
        return next((answer.text for answer in line.answers), None)
    return "\n\n".join(f"{answer.n_trials}x {answer.text}" for answer in line.answers)
