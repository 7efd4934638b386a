"""Ratings: labels of answers to tests, on the evaluator's scale from 0 to 1; pure.

They are written as CSV, to read and fill in, and as JSON lines with their history.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from poor_bench.issues.detector import PeopleScore
from poor_bench.labels.label import (
    LARGEST_SCORE,
    Label,
    ReadLabels,
    check_name,
    check_score,
    check_when,
    collect_labels,
    keep_current_labels,
    label_from_record,
    label_to_record,
    read_rows,
)
from poor_bench.messages import describe_invalid
from poor_bench.models.result import ANSWER_ID_PREFIX, Result
from poor_bench.reports.csv_table import write_csv

MOST_NOTE = 20_000
MOST_TAGS = 20
MOST_TAG = 60
_ANSWER_ID = re.compile(rf"{ANSWER_ID_PREFIX}[0-9a-f]{{16}}")
_DIGITS = 6


def rate_answer(
    result: Result,
    *,
    score: float | None,
    who: str,
    when: str,
    note: str = "",
    tags: Sequence[str] = (),
) -> Label:
    """Build a person's rating of a stored answer.

    Args:
        result: The answer with its texts.
        score: 0.0 to 1.0; None for a rating of words only, or to take an earlier one back.
        who: Name of the person.
        when: ISO 8601, UTC.
        note: Comment.
        tags: Short texts.

    Raises:
        ValueError: If no answer exists to rate, or a value cannot be used.
    """
    if not result.can_be_scored:
        raise ValueError(f"{result.test_id} has no answer to rate: it failed to run")
    label = Label(
        about=result.answer_id,
        score=None if score is None else _to_label_scale(score),
        who=who,
        when=when,
        note=note,
        tags=tuple(tags),
        llm_id=result.llm_id,
        test_id=result.test_id,
        trial=result.trial,
        run_id=result.run_id,
    )
    return check_rating(label)


def edit_rating(
    result: Result, given: Iterable[Label], edits: Mapping[str, Any], *, who: str, when: str
) -> list[Label]:
    """Build a person's changed rating of an answer; empty if nothing changes.

    Args:
        result: The answer with its texts.
        given: All stored ratings of it.
        edits: What changes of `score`, `note` and `tags`, see `rate_answer`; the rest stays.
        who: Name of the person.
        when: ISO 8601, UTC.

    Raises:
        ValueError: If no answer exists to rate, or a value cannot be used.
    """
    own = next(
        (label for label in keep_current_labels(given) if label.who == check_name(who)), None
    )
    kept: dict[str, Any] = {"score": None}
    if own is not None:
        kept = {"score": find_rating(own), "note": own.note, "tags": own.tags}
    label = rate_answer(result, **(kept | dict(edits)), who=who, when=when)
    is_same = label.is_withdrawn if own is None else _said(own) == _said(label)
    return [] if is_same else [label]


def _said(label: Label) -> tuple[object, ...]:
    return label.score, label.note, label.tags


def _to_label_scale(score: float) -> float:
    return round(check_score(score, 1.0) * LARGEST_SCORE, _DIGITS)


def check_rating(label: Label) -> Label:
    """Check a rating of a stranger; return it with a tidy name and tags.

    Raises:
        ValueError: If a value cannot be used.
    """
    if not _ANSWER_ID.fullmatch(label.about):
        raise ValueError(f"about must be the id of an answer, not {label.about!r:.40}")
    if not label.test_id:
        raise ValueError("test_id is missing")
    if label.trial < 1:
        raise ValueError(f"trial must be a whole number from 1, not {label.trial}")
    if len(label.note) > MOST_NOTE:
        raise ValueError(f"the note has more than {MOST_NOTE:,} characters")
    check_when(label.when)
    return replace(label, who=check_name(label.who), tags=_tidy_tags(label.tags))


def parse_tags(text: str) -> tuple[str, ...]:
    """Split tags at commas and semicolons.

    Example:
        >>> parse_tags("wrong key; tone, wrong key")
        ('wrong key', 'tone')
    """
    return tuple(dict.fromkeys(tag for part in re.split("[,;]", text) if (tag := part.strip())))


def _tidy_tags(tags: Iterable[str]) -> tuple[str, ...]:
    known = parse_tags(";".join(tags))
    if len(known) > MOST_TAGS:
        raise ValueError(f"an answer takes at most {MOST_TAGS} tags, not {len(known)}")
    long = next((tag for tag in known if len(tag) > MOST_TAG), None)
    if long is not None:
        raise ValueError(f"a tag has at most {MOST_TAG} characters: {long[:40]!r} has more")
    return known


def find_next_moment(labels: Iterable[Label], now: datetime) -> str:
    """Write a time for a new label that is later than those of other labels.

    Args:
        labels: Those that it replaces: a clock that went back must not bring an old one to the top.
        now: The present time, UTC.
    """
    latest = max((label.instant for label in labels), default=None)
    if latest is not None and latest >= now:
        now = latest + timedelta(microseconds=1)
    return now.astimezone(UTC).isoformat(timespec="microseconds")


def find_rating(label: Label) -> float | None:
    """Score of a rating, 0.0 to 1.0; None for words only.

    Example:
        >>> find_rating(Label(about="answer-0", score=7.0, who="Ann", when=""))
        0.7
    """
    return None if label.score is None else round(label.score / LARGEST_SCORE, _DIGITS)


@dataclass(frozen=True, slots=True)
class AnswerRatings:
    """The ratings of one answer, the newest of each person."""

    labels: tuple[Label, ...] = ()

    @property
    def scores(self) -> dict[str, float]:
        """Score of each person who gave one, 0.0 to 1.0."""
        found = {label.who: find_rating(label) for label in self.labels}
        return {who: score for who, score in found.items() if score is not None}

    @property
    def mean(self) -> float | None:
        """Mean score; None if nobody gave one."""
        scores = self.scores
        return statistics.fmean(scores.values()) if scores else None

    def disagrees_with(self, score: float | None) -> bool:
        """True if people's mean is far from an evaluator's score."""
        mean = self.mean
        return mean is not None and PeopleScore("", mean, len(self.scores)).disagrees_with(score)


def group_ratings(labels: Iterable[Label]) -> dict[str, AnswerRatings]:
    """Group the current ratings by `Result.answer_id`."""
    found: dict[str, list[Label]] = {}
    for label in keep_current_labels(label for label in labels if label.is_of_answer):
        found.setdefault(label.about, []).append(label)
    return {about: AnswerRatings(tuple(given)) for about, given in found.items()}


def compute_people_scores(ratings: Mapping[str, AnswerRatings]) -> dict[str, PeopleScore]:
    """People's mean score by `Result.answer_id`, as detectors of issues take it."""
    return {
        about: PeopleScore(given.labels[0].test_id, mean, len(given.scores))
        for about, given in ratings.items()
        if (mean := given.mean) is not None
    }


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
    return write_csv([(name, name) for name in _FIELDS], rows)


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
            yield from (_write_row(label) | seen for label in given.labels)
        elif with_unrated:
            places = {"llm_id": result.llm_id, "test_id": result.test_id, "trial": result.trial}
            yield {**places, "about": about} | seen
    for about, given in ratings.items():
        if about not in written:
            yield from map(_write_row, given.labels)


def _write_row(label: Label) -> dict[str, Any]:
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
        return collect_labels(_read_lines(text), file)

    def read(cells: Mapping[str, str]) -> Label | None:
        return _read_row(cells, find_result, who, when)

    return collect_labels(read_rows(text, _NEEDED, file, read), file)


def _read_lines(text: str) -> ReadLabels:
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        if line.strip():
            try:
                record = orjson.loads(line)
                if not isinstance(record, dict):
                    raise ValueError("is not a rating")
                yield number, check_rating(label_from_record(record))
            except orjson.JSONDecodeError:
                yield number, ValueError("is not a JSON object")
            except ValueError as error:
                yield number, ValueError(describe_invalid(error))


def _read_row(
    written: Mapping[str, str], find_result: FindResult, who: str, when: str
) -> Label | None:
    cells = {name: written.get(name, "") for name in _FIELDS}
    if not any(cells[name].strip() for name in _SAID):
        return None
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
