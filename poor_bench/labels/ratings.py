"""Ratings: labels of answers to tests, on the evaluator's scale from 0 to 1; pure."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from poor_bench.issues.detector import PeopleScore
from poor_bench.labels.label import (
    LARGEST_SCORE,
    Label,
    check_name,
    check_score,
    check_when,
    current_labels,
)
from poor_bench.models.result import ANSWER_ID_PREFIX, Result

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
        ValueError: If there is no answer to rate, or a value cannot be used.
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


def next_moment(labels: Iterable[Label], now: datetime) -> str:
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
    """What people say about one answer, the newest rating of each person."""

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
    for label in current_labels(label for label in labels if label.is_of_answer):
        found.setdefault(label.about, []).append(label)
    return {about: AnswerRatings(tuple(given)) for about, given in found.items()}


def people_scores(ratings: Mapping[str, AnswerRatings]) -> dict[str, PeopleScore]:
    """People's mean score by `Result.answer_id`, as detectors of issues take it."""
    return {
        about: PeopleScore(given.labels[0].test_id, mean, len(given.scores))
        for about, given in ratings.items()
        if (mean := given.mean) is not None
    }
