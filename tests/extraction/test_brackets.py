from __future__ import annotations

from hypothesis import given

from poor_bench.extraction.json_value import find_bracket_spans
from tests.extraction.strategies import hostile_text


def test_pairs_are_listed_as_they_close():
    spans = find_bracket_spans("a [b {c} d] {")
    assert spans.closed == ((5, 8), (2, 11))
    assert spans.unclosed_start == 12
    assert spans.depth == 2


def test_closing_bracket_skips_unmatched_opening_ones():
    assert find_bracket_spans("{ [ [ }").closed == ((0, 7),)


def test_closing_bracket_without_opening_one_is_passed_over():
    assert find_bracket_spans("] } [1]").closed == ((4, 7),)


def test_brackets_in_quotes_do_not_count_within_brackets():
    assert find_bracket_spans('["]", "\\"]"]').closed == ((0, 12),)


def test_quote_ends_with_its_line():
    assert find_bracket_spans('[" \n 1]').closed == ((0, 7),)


@given(hostile_text)
def test_pairs_are_nested_or_apart(text):
    spans = find_bracket_spans(text)
    for start, end in spans.closed:
        assert (text[start], text[end - 1]) in {("[", "]"), ("{", "}")}
        for other_start, other_end in spans.closed:
            is_apart = other_end <= start or end <= other_start
            is_inside = start <= other_start and other_end <= end
            is_around = other_start <= start and end <= other_end
            assert is_apart or is_inside or is_around
