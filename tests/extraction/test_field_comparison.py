from __future__ import annotations

import pytest
from hypothesis import given

from poor_bench.extraction.field_comparison import compare_fields
from tests.extraction.strategies import json_values

EXPECTED = {"name": "Ann", "tags": ["a", "b"], "home": {"city": "Rome"}}


def test_differences_have_path_and_problem():
    comparison = compare_fields(EXPECTED, {"name": "Bob", "tags": ["a"], "home": []})
    assert [str(difference) for difference in comparison.differences] == [
        "$.name: expected 'Ann', got 'Bob'",
        "$.tags[1]: missing",
        "$.home.city: missing",
    ]
    assert (comparison.n_fields, comparison.share_right) == (4, 0.25)


def test_other_fields_differ_where_they_are_forbidden():
    got = {"name": "Ann", "tags": ["a", "b", "c"], "home": {"city": "Rome", "zip": 1}, "x": 1}
    assert compare_fields(EXPECTED, got).differences == ()
    comparison = compare_fields(EXPECTED, got, forbid_others=True)
    assert {difference.path for difference in comparison.differences} == {
        "$.tags[2]",
        "$.home.zip",
        "$.x",
    }
    assert comparison.share_right == pytest.approx(4 / 7)


@pytest.mark.parametrize(
    ("expected", "got", "share"),
    [(18, 18.0, 1.0), (1, True, 0.0), (True, 1, 0.0), ("1", 1, 0.0), (None, False, 0.0),
     ([], {}, 0.0), ({}, {"a": 1}, 0.0)],
)  # fmt: skip
def test_values_are_equal_as_in_json(expected, got, share):
    assert compare_fields(expected, got).share_right == share


@given(json_values)
def test_every_value_is_as_expected_by_itself(value):
    assert compare_fields(value, value, forbid_others=True).share_right == 1.0


@given(json_values, json_values)
def test_forbidding_others_finds_more_differences_never_fewer(expected, got):
    allowed = compare_fields(expected, got).differences
    forbidden = compare_fields(expected, got, forbid_others=True).differences
    assert forbidden[: len(allowed)] == allowed


def test_unicode_form_of_texts_does_not_count():
    composed, decomposed = (
        "caf\N{LATIN SMALL LETTER E WITH ACUTE}",
        "cafe\N{COMBINING ACUTE ACCENT}",
    )
    assert compare_fields({"a": composed}, {"a": decomposed}).share_right == 1.0
    assert compare_fields({"a": composed}, {"a": "cafe"}).share_right == 0.0
