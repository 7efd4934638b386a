"""Ratings as CSV, to read and fill in, and as JSON lines with their history; pure."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import orjson

from poor_bench.errors import ConfigError
from poor_bench.labels.label import Label, check_when, label_from_record, label_to_record
from poor_bench.labels.ratings import (
    AnswerRatings,
    check_rating,
    find_rating,
    parse_tags,
    rate_answer,
)
from poor_bench.messages import write_count
from poor_bench.models.problem import Problem
from poor_bench.models.result import Result
from poor_bench.reports.csv_table import cell_text, csv_reader, csv_text

_FIELDS = (
    "llm_id", "test_id", "trial", "score", "who", "note", "tags", "when", "about", "prompt",
    "response",
)  # fmt: skip
_SAID = ("score", "note", "tags")
_NEEDED = ("llm_id", "test_id", "score")

FindResult = Callable[[str, str, int], Result | None]
"""Finds the stored answer of a model to a test in a trial."""


def ratings_to_csv(
    results: Iterable[Result], ratings: Mapping[str, AnswerRatings], *, with_unrated: bool = False
) -> str:
    """Write the current ratings, one per row, then those whose answer is not stored.

    The evaluator's score is not in it, so that it does not sway people.

    Args:
        results: Answers with their texts.
        ratings: All ratings.
        with_unrated: Write also a row to fill in for each answer without a rating.
    """
    rows = _fill_rows(results, ratings, with_unrated=with_unrated)
    return csv_text([(name, name) for name in _FIELDS], rows)


def _fill_rows(
    results: Iterable[Result], ratings: Mapping[str, AnswerRatings], *, with_unrated: bool
) -> Iterator[dict[str, Any]]:
    written = set()
    for result in results:
        about = result.answer_id
        if about in written or not result.can_be_scored:
            continue
        written.add(about)
        seen = {"prompt": result.prompt, "response": result.response}
        given = ratings.get(about)
        if given is not None:
            yield from (_row(label) | seen for label in given.labels)
        elif with_unrated:
            places = {"llm_id": result.llm_id, "test_id": result.test_id, "trial": result.trial}
            yield {**places, "about": about} | seen
    for about, given in ratings.items():
        if about not in written:
            yield from map(_row, given.labels)


def _row(label: Label) -> dict[str, Any]:
    return label_to_record(label) | {"score": find_rating(label), "tags": "; ".join(label.tags)}


def ratings_to_jsonl(labels: Iterable[Label]) -> str:
    """Write all ratings with their history, one per line."""
    records = (label_to_record(label) for label in labels if label.is_of_answer)
    return "".join(orjson.dumps(record).decode() + "\n" for record in records)


def read_ratings(
    text: str, find_result: FindResult, *, file: str, who: str, when: str
) -> tuple[Label, ...]:
    """Read the ratings of a file of `ratings_to_csv` or `ratings_to_jsonl`.

    Args:
        text: The file; a row without score, note and tags is passed over. A row without `about`
            is about the answer that is stored now.
        find_result: Finds that answer.
        file: Name of the file in messages.
        who: The person where a row names none.
        when: Time where a row names none: ISO 8601, UTC.

    Raises:
        ConfigError: With every problem and its line; then no row is to be imported.
    """
    if text.lstrip("\ufeff \r\n\t").startswith("{"):
        read = _read_lines(text)
    else:
        read = _read_rows(text, find_result, file, who, when)
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


_Read = Iterator[tuple[int, Label | Exception]]


def _read_lines(text: str) -> _Read:
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        if line.strip():
            try:
                yield number, check_rating(label_from_record(orjson.loads(line)))
            except orjson.JSONDecodeError:
                yield number, ValueError("is not a JSON object")
            except ValueError as error:
                yield number, ValueError(_shorten(error))


def _shorten(error: ValueError) -> str:
    """Write an error of pydantic on one line."""
    errors = getattr(error, "errors", None)
    if errors is None:
        return str(error)
    first = errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else "is not a rating"


def _read_rows(text: str, find_result: FindResult, file: str, who: str, when: str) -> _Read:
    reader = csv_reader(text)
    try:
        missing = [name for name in _NEEDED if name not in (reader.fieldnames or ())]
        if missing:
            raise ConfigError(
                f"{file}, line 1: the column {missing[0]} is missing",
                hint=f"A sheet has the columns {', '.join(_NEEDED)}; `ratings export` writes one.",
            )
        for row in reader:
            cells = {name: cell_text(row.get(name) or "") for name in _FIELDS}
            if any(cells[name].strip() for name in _SAID):
                yield reader.line_num, _read_row(cells, find_result, who, when)
    except csv.Error as error:
        yield reader.line_num, error


def _read_row(
    cells: Mapping[str, str], find_result: FindResult, who: str, when: str
) -> Label | Exception:
    try:
        result, about = _find_answer(cells, find_result), cells["about"].strip()
        label = rate_answer(
            result,
            score=_read_score(cells["score"].strip()),
            who=cells["who"].strip() or who,
            when=check_when(cells["when"].strip() or when),
            note=cells["note"],
            tags=parse_tags(cells["tags"]),
        )
        return check_rating(label_with_id(label, about)) if about else label
    except ValueError as error:
        return error


def label_with_id(label: Label, about: str) -> Label:
    """Copy a rating for an answer that is known by its id only."""
    record = label_to_record(label) | {"about": about, "run_id": ""}
    return label_from_record(record)


def _read_score(cell: str) -> float | None:
    if not cell:
        return None
    try:
        return float(cell)
    except ValueError:
        raise ValueError(f"score must be a number from 0 to 1, not {cell!r:.40}") from None


def _find_answer(cells: Mapping[str, str], find_result: FindResult) -> Result:
    llm_id, test_id = cells["llm_id"].strip(), cells["test_id"].strip()
    trial = cells["trial"].strip() or "1"
    if not trial.isascii() or not trial.isdigit() or len(trial) > 9:  # longer ones are not trials
        raise ValueError(f"trial must be a whole number from 1, not {trial!r:.40}")
    if cells["about"].strip():
        return Result(llm_id=llm_id, test_id=test_id, trial=int(trial), score=0.0)
    found = find_result(llm_id, test_id, int(trial))
    if found is None:
        raise ValueError(f"no answer of {llm_id!r:.60} to {test_id!r:.60} in trial {int(trial)}")
    return found
