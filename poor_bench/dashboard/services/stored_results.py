"""The stored results of a workspace, and every figure that pages show of them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poor_bench.dashboard.services.computations import Computations, Computed, Kept
from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch, look_once
from poor_bench.errors import ConfigError
from poor_bench.metrics.trust import TrustNote, list_trial_notes
from poor_bench.models.failure import FailureKind
from poor_bench.models.test import Test
from poor_bench.results.figures import (
    compute_reliability,
    group_failures,
    without_removed,
)
from poor_bench.results.kept_figures import rank_models, summarise_models
from poor_bench.results.table import ResultTable
from poor_bench.runner.stale import StaleCheck
from poor_bench.runner.trial_states import TrialName
from poor_bench.statistics.ranking import Ranking
from poor_bench.statistics.repeats import Reliability
from poor_bench.statistics.summary import (
    Group,
    GroupBy,
    StaleCounts,
    StaleReason,
    Summary,
    TestCounts,
    add_coverage,
    add_stale_counts,
    count_tests,
    find_scored_tests,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from poor_bench.workspace_folder import WorkspaceFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureGroup:
    """Failures of one LLM for one reason."""

    llm_id: str
    kind: FailureKind
    message: str
    """Of the first of them."""
    trials: tuple[TrialName, ...]
    has_score: bool = False
    """True if these are newer attempts at trials that have a score."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _StaleScores:
    """Stale scores of one LLM."""

    counts: StaleCounts
    places: NDArray[np.int64]


class _Summarised(NamedTuple):
    """Rows of one LLM, and what they were computed of."""

    version: int
    tests: Mapping[str, Test]
    rows: list[Summary]


_PATIENCE_S = 0.1
NOTED_TEXTS = (
    "request_fingerprint", "evaluator_fingerprint", "prompt", "system_prompt", "failure_message",
    "attempts",
)  # fmt: skip
"""Texts that the notes of a trial rest on."""


class StoredResults:
    """Results as they are in the files now; shared by all browsers.

    Its methods raise ConfigError or StoreError where workspace or results cannot be read.
    """

    def __init__(self, files: WorkspaceWatch) -> None:
        self._files = files
        self._lock = threading.Lock()
        self._tests: Mapping[str, Test] | None = None
        self._enabled: Kept[Mapping[str, Test]] = Kept(1)
        self._n_changes = 0
        self._counted: tuple[int, ResultTable] | None = None
        self._ranking: Kept[Ranking] = Kept(1)
        self._removed: Kept[int] = Kept(1)
        self._test_counts: Kept[TestCounts] = Kept(1)
        self._summaries: dict[tuple[str, GroupBy], _Summarised] = {}
        # One for each: the first page does not wait for what others show.
        self._summarising = {by: threading.Lock() for by in GroupBy}
        self._stale_of: dict[str, tuple[object, _StaleScores]] = {}
        self._stale: Computations[StaleCounts] = Computations(patience_s=_PATIENCE_S)

    @property
    def is_known(self) -> bool:
        """True once figures were computed, so that those of a page come at once."""
        return bool(self._summaries)

    def table(self) -> ResultTable:
        """Results of the enabled tests in the workspace: those that count."""
        stored, tests = self.read_stored(), self.enabled_tests()
        with self._lock:
            self._note(tests)
            if self._counted is None or self._counted[0] != stored.version:
                counted = without_removed(stored, tests, generation=self._n_changes)
                self._counted = stored.version, counted
            return self._counted[1]

    def enabled_tests(self) -> Mapping[str, Test]:
        """Tests by id, the same mapping until the files change."""
        workspace = self._files.workspace()
        return self._enabled.get(
            workspace.version, lambda: {test.test_id: test for test in workspace.enabled_tests}
        )

    def read_stored(self) -> ResultTable:
        """All stored results, also those of removed and disabled tests, which count nowhere."""
        return look_once(self, lambda: self._files.store().table())

    def n_removed(self) -> int:
        """Count the results of removed tests."""
        workspace, stored = self._files.workspace(), self.read_stored()
        return self._removed.get(
            (stored.version, workspace.version),
            lambda: int(
                (~stored.find_entries("test_id", workspace.tests_by_id.__contains__)).sum()
            ),
        )

    def ranking(self) -> Ranking:
        """Rank all LLMs with results."""
        table, tests = self.table(), self.enabled_tests()
        return self._ranking.get(table.version, lambda: rank_models(table, tests))

    def summaries(self, by: GroupBy, llm_ids: Sequence[str] | None = None) -> list[Summary]:
        """Summarise some LLMs, or all that have results."""
        table, tests = self.table(), self.enabled_tests()
        wanted = table.llm_ids if llm_ids is None else llm_ids
        with self._summarising[by]:
            found = self._of_llms(table, tests, [x for x in wanted if x in table.llm_versions], by)
        stale = self.stale()  # afterwards: both at once take the first page longer
        covered = self.add_coverage(found, self._files.workspace().llms_by_id)
        return covered if stale.value is None else add_stale_counts(covered, stale.value)

    def add_coverage(self, rows: Sequence[Summary], runnable: Collection[str]) -> list[Summary]:
        """Add to rows how many tests there are, see `statistics.summary.add_coverage`."""
        table, tests = self.table(), self.enabled_tests()
        counts = self._test_counts.get(
            table.version, lambda: count_tests(tests, find_scored_tests(table))
        )
        return add_coverage(rows, counts, runnable)

    def stale(self) -> Computed[StaleCounts]:
        """Count the stale scores of each LLM, class and level, as far as they are known by now."""
        table, folder = self.table(), self._files.config()
        workspace = folder.workspace
        version = (table.version, workspace.version)
        return self._stale.ask("stale", version, lambda: self._count_stale(table, folder))

    def _count_stale(self, table: ResultTable, folder: WorkspaceFolder) -> StaleCounts:
        """Count anew what is not known; runs in one thread at a time."""
        known = folder.workspace.llms_by_id  # of removed models nothing is known
        llm_ids = [name for name in table.llm_ids if name in known and name in table.llm_versions]
        counts: dict[Group, Counter[StaleReason]] = {}
        for found in self._stale_scores(table, folder, llm_ids):
            counts |= found.counts
        return counts

    def _stale_scores(
        self, table: ResultTable, folder: WorkspaceFolder, llm_ids: Sequence[str]
    ) -> list[_StaleScores]:
        """Find the stale scores of some LLMs; those with new results in one pass."""
        version = folder.workspace.version
        wanted = {llm_id: (table.llm_versions.get(llm_id), version) for llm_id in llm_ids}
        found = {llm_id: self._stale_of.get(llm_id) for llm_id in llm_ids}
        outdated = {
            llm_id for llm_id, known in found.items() if known is None or known[0] != wanted[llm_id]
        }
        if outdated:
            stale, counts = StaleCheck(folder).find_rows(table, outdated)
            llms = table.columns["llm_id"][stale]
        for llm_id in outdated:
            own = stale[llms == table.find_code("llm_id", llm_id)]
            scores = _StaleScores(
                counts={group: n for group, n in counts.items() if group.llm_id == llm_id},
                places=table.columns["place"][own],
            )
            found[llm_id] = self._stale_of[llm_id] = wanted[llm_id], scores
        return [known[1] for known in found.values() if known is not None]

    def stale_places(self, llm_id: str) -> NDArray[np.int64]:
        """Find the column `place` of the stale scores of an LLM; of a removed one none is known."""
        folder = self._files.config()
        [found] = self._stale_scores(self.table(), folder, [llm_id])
        return found.places

    def check_stale(self) -> StaleCheck:
        """Compare stored fingerprints with those of the workspace as it stands."""
        return StaleCheck(self._files.config())

    def trial_notes(self, table: ResultTable, rows: Sequence[int]) -> list[tuple[TrustNote, ...]]:
        """List what lessens the trust in each of some results, such as those of one page."""
        check = self.check_stale()
        results = table.whole(rows, NOTED_TEXTS)
        return [list_trial_notes(each.failure, check.find_reason(each)) for each in results]

    def reliability(self, llm_id: str) -> Reliability | None:
        """Measure reliability over repeated trials; None if no test was repeated."""
        return compute_reliability(self.table(), llm_id, self._files.workspace().tests_by_id)

    def failures(self) -> list[FailureGroup]:
        """Group the failed trials, then newer failed attempts at scored ones, by LLM and reason."""
        table = self.table()
        groups = group_failures(table)
        messages = table.text_columns([rows[0] for rows in groups.values()], ["failure_message"])
        return [
            FailureGroup(
                llm_id=group.llm_id,
                kind=group.kind,
                message=message or "",
                trials=tuple(
                    TrialName(group.llm_id, key.test_id, key.trial) for key in map(table.key, rows)
                ),
                has_score=group.has_score,
            )
            for (group, rows), (message,) in zip(groups.items(), messages, strict=True)
        ]

    def forget(self) -> None:
        """Read everything again when it is next asked for."""
        with suppress(ConfigError):  # a workspace with errors has no open store
            self._files.store().forget()

    def _note(self, tests: Mapping[str, Test]) -> None:
        """Forget what was computed with other tests."""
        if tests is not self._tests:
            self._tests = tests
            self._n_changes += 1
            self._counted = None
            self._summaries.clear()

    def _of_llms(
        self, table: ResultTable, tests: Mapping[str, Test], llm_ids: Sequence[str], by: GroupBy
    ) -> list[Summary]:
        """Summarise some LLMs; those with new results in one pass."""
        versions = table.llm_versions
        found = {llm_id: self._summaries.get((llm_id, by)) for llm_id in llm_ids}
        known = {
            llm_id: each.rows
            for llm_id, each in found.items()
            if each and each.version == versions[llm_id] and each.tests is tests
        }
        if outdated := found.keys() - known.keys():
            known |= summarise_models(table, outdated, tests=tests, by=by)
            for llm_id in outdated:
                self._summaries[llm_id, by] = _Summarised(versions[llm_id], tests, known[llm_id])
        return [summary for llm_id in llm_ids for summary in known[llm_id]]
