"""Issues in columns: their evidence is written when it is read, since it takes the texts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from poor_bench.issues.detector import Issue, Trial, TrialTable
from poor_bench.statistics.trials import TextCodes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_READ_AT_ONCE = 1_000
_ENTRIES_AT_ONCE = 1 << 20


class OfDetector(NamedTuple):
    """What one detector found."""

    detector_id: str
    entries: NDArray[np.signedinteger[Any]]
    """Entries of the table, ascending."""
    lost: NDArray[np.float64]
    """Lost score that is charged to it."""
    places: NDArray[np.int64] | None
    """What `tell` calls each of them; None where it looks at the trial only."""
    tell: Callable[[int, Trial], str]
    """Writes the evidence."""

    def pick(self, is_meant: NDArray[np.bool_]) -> OfDetector:
        """Select some of them."""
        return self._replace(
            entries=self.entries[is_meant],
            lost=self.lost[is_meant],
            places=None if self.places is None else self.places[is_meant],
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
    joined = blocks[0]._replace(
        entries=np.concatenate(
            [first + each.entries for first, each in zip(firsts, blocks, strict=True)]
        ),
        lost=np.concatenate([each.lost for each in blocks]),
    )
    told = [each.places for each in blocks if each.places is not None]
    if len(told) < len(blocks):
        return joined
    tells = [each.tell for each in blocks]
    ends = list(accumulate((len(each.entries) for each in blocks), initial=0))

    def tell(place: int, trial: Trial) -> str:
        number = bisect_right(ends, place) - 1
        return tells[number](place - ends[number], trial)

    places = np.concatenate([end + each for end, each in zip(ends, told, strict=False)])
    return joined._replace(places=places, tell=tell)


class Charges(NamedTuple):
    """Issues of one detector without their evidence, one entry each."""

    detector_id: str
    places: NDArray[np.int64] | range
    """Among all issues, ascending."""
    llms: NDArray[np.int32]
    """Codes of their models."""
    lost: NDArray[np.float64]

    def choose_examples(self, n_examples: int) -> list[int]:
        """Choose some by lost score, with different models first; return their places."""
        import numpy as np

        firsts = self._find_costliest()
        order = firsts[np.lexsort((firsts, -self.lost[firsts]))]
        if len(order) < n_examples:
            others = np.delete(np.arange(len(self.lost)), firsts)
            order = np.append(order, others[np.argsort(-self.lost[others], kind="stable")])
        return [int(self.places[entry]) for entry in order[:n_examples].tolist()]

    def _find_costliest(self) -> NDArray[np.int64]:
        """Find the first of the costliest of each model."""
        import numpy as np

        n_llms = int(self.llms.max(initial=-1)) + 1
        found, most = np.full(n_llms, -1), np.full(n_llms, -np.inf)
        for start in range(0, len(self.lost), _ENTRIES_AT_ONCE):
            some = slice(start, start + _ENTRIES_AT_ONCE)
            costly = np.argsort(-self.lost[some], kind="stable")
            llms, firsts = np.unique(self.llms[some][costly], return_index=True)
            entries = start + costly[firsts]
            is_more = self.lost[entries] > most[llms]
            found[llms[is_more]], most[llms[is_more]] = (
                entries[is_more],
                self.lost[entries[is_more]],
            )
        return found[found >= 0]


def list_charges(issues: Sequence[Issue]) -> tuple[Sequence[str], Iterator[Charges]]:
    """List what issues are charged with; of found ones no text is read.

    Returns:
        The model of each code; and the issues of each detector, by its first one. Of very many
        issues, those of all detectors at once fill memory.
    """
    if isinstance(issues, FoundIssues):
        return issues.charges()
    llms = TextCodes()
    more = [(issue, llms[issue.llm_id]) for issue in issues]
    return tuple(llms), _charge_others(_group_by_detector(more, 0))


_Others = dict[str, list[tuple[int, int, float]]]
"""Detector to place, model and lost score of issues that are not in columns."""


def _group_by_detector(more: Sequence[tuple[Issue, int]], first: int) -> _Others:
    found: _Others = {}
    for place, (issue, llm) in enumerate(more, first):
        found.setdefault(issue.detector_id, []).append((place, llm, issue.lost_score))
    return found


def _charge_others(others: _Others) -> Iterator[Charges]:
    import numpy as np

    for detector_id, of_detector in others.items():
        places, llms, lost = zip(*of_detector, strict=True)
        yield Charges(detector_id, np.array(places), np.array(llms, dtype=np.int32), np.array(lost))


def read_issues(issues: Sequence[Issue], places: Collection[int]) -> dict[int, Issue]:
    """Read the issues at some places; the texts of found ones at once."""
    ordered = sorted(places)
    if isinstance(issues, FoundIssues):
        return dict(zip(ordered, issues.read(ordered), strict=True))
    return {place: issues[place] for place in ordered}


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

    def charges(self) -> tuple[Sequence[str], Iterator[Charges]]:
        """List all of them; see `list_charges`."""
        llms = TextCodes()
        of_table = [llms[name] for name in self.table.trials.values["llm_id"]]
        more = [(issue, llms[issue.llm_id]) for issue in self._more]
        n_found = sum(len(each.entries) for each in self._found)
        return tuple(llms), self._charge(of_table, _group_by_detector(more, n_found))

    def _charge(self, of_table: Sequence[int], others: _Others) -> Iterator[Charges]:
        import numpy as np

        codes, start = np.array(of_table, dtype=np.int32), 0
        for each in self._found:
            end = start + len(each.entries)
            if end > start:
                llms = self._pick_llms(codes, each.entries)
                charges = Charges(each.detector_id, range(start, end), llms, each.lost)
                also = {each.detector_id: others.pop(each.detector_id, [])}
                for more in _charge_others({name: x for name, x in also.items() if x}):
                    joined = zip(charges[1:], more[1:], strict=True)
                    charges = Charges(each.detector_id, *map(np.concatenate, joined))
                yield charges
            start = end
        yield from _charge_others(others)

    def _pick_llms(
        self, codes: NDArray[np.int32], entries: NDArray[np.signedinteger[Any]]
    ) -> NDArray[np.int32]:
        """Look up the codes of models, some at a time: indices are copied on the way."""
        import numpy as np

        found, of_rows = np.empty(len(entries), np.int32), self.table.trials.columns["llm_id"]
        for start in range(0, len(entries), _ENTRIES_AT_ONCE):
            some = slice(start, start + _ENTRIES_AT_ONCE)
            found[some] = codes[of_rows[entries[some]]]
        return found

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
        if not (detector_id or llm_ids) and test_ids is None:
            return self
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
        evidence=found.tell(at if found.places is None else int(found.places[at]), trial),
        lost_score=float(found.lost[at]),
    )
