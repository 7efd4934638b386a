"""Issues in columns: their evidence is written when it is read, since it takes the texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, overload

from poor_bench.issues.detector import Issue, Trial, TrialTable
from poor_bench.statistics.trials import TextCodes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_READ_AT_ONCE = 1_000


class OfDetector(NamedTuple):
    """What one detector found."""

    detector_id: str
    entries: NDArray[np.int64]
    """Entries of the table, ascending."""
    lost: NDArray[np.float64]
    """Lost score that is charged to it."""
    places: NDArray[np.int64]
    """What `tell` calls each of them."""
    tell: Callable[[int, Trial], str]
    """Writes the evidence."""

    def pick(self, is_meant: NDArray[np.bool_]) -> OfDetector:
        """Select some of them."""
        return self._replace(
            entries=self.entries[is_meant], lost=self.lost[is_meant], places=self.places[is_meant]
        )


class Charges(NamedTuple):
    """Issues without their evidence, one entry each in the order of the issues."""

    detector_ids: Sequence[str]
    llm_ids: Sequence[str]
    detectors: NDArray[np.int64]
    """Places in `detector_ids`."""
    llms: NDArray[np.int64]
    """Places in `llm_ids`."""
    lost: NDArray[np.float64]


def list_charges(issues: Sequence[Issue]) -> Charges:
    """List what issues are charged with; of found ones no text is read."""
    if isinstance(issues, FoundIssues):
        return issues.charges()
    detectors, llms = TextCodes(), TextCodes()
    columns = _list_columns(issues, detectors, llms)
    return Charges(tuple(detectors), tuple(llms), *columns)


def _list_columns(
    issues: Sequence[Issue], detectors: TextCodes, llms: TextCodes
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    import numpy as np

    return (
        np.array([detectors[each.detector_id] for each in issues], dtype=np.int64),
        np.array([llms[each.llm_id] for each in issues], dtype=np.int64),
        np.array([each.lost_score for each in issues], dtype=np.float64),
    )


class FoundIssues(Sequence[Issue]):
    """Issues in the order of their detectors, then of the trials; `more` come last."""

    def __init__(
        self, table: TrialTable, found: Sequence[OfDetector], more: Sequence[Issue] = ()
    ) -> None:
        self._table = table
        self._found = found
        self._more = more

    def __len__(self) -> int:
        return sum(len(each.entries) for each in self._found) + len(self._more)

    @overload
    def __getitem__(self, place: int) -> Issue: ...
    @overload
    def __getitem__(self, place: slice) -> list[Issue]: ...
    def __getitem__(self, place: int | slice) -> Issue | list[Issue]:
        places = range(len(self))[place]
        if isinstance(places, int):
            return self._build([places])[0]
        return self._build(places)

    def __iter__(self) -> Iterator[Issue]:
        for start in range(0, len(self), _READ_AT_ONCE):
            yield from self[start : start + _READ_AT_ONCE]

    def charges(self) -> Charges:
        """List all of them without reading texts."""
        import numpy as np

        trials, detectors, llms = self._table.trials, TextCodes(), TextCodes()
        of_code = np.array([llms[name] for name in trials.values["llm_id"]], dtype=np.int64)
        columns = [
            (
                np.full(len(each.entries), detectors[each.detector_id], dtype=np.int64),
                of_code[trials.columns["llm_id"][each.entries]],
                each.lost,
            )
            for each in self._found
        ]
        columns.append(_list_columns(self._more, detectors, llms))
        joined = [np.concatenate(pieces) for pieces in zip(*columns, strict=True)]
        return Charges(tuple(detectors), tuple(llms), *joined)

    def where(
        self,
        detector_id: str = "",
        llm_ids: Collection[str] = (),
        test_ids: Collection[str] | None = None,
    ) -> FoundIssues:
        """Select issues; without a filter all of them.

        Args:
            detector_id: The detector that found them; empty for all.
            llm_ids: LLMs of the trials; empty for all.
            test_ids: Tests of the trials; None for all.
        """
        trials = self._table.trials
        is_meant = trials.find_entries("llm_id", lambda each: not llm_ids or each in llm_ids)
        if test_ids is not None:
            is_meant &= trials.find_entries("test_id", test_ids.__contains__)
        return FoundIssues(
            self._table,
            [
                each.pick(is_meant[each.entries])
                for each in self._found
                if detector_id in {"", each.detector_id}
            ],
            [
                issue
                for issue in self._more
                if detector_id in {"", issue.detector_id}
                and (not llm_ids or issue.llm_id in llm_ids)
                and (test_ids is None or issue.test_id in test_ids)
            ],
        )

    def append(self, more: Sequence[Issue]) -> FoundIssues:
        """Add issues that were found elsewhere."""
        return FoundIssues(self._table, self._found, [*self._more, *more])

    def trials(self) -> list[tuple[str, int]]:
        """List test id and trial number of every issue without reading texts."""
        keys = [key for each in self._found for key in self._list_keys(each)]
        return keys + [(issue.test_id, issue.trial) for issue in self._more]

    def among(self, trials: Collection[tuple[str, int]]) -> FoundIssues:
        """Select the issues of some trials, by test id and number."""
        import numpy as np

        return FoundIssues(
            self._table,
            [
                each.pick(np.array([key in trials for key in self._list_keys(each)], np.bool_))
                for each in self._found
            ],
            [issue for issue in self._more if (issue.test_id, issue.trial) in trials],
        )

    def _list_keys(self, found: OfDetector) -> list[tuple[str, int]]:
        columns, test_ids = self._table.trials.columns, self._table.trials.values["test_id"]
        tests = columns["test_id"][found.entries].tolist()
        trials = columns["trial"][found.entries].tolist()
        return [(test_ids[test], trial) for test, trial in zip(tests, trials, strict=True)]

    def _build(self, places: Sequence[int]) -> list[Issue]:
        """Build issues with their evidence; each trial is read once."""
        import numpy as np

        ends = np.cumsum([0, *(len(each.entries) for each in self._found)])
        numbers = np.searchsorted(ends, places, side="right") - 1
        here = [
            (self._found[number], place - int(ends[number]))
            for number, place in zip(numbers.tolist(), places, strict=True)
            if number < len(self._found)
        ]
        entries = np.unique(np.array([each.entries[at] for each, at in here], dtype=np.int64))
        trials = dict(zip(entries.tolist(), self._table.look(entries), strict=True))
        built = [_build_issue(each, at, trials[int(each.entries[at])]) for each, at in here]
        return built + [self._more[place - int(ends[-1])] for place in places if place >= ends[-1]]


def _build_issue(found: OfDetector, at: int, trial: Trial) -> Issue:
    return Issue(
        detector_id=found.detector_id,
        llm_id=trial.result.llm_id,
        test_id=trial.result.test_id,
        trial=trial.result.trial,
        evidence=found.tell(int(found.places[at]), trial),
        lost_score=float(found.lost[at]),
    )
