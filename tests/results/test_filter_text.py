from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.errors import ConfigError
from poor_bench.results.filter_text import TestFilter, find_matches, parse_filter
from poor_bench.results.text_rows import check_pattern


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


@pytest.mark.parametrize("text", ["score>high", "class>math", "level:one"])
def test_a_filter_without_sense_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_filter(text)


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "(?=a)", "[z-a]"])
def test_an_invalid_pattern_is_told_in_one_line(pattern: str) -> None:
    with pytest.raises(ConfigError, match="is not a regular expression") as told:
        check_pattern(pattern)
    assert "\n" not in str(told.value)


def test_matches_are_found_in_bounded_time() -> None:
    assert find_matches("a" * 40 + "b", TestFilter(pattern="(a+)+$")) == []
    assert find_matches("one two", TestFilter(pattern="t.o")) == [(4, 7)]
