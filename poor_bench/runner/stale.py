"""Which stored scores are stale: asked or scored otherwise than the workspace would today."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from poor_bench.errors import PoorBenchError
from poor_bench.judge.response_judging import WorkspaceJudges
from poor_bench.models.result import Result
from poor_bench.results.figures import count_stale, find_scored_rows
from poor_bench.runner.plan import TrialState, find_scored_state
from poor_bench.runner.scorer import WorkspaceFingerprints
from poor_bench.statistics.summary import Group, StaleCounts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.results.table import ResultTable
    from poor_bench.workspace_folder import WorkspaceFolder

TrialKey = tuple[str, str, int]
"""LLM id, test id and number of a trial."""


class StaleCheck:
    """Compares the fingerprints of stored scores with those of the workspace.

    Scores of removed models and tests, and of older tools that stored no fingerprints, are not
    stale: nothing is known of them.
    """

    def __init__(self, config: WorkspaceFolder) -> None:
        """Read the workspace.

        Raises:
            ConfigError: With every problem of every file.
        """
        workspace = config.workspace
        judges = WorkspaceJudges(config.data_dir, workspace.llms)
        self._fingerprints = WorkspaceFingerprints(workspace, config.evaluators, judges)
        self._llms, self._tests = workspace.llms_by_id, workspace.tests_by_id

    def is_stale(self, llm_id: str, test_id: str, asked: str, scored: str) -> bool:
        """True if a score with these fingerprints of request and evaluator is stale."""
        llm, test = self._llms.get(llm_id), self._tests.get(test_id)
        if llm is None or test is None:
            return False
        try:
            state = find_scored_state(asked, scored, llm, test, self._fingerprints)
        except PoorBenchError:  # such as a judge that is gone: a run will tell
            return False
        return state is not TrialState.DONE

    def find(self, results: Iterable[Result]) -> Collection[TrialKey]:
        """Find the trials whose scores are stale."""
        return frozenset(
            result.key
            for result in results
            if result.score is not None
            and self.is_stale(
                result.llm_id,
                result.test_id,
                result.request_fingerprint,
                result.evaluator_fingerprint,
            )
        )

    def count(self, table: ResultTable) -> StaleCounts:
        """Count the stale scores of the models of the workspace, on each class and level.

        Raises:
            StoreError: If the index is damaged.
        """
        counts: dict[Group, int] = {}
        for llm_id in table.find_values("llm_id"):
            if llm_id in self._llms:  # of removed models nothing is known
                counts |= self.count_model(table, llm_id)
        return counts

    def count_model(self, table: ResultTable, llm_id: str) -> StaleCounts:
        """Count those of one model; tests that the workspace does not have are no part of `table`.

        Raises:
            StoreError: If the index is damaged.
        """
        rows, is_stale = self.find_rows(table, llm_id, find_scored_rows(table, llm_id))
        return count_stale(table, rows, is_stale, self._tests)

    def find_rows(
        self, table: ResultTable, llm_id: str, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Look at some scored rows of an LLM.

        Returns:
            Those of them that store a fingerprint, and for each of these whether it is stale.

        Raises:
            StoreError: If the index is damaged.
        """
        import numpy as np

        fetched = table.text_columns(rows, ["request_fingerprint", "evaluator_fingerprint"])
        test_ids = table.values["test_id"]
        codes = table.columns["test_id"][rows].tolist()
        known = [place for place, told in enumerate(fetched) if any(told)]
        found = [
            self.is_stale(llm_id, test_ids[codes[place]], asked or "", scored or "")
            for place in known
            for asked, scored in (fetched[place],)
        ]
        return rows[known], np.array(found, dtype=np.bool_)
