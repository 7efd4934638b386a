"""The state of the page in its address, and the query of results that it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from poor_bench.dashboard.url_state import GridUrl, query_field
from poor_bench.results.query import Outcome, Range, RatingFilter, ResultQuery, SortKey
from poor_bench.results.table import TrialKey


class ClassOrder(StrEnum):
    """What the classes of the summary are ordered by."""

    LOWEST = "lowest"
    """The lowest score first."""
    HIGHEST = "highest"
    NAME = "name"


SortModel = list[dict[str, Any]]
"""Sorting of the table as AG Grid tells it."""


@dataclass(frozen=True, kw_only=True)
class ModelUrl(GridUrl):
    """Filters and order of the page, and the trial that is open; `assets/model.js` writes it."""

    LLM_FIELDS = ()  # `start` of the page opens another model where the one named does not exist
    llm_id: str = query_field("llm")
    classes: tuple[str, ...] = query_field("class", ())
    levels: tuple[int, ...] = query_field("level", (), kind=int)
    thinks: tuple[str, ...] = query_field("think", ())
    outcomes: tuple[Outcome, ...] = query_field("outcome", (), kind=Outcome)
    causes: tuple[str, ...] = query_field("cause", ())
    min_score: float | None = query_field("min_score", None, kind=float)
    max_score: float | None = query_field("max_score", None, kind=float)
    min_s: float | None = query_field("min_s", None, kind=float)
    max_s: float | None = query_field("max_s", None, kind=float)
    is_stale: bool = query_field("stale", False)
    ratings: tuple[RatingFilter, ...] = query_field("rating", (), kind=RatingFilter)
    text: str = ""
    issue: str = ""
    by: ClassOrder = ClassOrder.LOWEST
    """Order of the classes."""
    at: int = 1
    """Page of the classes."""
    test: str = ""
    trial: int = 1
    is_failure: bool = query_field("failed", False)
    unknown: str = ""
    """Why the model named cannot be shown; `start` of the page sets it."""

    @property
    def filters(self) -> ModelUrl:
        """The filters alone: without an open trial, the view of the table, and any order."""
        state = self.without_view.change(test="", trial=1, is_failure=False, unknown="")
        return state.change(by=ClassOrder.LOWEST, at=1)

    @property
    def order(self) -> ModelUrl:
        """Order and page of the classes alone."""
        return ModelUrl(by=self.by, at=self.at)

    @property
    def selected(self) -> list[Any] | None:
        """The trial that is open, as the store of it holds it."""
        return [self.test, self.trial, self.is_failure] if self.test else None

    @property
    def sort_model(self) -> SortModel:
        """The order of the table as AG Grid tells it."""
        return [
            {"colId": field, "sort": "desc" if is_descending else "asc"}
            for field, is_descending in self.sorting
        ]

    @property
    def query(self) -> ResultQuery:
        """The query of the filters."""
        return ResultQuery(
            llm_id=self.llm_id,
            classes=frozenset(self.classes),
            levels=frozenset(self.levels),
            thinks=frozenset(self.thinks),
            outcomes=frozenset(self.outcomes),
            causes=frozenset(self.causes),
            scores=Range(self.min_score, self.max_score),
            seconds=Range(self.min_s, self.max_s),
            is_stale=self.is_stale,
            rating=next(iter(self.ratings), None),
            issue=self.issue,
            text=self.text.strip(),
        )


_SORT_KEYS = {
    "test_id": SortKey.TEST,
    "score": SortKey.SCORE,
    "test_category": SortKey.CLASS,
    "execution_time": SortKey.TIME,
    "think": SortKey.THINK,
}


def sort_query(query: ResultQuery, sort_model: Sequence[dict[str, Any]] | None) -> ResultQuery:
    """Sort a query in the order that the user chose in the table."""
    for column in sort_model or ():
        key = _SORT_KEYS.get(str(column.get("colId")))
        if key is not None:
            return replace(query, sort=key, descending=column.get("sort") == "desc")
    return query


def row_id(key: TrialKey) -> str:
    """Id of a row of the table."""
    return f"{key.trial}{'f' if key.is_failure else 's'}{key.test_id}"


def read_selected_key(selected: object) -> TrialKey | None:
    """Read the trial that a store holds; None where it holds none."""
    if not isinstance(selected, list) or len(selected) != 3:
        return None
    test_id, trial, is_failure = selected
    if not isinstance(test_id, str) or not isinstance(trial, int):
        return None
    return TrialKey(test_id, trial, bool(is_failure))
