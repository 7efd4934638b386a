"""Rubric for single responses."""

from __future__ import annotations

from pathlib import Path

from poor_bench.config.document import UnreadableError, read_text
from poor_bench.errors import ConfigError
from poor_bench.judge.rubric import Dimension, Rubric, dimension_name, parse_rubric
from poor_bench.safe_files import path_within
from poor_bench.scoring.judging import JudgeQuestion

RESPONSE_RUBRIC = Rubric(
    name="response",
    dimensions=(
        Dimension("correctness", 50.0, "What it says is true and what the user asked for."),
        Dimension("completeness", 30.0, "Nothing that was asked for is missing."),
        Dimension("clarity", 20.0, "Easy to understand, to the point, in the form asked for."),
    ),
)
_FILE_ENDING = ".md"
_LONGEST_NAME = 40


def rubric_for(question: JudgeQuestion, folder: Path) -> tuple[Rubric, tuple[str, ...]]:
    """Read the rubric of a question, with its corrections.

    Args:
        question: Its rubric comes first, then its criteria, then `RESPONSE_RUBRIC`.
        folder: The workspace, where files of rubrics stand.

    Raises:
        ConfigError: If the rubric cannot be read or used; with its lines.
    """
    written = question.rubric.strip()
    if not written:
        return _of_criteria(question.criteria) if question.criteria else RESPONSE_RUBRIC, ()
    if "\n" in written or not written.endswith(_FILE_ENDING):
        return parse_rubric(question.rubric)
    path = folder / written
    try:
        return parse_rubric(read_text(path_within(folder, written)), name=str(path))
    except (OSError, UnreadableError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"cannot read the rubric {path}: {reason}") from error


def _of_criteria(criteria: tuple[str, ...]) -> Rubric:
    weight = 100.0 / len(criteria)
    names: dict[str, str] = {}
    for number, criterion in enumerate(criteria, start=1):
        name = dimension_name(criterion)[:_LONGEST_NAME].strip("_")
        names[name if name and name not in names else f"criterion_{number}"] = criterion
    dimensions = (Dimension(name, weight, criterion) for name, criterion in names.items())
    return Rubric("criteria", tuple(dimensions))
