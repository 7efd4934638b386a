from __future__ import annotations

import os
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.errors import ConfigError
from poor_bench.results.filter_text import Matches, TestFilter, parse_filter
from poor_bench.results.text_rows import check_pattern, limit_time, search_texts


@given(st.text(alphabet="ab/ \n", max_size=60))
def test_all_of_a_search_is_read(text: str) -> None:
    found = parse_filter(text)
    assert all(part in text for part in (found.pattern, *found.words.split()))


def test_words_patterns_and_typed_filters_stand_side_by_side() -> None:
    found = parse_filter("apples latency>=1.5s /a b/ cause:wrong")
    assert (found.words, found.pattern) == ("apples", "a b")
    assert [(each.field, each.value) for each in found.conditions] == [
        ("latency", "1.5"),
        ("cause", "wrong"),
    ]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("latency<2", 2), ("latency<2s", 2), ("latency<500ms", 0.5), ("latency>=1.5MIN", 90)],
)
def test_a_latency_is_in_seconds_or_in_the_unit_behind_it(text: str, seconds: float) -> None:
    assert parse_filter(text).conditions[0].number == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["nonsense>3", "red Nonsense<=-.5", "nonsense<500ms"])
def test_a_comparison_with_an_unknown_name_names_the_filters(text: str) -> None:
    with pytest.raises(ConfigError, match=r"(?i)`nonsense` is not a filter; filters are score, "):
        parse_filter(text)


@pytest.mark.parametrize(
    "text", ["score>high", "class>math", "level:one", "score>5ms", "latency<2h"]
)
def test_a_filter_without_sense_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_filter(text)


@pytest.mark.parametrize("text", ["scor>0.5", "cuase:truncated", "red Levels=2"])
def test_a_misspelt_filter_is_refused_with_the_nearest_name(text: str) -> None:
    with pytest.raises(ConfigError, match=r"the nearest is `(score|cause|level)`"):
        parse_filter(text)


@pytest.mark.parametrize(
    "text", ["x=5", "http://a.b", "answer:4", "def f(n): return n>=1", "n>3", "<b>4"]
)
def test_words_with_signs_of_filters_stay_words(text: str) -> None:
    assert parse_filter(text).words == text


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "(?=a)", "[z-a]"])
def test_an_invalid_pattern_is_told_in_one_line(pattern: str) -> None:
    with pytest.raises(ConfigError, match="is not a regular expression") as told:
        check_pattern(pattern)
    assert "\n" not in str(told.value)


def test_a_page_gives_up_a_pattern_after_the_first_text_in_which_it_takes_too_long() -> None:
    slow = Matches(TestFilter(pattern="(a|aa)+$"))
    assert slow.find("aa") == [(0, 2)]
    assert slow.find("a" * 60 + "b") == []
    assert slow.find("aa") == []


def test_matches_are_found_in_any_case() -> None:
    assert Matches(TestFilter(pattern="t.o")).find("one TWO") == [(4, 7)]


def test_a_search_that_takes_too_long_is_stopped_with_a_message() -> None:
    with pytest.raises(ConfigError, match="was stopped after"):
        search_texts("(.{1,200}){1,3}x$", ["ab " * 5_000] * 5_000, most_s=0.001)


def test_texts_that_match_are_found_by_their_places() -> None:
    assert search_texts("^t.o", ["one", "zero\nTWO", "two"]) == [1, 2]


class SlowConnection:
    """Takes a while to be interrupted."""

    def __init__(self) -> None:
        self.begun, self.is_interrupted = threading.Event(), False

    def execute(self, _query: str) -> None:
        """Do nothing."""

    def interrupt(self) -> None:
        self.begun.set()
        for _ in range(1_000):
            os.sched_yield()
        self.is_interrupted = True


def test_nobody_interrupts_a_connection_that_its_owner_may_close() -> None:
    connection: Any = SlowConnection()
    with limit_time(connection, "a", most_s=0.0):
        assert connection.begun.wait(60)
    assert connection.is_interrupted
