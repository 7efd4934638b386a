from __future__ import annotations

from typing import Any

import pytest

from poor_bench.evaluation.checks import MISSING, find_path


@pytest.mark.parametrize(
    ("data", "path", "found"),
    [
        ({"a": {"b": 1}}, "a.b", 1),
        ({"a": [10, {"b": 2}]}, "a.1.b", 2),
        ({"a.b": {"c": 3}}, "a.b.c", 3),
        ({"a": {"x": 0}, "a.b": 4}, "a.b", 4),
        ({"a": None}, "a", None),
        ({"a": {"": 5}}, "a.", 5),
    ],
)
def test_path_leads_to_its_value(data: Any, path: str, found: Any) -> None:
    assert find_path(data, path) == found


@pytest.mark.parametrize(
    ("data", "path"),
    [({}, "a"), ({"a": "text"}, "a.0"), ({"a": [1]}, "a.1"), ({"a": [1]}, "a.-1"), ([], "a.b")],
)
def test_path_that_leads_nowhere_is_missing(data: Any, path: str) -> None:
    assert find_path(data, path) is MISSING
