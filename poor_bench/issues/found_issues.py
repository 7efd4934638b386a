"""Issues in columns: their evidence is written when it is read, since it takes the texts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import accumulate
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


def join_found(firsts: Sequence[int], blocks: Sequence[OfDetector]) -> OfDetector:
    """Join what a detector found in blocks of a table.

    Args:
        firsts: The first entry of each block, ascending.
        blocks: What was found in each; at least one.
    """
    import numpy as np

    if len(blocks) == 1:
        return blocks[0]
    tells = [each.tell for each in blocks]
    ends = list(accumulate((len(each.entries) for each in blocks), initial=0))

    def tell(place: int, trial: Trial) -> str:
        number = bisect_right(ends, place) - 1
        return tells[number](place - ends[number], trial)

    return OfDetector(
        blocks[0].detector_id,
        np.concatenate([first + each.entries for first, each in zip(firsts, blocks, strict=True)]),
        np.concatenate([each.lost for each in blocks]),
        np.concatenate([end + each.places for end, each in zip(ends, blocks, strict=False)]),
        tell,
    )


class Charges(NamedTuple):
    """Issues without their evidence, one entry each in the order of the issues."""

    detector_ids: Sequence[str]
    llm_ids: Sequence[str]
    detectors: NDArray[np.int32]
    """Places in `detector_ids`."""
    llms: NDArray[np.int32]
    """Places in `llm_ids`."""
    lost: NDArray[np.float64]


def list_charges(issues: Sequence[Issue]) -> Charges:
    """List what issues are charged with; of found ones no text is read."""
    if isinstance(issues, FoundIssues):
        return issues.charges()
    detectors, llms = TextCodes(), TextCodes()
    columns = _list_columns(issues, detectors, llms)
    return Charges(tuple(detectors), tuple(llms), *columns)


def read_issues(issues: Sequence[Issue], places: Collection[int]) -> dict[int, Issue]:
    """Read the issues at some places; the texts of found ones at once."""
    ordered = sorted(places)
    if isinstance(issues, FoundIssues):
        return dict(zip(ordered, issues.read(ordered), strict=True))
    return {place: issues[place] for place in ordered}


def _list_columns(
    issues: Sequence[Issue], detectors: TextCodes, llms: TextCodes
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    import numpy as np

    return (
        np.array([detectors[each.detector_id] for each in issues], dtype=np.int32),
        np.array([llms[each.llm_id] for each in issues], dtype=np.int32),
        np.array([each.lost_score for each in issues], dtype=np.float64),
    )


class FoundIssues(Sequence[Issue]):
    """Issues in the order of their detectors, then of the trials; `more` come last."""

    def __init__(
        self, table: TrialTable, found: Sequence[OfDetector], more: Sequence[Issue] = ()
    ) -> None:
        self.table = table
        """The trials that they are about."""
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
            return self.read([places])[0]
        return self.read(places)

    def __iter__(self) -> Iterator[Issue]:
        for start in range(0, len(self), _READ_AT_ONCE):
            yield from self[start : start + _READ_AT_ONCE]

    def charges(self) -> Charges:
        """List all of them without reading texts."""
        import numpy as np

        trials, detectors, llms = self.table.trials, TextCodes(), TextCodes()
        of_code = np.array([llms[name] for name in trials.values["llm_id"]], dtype=np.int32)
        codes = [detectors[each.detector_id] for each in self._found]
        more = _list_columns(self._more, detectors, llms)
        sizes = [len(each.entries) for each in self._found]
        return Charges(
            tuple(detectors),
            tuple(llms),
            np.concatenate([np.repeat(np.array(codes, dtype=np.int32), sizes), more[0]]),
            np.concatenate(
                [
                    *(of_code[trials.columns["llm_id"][each.entries]] for each in self._found),
                    more[1],
                ]
            ),
            np.concatenate([*(each.lost for each in self._found), more[2]]),
        )

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
        trials = self.table.trials
        is_meant = trials.find_entries("llm_id", lambda each: not llm_ids or each in llm_ids)
        if test_ids is not None:
            is_meant &= trials.find_entries("test_id", test_ids.__contains__)
        return FoundIssues(
            self.table,
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

    def exchange(self, found: Sequence[OfDetector]) -> FoundIssues:
        """Put what some detectors found in the place of what they found before."""
        new = {each.detector_id: each for each in found}
        return FoundIssues(
            self.table, [new.get(each.detector_id, each) for each in self._found], self._more
        )

    def append(self, more: Sequence[Issue]) -> FoundIssues:
        """Add issues that were found elsewhere."""
        return FoundIssues(self.table, self._found, [*self._more, *more])

    def trials(self) -> list[tuple[str, int]]:
        """List test id and trial number of every issue without reading texts."""
        keys = [key for each in self._found for key in self._list_keys(each)]
        return keys + [(issue.test_id, issue.trial) for issue in self._more]

    def among(self, trials: Collection[tuple[str, int]]) -> FoundIssues:
        """Select the issues of some trials, by test id and number."""
        import numpy as np

        return FoundIssues(
            self.table,
            [
                each.pick(np.array([key in trials for key in self._list_keys(each)], np.bool_))
                for each in self._found
            ],
            [issue for issue in self._more if (issue.test_id, issue.trial) in trials],
        )

    def _list_keys(self, found: OfDetector) -> list[tuple[str, int]]:
        columns, test_ids = self.table.trials.columns, self.table.trials.values["test_id"]
        tests = columns["test_id"][found.entries].tolist()
        trials = columns["trial"][found.entries].tolist()
        return [(test_ids[test], trial) for test, trial in zip(tests, trials, strict=True)]

    def read(self, places: Sequence[int]) -> list[Issue]:
        """Read the issues at places that ascend, with their evidence; each trial is read once."""
        import numpy as np

        ends = np.cumsum([0, *(len(each.entries) for each in self._found)])
        numbers = np.searchsorted(ends, places, side="right") - 1
        here = [
            (self._found[number], place - int(ends[number]))
            for number, place in zip(numbers.tolist(), places, strict=True)
            if number < len(self._found)
        ]
        entries = np.unique(np.array([each.entries[at] for each, at in here], dtype=np.int64))
        trials = dict(zip(entries.tolist(), self.table.look(entries), strict=True))
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
