"""Each test in both result sets: its scores, and mismatches that make them not comparable."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from poor_bench.comparison.result_set import LLMPair, ResultSet, list_tests
from poor_bench.comparison.side_rows import (
    SideRows,
    arrange_rows,
    average,
    compare_answers,
    differ,
    number_scores,
    select_new,
)
from poor_bench.models.test import Test

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Mismatch(StrEnum):
    """Why the scores of a test on both sides do not compare like with like."""

    PROMPT_CHANGED = "prompt"
    """The LLM was asked something else."""
    PARAMETERS_CHANGED = "parameters"
    """The LLM was asked with other parameters, or another model stands under its id."""
    MODEL_MOVED = "model"
    """The server ran something else under the same name."""
    EVALUATOR_CHANGED = "evaluator"
    """The answer was scored in another way."""
    TEST_GONE = "test_gone"
    """The test is not in the workspace any more."""
    ONLY_BEFORE = "only_before"
    """No result exists after."""
    ONLY_AFTER = "only_after"
    """No result exists before."""
    FAILED_BEFORE = "failed_before"
    """It failed to run before."""
    FAILED_AFTER = "failed_after"
    """It failed to run after."""

    @property
    def text(self) -> str:
        """Text for screens."""
        return _TEXTS[self]


CHANGES = (
    Mismatch.PROMPT_CHANGED,
    Mismatch.PARAMETERS_CHANGED,
    Mismatch.MODEL_MOVED,
    Mismatch.EVALUATOR_CHANGED,
)
"""Changes that a comparison can allow."""

MEASURED_CHANGES = frozenset(CHANGES) - {Mismatch.EVALUATOR_CHANGED}
"""Changes whose effect a comparison shows; that of an evaluator only on the same answers."""

_TEXTS = {
    Mismatch.PROMPT_CHANGED: "prompt changed",
    Mismatch.PARAMETERS_CHANGED: "parameters changed",
    Mismatch.MODEL_MOVED: "model moved (another digest under the same name)",
    Mismatch.EVALUATOR_CHANGED: "evaluator changed",
    Mismatch.TEST_GONE: "test gone from the workspace",
    Mismatch.ONLY_BEFORE: "no result after",
    Mismatch.ONLY_AFTER: "no result before",
    Mismatch.FAILED_BEFORE: "failed to run before",
    Mismatch.FAILED_AFTER: "failed to run after",
}


class UnreadTests(NamedTuple):
    """Tests that only one side has, and whose results were not read."""

    reason: Mismatch
    test_ids: tuple[str, ...]
    tests: Mapping[str, Test]
    """Tests of the workspace by id."""

    def of_class(self, class_id: str | None) -> list[str]:
        """List the ids of the tests of a class; None for all, empty for tests that are gone."""
        if class_id is None:
            return [*self.test_ids]
        known = ((name, self.tests.get(name)) for name in self.test_ids)
        return [name for name, test in known if (test.class_id if test else "") == class_id]


class ScoreChange(StrEnum):
    """Change of the score of a test that both result sets have scored."""

    FIXED = "fixed"
    """It did not pass before, and does now."""
    BROKEN = "broken"
    """It passed before, and does not now."""
    BETTER = "better"
    """It scores more, and passes on both sides or on neither."""
    WORSE = "worse"
    """It scores less, and passes on both sides or on neither."""
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedTest:
    """One test of one LLM on both sides."""

    test_id: str
    class_id: str
    """Empty where the test is not known any more."""
    before: float | None
    """Mean score over trials, 0.0 to 1.0; None where nothing was scored."""
    after: float | None
    """As `before`."""
    outcome: ScoreChange | None
    """None where one side has no score."""
    mismatches: tuple[Mismatch, ...] = ()
    is_verified: bool = True
    """True if both result sets record prompt and evaluator."""
    same_answers: bool = False
    """True if both sides scored the very same answers."""
    scores_before: tuple[float, ...] = ()
    """Score of each trial before."""
    scores_after: tuple[float, ...] = ()
    """Score of each trial after that is not the very result that stands before; empty if none was
    made since."""
    repeats_alike: bool = False
    """True if a result set has several answers, and in each result set all of them are equal."""
    group: str | None = None
    """Of the test; None for one of its own."""
    n_trials: tuple[int, int] = (1, 1)
    """Scored trials before and after."""
    squares: tuple[float, float] = (0.0, 0.0)
    """Sums of the squared deviations of these trials from their mean."""

    def is_comparable(self, allowed: Collection[Mismatch] = ()) -> bool:
        """True if both result sets have a score, and nothing beyond `allowed` changed."""
        return self.outcome is not None and set(self.mismatches) <= set(allowed)

    @property
    def difference(self) -> float:
        """Score after minus score before, -1.0 to 1.0; 0.0 where one of them is missing."""
        if self.before is None or self.after is None:
            return 0.0
        return self.after - self.before


_OUTCOMES = (*ScoreChange, None)
_MISMATCHES = tuple(Mismatch)


def sum_bits(mismatches: Iterable[Mismatch]) -> int:
    """Write mismatches as one number."""
    return sum(1 << _MISMATCHES.index(each) for each in mismatches)


def read_bits(number: int) -> tuple[Mismatch, ...]:
    """Read what `sum_bits` wrote, in the order of `Mismatch`."""
    return tuple(each for place, each in enumerate(_MISMATCHES) if number >> place & 1)


@dataclass(frozen=True, eq=False)
class ComparedTests(Sequence[ComparedTest]):
    """Tests of one LLM on both sides in columns; each is an object only where it is asked for."""

    columns: Mapping[str, NDArray[Any]]
    """As `ComparedTest`, NaN for a missing score. `outcome` is a place in `ScoreChange`, or -1;
    `bits` are the mismatches; `first_` and `n_` say where each one's scores stand in `scores`."""
    scores: tuple[NDArray[np.float64], NDArray[np.float64]]
    """Of trials before, and of those after that do not stand before."""

    def __len__(self) -> int:
        return len(self.columns["before"])

    @overload
    def __getitem__(self, chosen: int) -> ComparedTest: ...
    @overload
    def __getitem__(self, chosen: slice) -> ComparedTests: ...
    def __getitem__(self, chosen: int | slice) -> ComparedTest | ComparedTests:
        return self.pick(chosen) if isinstance(chosen, slice) else self._built[chosen]

    def __iter__(self) -> Iterator[ComparedTest]:
        return iter(self._built)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComparedTests) and self._built == other._built

    __hash__ = None  # type: ignore[assignment]

    def pick(self, chosen: NDArray[Any] | slice) -> ComparedTests:
        """Select tests by a mask or their places."""
        columns = {name: column[chosen] for name, column in self.columns.items()}
        return ComparedTests(columns, self.scores)

    @property
    def test_ids(self) -> list[str]:
        """Their ids."""
        found: list[str] = self.columns["test_id"].tolist()
        return found

    @cached_property
    def differences(self) -> NDArray[np.float64]:
        """The difference of each."""
        import numpy as np

        found: NDArray[np.float64] = self.columns["after"] - self.columns["before"]
        return np.where(np.isnan(found), 0.0, found)

    def split(self, name: str) -> dict[Any, ComparedTests]:
        """Group them by a column, in order of first appearance."""
        import numpy as np

        places: dict[Any, list[int]] = {}
        for place, value in enumerate(self.columns[name].tolist()):
            places.setdefault(value, []).append(place)
        if len(places) < 2:
            return dict.fromkeys(places, self)
        return {value: self.pick(np.array(own)) for value, own in places.items()}

    def count_with(self, mismatch: Mismatch) -> int:
        """Count those with a mismatch."""
        return int((self.columns["bits"] & sum_bits([mismatch]) > 0).sum())

    def are_comparable(self, allowed: Collection[Mismatch]) -> NDArray[np.bool_]:
        """Mark those that `ComparedTest.is_comparable` is true of."""
        beyond: NDArray[np.bool_] = self.columns["bits"] & ~sum_bits(allowed) == 0
        return beyond & (self.columns["outcome"] >= 0)

    def have_outcome(self, *outcomes: ScoreChange) -> NDArray[np.bool_]:
        """Mark those with some changes of score."""
        import numpy as np

        return np.isin(self.columns["outcome"], [_OUTCOMES.index(each) for each in outcomes])

    @cached_property
    def _built(self) -> tuple[ComparedTest, ...]:
        names, lists = [*self.columns], [column.tolist() for column in self.columns.values()]
        return tuple(
            self._build(dict(zip(names, row, strict=True))) for row in zip(*lists, strict=True)
        )

    def _build(self, row: Mapping[str, Any]) -> ComparedTest:
        first, new = row["first_before"], row["first_new"]
        return ComparedTest(
            **{name: row[name] for name in _AS_THEY_ARE},
            before=None if isnan(row["before"]) else row["before"],
            after=None if isnan(row["after"]) else row["after"],
            outcome=_OUTCOMES[row["outcome"]],
            mismatches=read_bits(row["bits"]),
            scores_before=tuple(self.scores[0][first : first + row["n_before"]].tolist()),
            scores_after=tuple(self.scores[1][new : new + row["n_new"]].tolist()),
            n_trials=(row["n_before"], row["n_after"]),
            squares=(row["squares_before"], row["squares_after"]),
        )


_AS_THEY_ARE = ("test_id", "class_id", "group", "is_verified", "same_answers", "repeats_alike")


def _classify(
    before: NDArray[np.float64], after: NDArray[np.float64], pass_score: float
) -> NDArray[np.int64]:
    """Find the place in `ScoreChange` of how mean scores changed, -1 where one is missing."""
    import numpy as np

    passed, passes = before >= pass_score, after >= pass_score
    conditions = (
        (np.isnan(before + after), None),
        (passes & ~passed, ScoreChange.FIXED),
        (passed & ~passes, ScoreChange.BROKEN),
        (before == after, ScoreChange.UNCHANGED),
        (after > before, ScoreChange.BETTER),
    )
    places = [-1 if each is None else _OUTCOMES.index(each) for _, each in conditions]
    return np.select([each for each, _ in conditions], places, _OUTCOMES.index(ScoreChange.WORSE))


class PairedTests(NamedTuple):
    """The tests of one pair of LLMs, and the scored trials behind them."""

    tests: ComparedTests
    before: SideRows
    after: SideRows


class TestPairing:
    """Puts the tests of both sides beside each other, see `compare_result_sets`."""

    def __init__(
        self, before: ResultSet, after: ResultSet, tests: Mapping[str, Test], pass_score: float
    ) -> None:
        self._runs = {**before.runs, **after.runs}
        self._columns = before.in_columns(), after.in_columns()
        self._unread = before.unread_tests
        self._tests = tests
        self._pass_score = pass_score

    def compare(self, pair: LLMPair) -> PairedTests:
        """Compare every test that either result set has, in order."""
        import numpy as np

        sides = zip(self._columns, pair, strict=True)
        codes = [list_tests(columns.trials, llm_id) for columns, llm_id in sides]
        for test_id in codes[0].keys() & self._unread.get(pair[0], ()):
            del codes[0][test_id]
        named = codes[0] | codes[1]
        here = [test_id for test_id in self._tests if test_id in named]
        test_ids = here + sorted(named.keys() - self._tests.keys())
        numbers = {test_id: number for number, test_id in enumerate(test_ids)}
        before, after = (
            arrange_rows(
                columns, llm_id, {code: numbers[name] for name, code in own.items()}, len(numbers)
            )
            for columns, llm_id, own in zip(self._columns, pair, codes, strict=True)
        )
        old, new = (side.pick(~np.isnan(side.columns["score"])) for side in (before, after))
        found = self._describe(test_ids) | average(old, "before") | average(new, "after")
        found["outcome"] = _classify(found["before"], found["after"], self._pass_score)
        found["bits"], found["is_verified"] = self._find_changes(old, new, pair)
        is_missing = found["outcome"] < 0
        found["bits"][is_missing] = _find_absences(before, after, found["before"])[is_missing]
        is_gone = np.arange(len(test_ids)) >= (len(here) if self._tests else len(test_ids))
        found["bits"][is_gone] = sum_bits([Mismatch.TEST_GONE])
        found["is_verified"] |= is_missing | is_gone
        made_since = select_new(before, new)
        found |= compare_answers(old, new) | number_scores(old, "before")
        found |= number_scores(made_since, "new")
        scores = old.columns["score"], made_since.columns["score"]
        return PairedTests(ComparedTests(found, scores), old, new)

    def _describe(self, test_ids: Sequence[str]) -> dict[str, NDArray[Any]]:
        import numpy as np

        tests = [*map(self._tests.get, test_ids)]
        texts = {
            "test_id": test_ids,
            "class_id": [test.class_id if test else "" for test in tests],
            "group": [test.group if test else None for test in tests],
        }
        return {name: np.array(column, dtype=object) for name, column in texts.items()}

    def _find_changes(
        self, old: SideRows, new: SideRows, pair: LLMPair
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Find what changed between the scored trials of each test, and if both sides tell that.

        Between different LLMs, model and parameters are what is compared, so only prompt and
        evaluator count.
        """
        import numpy as np

        prompt, evaluator = differ(old, new, "prompt"), differ(old, new, "evaluator")
        found = {Mismatch.PROMPT_CHANGED: prompt, Mismatch.EVALUATOR_CHANGED: evaluator}
        if pair[0] == pair[1]:
            asked = differ(old, new, "request")
            settings = [side.add_settings(self._runs, pair[0]) for side in (old, new)]
            is_set_otherwise = differ(settings[0], settings[1], "settings")
            found[Mismatch.PROMPT_CHANGED] = asked & prompt
            found[Mismatch.PARAMETERS_CHANGED] = asked & (~prompt | is_set_otherwise)
            found[Mismatch.MODEL_MOVED] = differ(old, new, "model")
        needed = ("evaluator", "request" if pair[0] == pair[1] else "prompt")
        bits = np.zeros(old.n_tests, dtype=np.int64)
        for mismatch, is_changed in found.items():
            bits[is_changed] |= sum_bits([mismatch])
        return bits, old.have_all(*needed) & new.have_all(*needed)

    def list_unread(self, pair: LLMPair) -> tuple[UnreadTests, ...]:
        """List the tests before whose results were not read, in order."""
        unread = self._unread.get(pair[0], ())
        here = tuple(filter(unread.__contains__, self._tests))
        are_all_here = len(here) == len(unread)
        gone = () if are_all_here else tuple(sorted(set(unread).difference(self._tests)))
        reason = Mismatch.TEST_GONE if self._tests else Mismatch.ONLY_BEFORE
        found = ((Mismatch.ONLY_BEFORE, here), (reason, gone))
        return tuple(UnreadTests(why, names, self._tests) for why, names in found if names)


def _find_absences(
    before: SideRows, after: SideRows, means_before: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Find why one result set has no score of each test."""
    import numpy as np

    kinds = (Mismatch.FAILED_BEFORE, Mismatch.ONLY_AFTER, Mismatch.FAILED_AFTER)
    lacks_before = np.isnan(means_before)
    return np.select(
        [lacks_before & (before.count() > 0), lacks_before, after.count() > 0],
        [sum_bits([kind]) for kind in kinds],
        sum_bits([Mismatch.ONLY_BEFORE]),
    )
