"""Which results a table shows, and in which order: filters and sorting over columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.models.test import Test
    from poor_bench.results.table import ResultTable, TrialKey


def think_to_text(think: bool | str | None) -> str:
    """Name a think parameter as screens show it.

    Example:
        >>> think_to_text(True), think_to_text("low"), think_to_text(None)
        ('on', 'low', 'default')
    """
    if isinstance(think, bool):
        return "on" if think else "off"
    return think or "default"


class SortKey(StrEnum):
    """What results can be ordered by."""

    FILE = "file"
    """The order of the tests in their file; tests that are gone come last."""
    TEST = "test"
    SCORE = "score"
    CLASS = "class"
    LEVEL = "level"
    TIME = "time"
    THINK = "think"


_NUMBERS = {SortKey.SCORE: "score", SortKey.TIME: "execution_time_ms"}


class TestPlaces:
    """Class, level and place in tests.json of every test id that results know, by its code."""

    def __init__(self, table: ResultTable, tests: Mapping[str, Test]) -> None:
        import numpy as np

        known = [tests.get(test_id) for test_id in table.values["test_id"]]
        self.classes = np.array([test.class_id if test else "" for test in known], dtype=object)
        self.levels = np.array([test.level if test else 0 for test in known], dtype=np.int64)
        order = {test_id: number for number, test_id in enumerate(tests)}
        self.positions = np.array([order.get(name, len(order)) for name in table.values["test_id"]])
        self.ids = np.array(table.values["test_id"], dtype=object)


def order_rows(
    table: ResultTable,
    places: TestPlaces,
    rows: NDArray[np.int64],
    key: SortKey,
    *,
    descending: bool,
) -> NDArray[np.int64]:
    """Sort rows: stable if values are equal, missing values last."""
    import numpy as np

    values = _sort_values(table, places, rows, key)
    _, ranks = np.unique(values, return_inverse=True)
    ranks = ranks.astype(np.int64)
    if values.dtype.kind == "f":
        ranks[np.isnan(values)] = len(values) if not descending else -1
    return rows[np.argsort(-ranks if descending else ranks, kind="stable")]


def _sort_values(
    table: ResultTable, places: TestPlaces, rows: NDArray[np.int64], key: SortKey
) -> Any:
    import numpy as np

    if key in _NUMBERS:
        return table.columns[_NUMBERS[key]][rows]
    tests = table.columns["test_id"][rows]
    match key:
        case SortKey.FILE:
            return places.positions[tests]
        case SortKey.CLASS:
            return places.classes[tests].astype(str)
        case SortKey.LEVEL:
            return places.levels[tests]
        case SortKey.THINK:
            texts = np.array([think_to_text(value) for value in table.values["think"]])
            return texts[table.columns["think"][rows]]
        case _:
            return places.ids[tests].astype(str)


PASS_SCORE = 1.0


class Outcome(StrEnum):
    """How a trial ended."""

    PASSED = "passed"
    NOT_PASSED = "not_passed"
    FAILED_TO_RUN = "failed_to_run"


class RatingFilter(StrEnum):
    """What people say about an answer."""

    RATED = "rated"
    UNRATED = "unrated"
    DISPUTED = "disputed"
    """Their mean is 0.5 or more away from the evaluator's score."""


class Range(NamedTuple):
    """Limits of a figure, both included; results without the figure are outside."""

    low: float | None = None
    high: float | None = None

    def contains(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Mark the values between the limits."""
        import numpy as np

        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        is_inside: NDArray[np.bool_] = (values >= low) & (values <= high)
        return is_inside


NO_LIMITS = Range()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultQuery:
    """Filters of one LLM's results; an empty filter lets everything through."""

    llm_id: str
    classes: frozenset[str] = frozenset()
    levels: frozenset[int] = frozenset()
    thinks: frozenset[str] = frozenset()
    """Think parameters as text: "on", "off", "low", ..."""
    outcomes: frozenset[Outcome] = frozenset()
    issue: str = ""
    """Id of the detector that found something; empty for all."""
    text: str = ""
    """Looked for in test ids, details, responses and thinking, in any case."""
    causes: frozenset[str] = frozenset()
    """Why score was lost, as evaluators state it."""
    scores: Range = NO_LIMITS
    seconds: Range = NO_LIMITS
    """Execution time."""
    is_stale: bool = False
    """True for stale scores only."""
    rating: RatingFilter | None = None
    """`find_rows` does not read ratings; `RatedAnswers.select` does."""
    sort: SortKey = SortKey.FILE
    descending: bool = False

    @property
    def is_filtered(self) -> bool:
        """True if some filter is set."""
        return replace(self, sort=SortKey.FILE, descending=False) != ResultQuery(llm_id=self.llm_id)


def find_rows(
    table: ResultTable,
    tests: Mapping[str, Test],
    query: ResultQuery,
    concerned: Collection[tuple[str, int]] | None = None,
    stale_places: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Find the rows that match a query, in its order; stable if values are equal.

    Args:
        table: All results.
        tests: Test id to test of the workspace.
        query: What is looked for.
        concerned: Test ids and trial numbers that have the issue of the query.
        stale_places: Column `place` of the stale scores, where the query is for these.
    """
    import numpy as np

    rows = table.find_rows(query.llm_id)
    places = TestPlaces(table, tests)
    if query.classes:
        rows = rows[_is_in(places.classes[table.columns["test_id"][rows]], query.classes)]
    if query.levels:
        rows = rows[_is_in(places.levels[table.columns["test_id"][rows]], query.levels)]
    if query.thinks:
        kept = [think_to_text(value) in query.thinks for value in table.values["think"]]
        rows = _with_codes(table, "think", kept, rows)
    if concerned is not None:
        rows = rows[_are_among(table, rows, concerned)]
    if stale_places is not None:
        rows = rows[np.isin(table.columns["place"][rows], stale_places)]
    rows = _find_by_figures(table, rows, query)
    if query.text:
        rows = rows[table.holding(query.text, rows)]
    return order_rows(table, places, rows, query.sort, descending=query.descending)


def _find_by_figures(
    table: ResultTable, rows: NDArray[np.int64], query: ResultQuery
) -> NDArray[np.int64]:
    import numpy as np

    if query.scores != NO_LIMITS:
        rows = rows[query.scores.contains(table.columns["score"][rows])]
    if query.seconds != NO_LIMITS:
        rows = rows[query.seconds.contains(table.columns["execution_time_ms"][rows] / 1000)]
    if query.outcomes:
        rows = rows[_has_outcome(table, rows, query.outcomes)]
    if query.causes:
        by_cause = table.places_by_text("cause", rows)
        found = [by_cause[cause] for cause in query.causes if cause in by_cause]
        rows = rows[np.sort(np.concatenate(found))] if found else rows[:0]
    return rows


def _is_in(values: NDArray[Any], wanted: frozenset[Any]) -> NDArray[np.bool_]:
    import numpy as np

    return np.isin(values.astype(str), [str(value) for value in wanted])


def _with_codes(
    table: ResultTable, field: str, kept: list[bool], rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    import numpy as np

    chosen: NDArray[np.int64] = rows[np.array(kept, dtype=np.bool_)[table.columns[field][rows]]]
    return chosen


def _are_among(
    table: ResultTable, rows: NDArray[np.int64], wanted: Collection[tuple[str, int]]
) -> NDArray[np.bool_]:
    import numpy as np

    keys = (table.key(row) for row in rows)
    return np.array([(key.test_id, key.trial) in wanted for key in keys], dtype=np.bool_)


def _has_outcome(
    table: ResultTable, rows: NDArray[np.int64], outcomes: frozenset[Outcome]
) -> NDArray[np.bool_]:
    import numpy as np

    score = table.columns["score"][rows]
    is_failed = np.isnan(score)
    found = np.zeros(len(rows), dtype=np.bool_)
    if Outcome.PASSED in outcomes:
        found |= score >= PASS_SCORE
    if Outcome.NOT_PASSED in outcomes:
        found |= ~is_failed & (score < PASS_SCORE)
    if Outcome.FAILED_TO_RUN in outcomes:
        found |= is_failed
    return found


@dataclass(frozen=True, slots=True)
class FoundTrials:
    """Results in the order of a query."""

    table: ResultTable
    rows: NDArray[np.int64]
    """Rows of `table`."""

    def __len__(self) -> int:
        return len(self.rows)

    def keys(self) -> set[tuple[str, int]]:
        """List the trials: test id and number."""
        return {(key.test_id, key.trial) for key in map(self.table.key, self.rows.tolist())}

    def test_ids(self) -> list[str]:
        """List the tests, sorted."""
        import numpy as np

        codes = np.unique(self.table.columns["test_id"][self.rows]).tolist()
        return sorted(self.table.values["test_id"][code] for code in codes)

    def find_place(self, key: TrialKey) -> int | None:
        """Find the position of a trial, from 0; None if the query did not find it."""
        code = self.table.find_code("test_id", key.test_id)
        places = (self.table.columns["test_id"][self.rows] == code).nonzero()[0]
        return next(
            (int(place) for place in places if self.table.key(int(self.rows[place])) == key), None
        )

    def key_at(self, place: int) -> TrialKey | None:
        """Look up the trial at a position; None beyond both ends."""
        if not 0 <= place < len(self.rows):
            return None
        return self.table.key(int(self.rows[place]))


@dataclass(frozen=True, slots=True, kw_only=True)
class TestScore:
    """Mean score of one test."""

    test_id: str
    class_id: str
    """Empty where the test is not known any more."""
    score: float | None
    """Mean over trials, 0.0 to 1.0; None if no trial could be run."""
    n_trials: int
    """Scored trials."""


def scores_of_tests(
    found: FoundTrials, tests: Mapping[str, Test], start: int, count: int
) -> tuple[list[TestScore], int]:
    """Score some of the tests that were found, in the order of their file.

    Args:
        found: Results of one LLM.
        tests: Test id to test, in the order of their file; others come last.
        start: Number of the first test wanted, from 0.
        count: How many tests are wanted at most.

    Returns:
        The tests, and how many there are altogether.
    """
    import numpy as np

    table = found.table
    codes = table.columns["test_id"][found.rows]
    scores = table.columns["score"][found.rows]
    known, numbers = np.unique(codes, return_inverse=True)
    is_scored = ~np.isnan(scores)
    n_trials = np.bincount(numbers[is_scored], minlength=len(known))
    sums = np.bincount(numbers[is_scored], weights=scores[is_scored], minlength=len(known))
    test_ids = [table.values["test_id"][code] for code in known]
    order = {test_id: place for place, test_id in enumerate(tests)}
    places = [order.get(test_id, len(order)) for test_id in test_ids]
    wanted = np.argsort(places, kind="stable")[start : start + count]
    return [
        _test_score(test_ids[index], tests, sums[index], n_trials[index]) for index in wanted
    ], len(known)


def _test_score(
    test_id: str, tests: Mapping[str, Test], score_sum: float, n_trials: int
) -> TestScore:
    test = tests.get(test_id)
    return TestScore(
        test_id=test_id,
        class_id=test.class_id if test else "",
        score=float(score_sum / n_trials) if n_trials else None,
        n_trials=int(n_trials),
    )
