from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.issues.detector import PeopleScore
from poor_bench.labels.label import Label, keep_current_labels, label_from_record, label_to_record
from poor_bench.labels.ratings import (
    MOST_NOTE,
    compute_people_scores,
    find_next_moment,
    find_rating,
    group_ratings,
    parse_tags,
)
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from tests.labels.builders import WHEN, answer, rating

FAILED = Result(llm_id="a", test_id="t", failure=Failure(kind=FailureKind.TIMEOUT, message="late"))


def test_a_rating_keeps_its_score_and_its_place() -> None:
    label = rating(0.7, answer(trial=3, run_id="r"), note="close", tags=["wrong unit"])
    assert find_rating(label) == 0.7
    assert (label.llm_id, label.test_id, label.trial, label.run_id) == ("a", "t", 3, "r")
    assert label_from_record(label_to_record(label)) == label


@pytest.mark.parametrize(
    "other",
    [
        answer("red"),
        answer(prompt="Which colour now?"),
        answer(system_prompt="Be brief."),
        answer(test_id="u"),
    ],
)
def test_a_rating_never_sticks_to_another_answer(other: Result) -> None:
    assert other.answer_id not in group_ratings([rating()])


def test_a_rating_counts_for_the_same_words_of_another_model_trial_or_run() -> None:
    again = answer(llm_id="b", trial=2, run_id="later", score=1.0, timestamp="later")
    assert again.answer_id in group_ratings([rating()])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rating(1.1), "from 0 to 1"),
        (lambda: rating(float("nan")), "from 0 to 1"),
        (lambda: rating(who=" "), "name of the person"),
        (lambda: rating(result=FAILED), "no answer to rate"),
        (lambda: rating(note="x" * (MOST_NOTE + 1)), "more than 20,000 characters"),
        (lambda: rating(tags=[f"t{n}" for n in range(21)]), "at most 20 tags"),
        (lambda: rating(tags=["x" * 61]), "at most 60 characters"),
        (lambda: rating(when="yesterday"), "must be a time"),
    ],
)
def test_a_rating_that_means_nothing_is_refused(make: Callable[[], Label], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_the_newest_rating_of_a_person_counts_and_history_stays() -> None:
    given_ = [
        rating(0.0, when="2026-11-22T03:00:00Z"),
        rating(1.0, when="2026-11-22T02:00:00Z"),
        rating(0.5, who="Ben"),
    ]
    [ratings] = group_ratings(given_).values()
    assert ratings.scores == {"Ann": 0.0, "Ben": 0.5}
    assert ratings.mean == 0.25


def test_a_rating_without_score_note_and_tags_takes_back() -> None:
    later = "2026-11-22T03:00:00Z"
    assert group_ratings([rating(1.0), rating(None, when=later)]) == {}
    [words] = group_ratings([rating(1.0), rating(None, when=later, note="odd")]).values()
    assert (words.mean, words.labels[0].note) == (None, "odd")


def test_times_are_compared_across_zones_and_an_unreadable_one_is_oldest() -> None:
    east = rating(1.0, when="2026-11-22T04:00:00+01:00")
    west = rating(0.0, when="2026-11-22T02:30:00-02:00")
    odd = label_from_record(label_to_record(east) | {"when": "then", "score": 5.0})
    assert [each.score for each in keep_current_labels([west, east, odd])] == [0.0]


def test_a_clock_that_went_back_does_not_hide_a_new_rating() -> None:
    before = rating(1.0)
    when = find_next_moment([before], datetime(2020, 1, 1, tzinfo=UTC))
    [now] = keep_current_labels([rating(0.0, when=when), before])
    assert now.score == 0.0
    assert (
        find_next_moment([], datetime(2026, 1, 1, tzinfo=UTC)) == "2026-01-01T00:00:00.000000+00:00"
    )


def test_tags_are_split_and_kept_once() -> None:
    assert parse_tags(" a,b ;a;; ") == ("a", "b")


def test_people_disagree_from_half_a_point_on_and_never_with_a_failure() -> None:
    [people] = compute_people_scores(group_ratings([rating(1.0), rating(0.5, who="Ben")])).values()
    assert people == PeopleScore("t", 0.75, 2)
    assert people.disagrees_with(0.25)
    assert not people.disagrees_with(0.3)
    assert not people.disagrees_with(None)


_MOMENTS = st.sampled_from([WHEN, "2026-11-22T02:00:01Z", "2026-11-22T04:00:00+02:00", "?"])
_LABELS = st.lists(
    st.builds(
        lambda when, **fields: label_from_record(
            label_to_record(rating(**fields)) | {"when": when}
        ),
        score=st.sampled_from([None, 0.0, 0.5, 1.0]),
        who=st.sampled_from(["Ann", "Ben"]),
        note=st.sampled_from(["", "odd"]),
        result=st.sampled_from([answer(), answer("red"), answer(llm_id="b")]),
        when=_MOMENTS,
    ),
    max_size=8,
)


def _state(labels: Any) -> set[Label]:
    return set(keep_current_labels(labels))


@given(_LABELS, st.randoms(use_true_random=False))
def test_the_order_of_labels_does_not_matter(labels: list[Label], chance: Any) -> None:
    mixed = labels * 2
    chance.shuffle(mixed)
    assert _state(mixed) == _state(labels)
