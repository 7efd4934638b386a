"""The filters of the page out of the query of its address; `assets/model.js` writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from poor_bench.dashboard.links import Search, read_search
from poor_bench.dashboard.services.result_order import SortKey
from poor_bench.dashboard.services.result_query import Outcome, ResultQuery
from poor_bench.dashboard.services.result_table import TrialKey

FILTERS = ("llm", "class", "level", "think", "outcome", "text", "issue")
"""Names of the filters in the query; the others tell which trial is open."""
_SORT_KEYS = {
    "test_id": SortKey.TEST,
    "score": SortKey.SCORE,
    "test_category": SortKey.CLASS,
    "execution_time": SortKey.TIME,
    "think": SortKey.THINK,
}


def first(search: Search, name: str) -> str:
    """Return the first value of a name, or an empty text."""
    return next(iter(search.get(name, [])), "")


def query_of(search: str | None) -> ResultQuery:
    """Return what an address asks for; what makes no sense is left out."""
    values = read_search(search)
    return ResultQuery(
        llm_id=first(values, "llm"),
        classes=frozenset(values.get("class", [])),
        levels=frozenset(int(text) for text in values.get("level", []) if text.isdecimal()),
        thinks=frozenset(values.get("think", [])),
        outcomes=frozenset(
            Outcome(text) for text in values.get("outcome", []) if text in set(Outcome)
        ),
        issue=first(values, "issue"),
        text=first(values, "text").strip(),
    )


def sorted_as(query: ResultQuery, sort_model: Sequence[dict[str, Any]] | None) -> ResultQuery:
    """Return a query in the order that the user chose in the table."""
    for column in sort_model or ():
        key = _SORT_KEYS.get(str(column.get("colId")))
        if key is not None:
            return replace(query, sort=key, descending=column.get("sort") == "desc")
    return query


def row_id(key: TrialKey) -> str:
    """Return the id of a row of the table."""
    return f"{key.trial}{'f' if key.is_failure else 's'}{key.test_id}"


def selected_key(selected: object) -> TrialKey | None:
    """Return the trial that a store holds; None where it holds none."""
    if not isinstance(selected, list) or len(selected) != 3:
        return None
    test_id, trial, is_failure = selected
    if not isinstance(test_id, str) or not isinstance(trial, int):
        return None
    return TrialKey(test_id, trial, bool(is_failure))
