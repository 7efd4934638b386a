"""Cache of the issues of each model, by version of its results."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from poor_bench.dashboard.services.result_table import ResultTable
from poor_bench.issues.detect import detect_issues
from poor_bench.issues.detector import Background, Issue, background_of
from poor_bench.models.result import record_to_result

if TYPE_CHECKING:
    from poor_bench.config.workspace import Workspace
    from poor_bench.workspace_folder import WorkspaceFolder


class IssueCache:
    """Caches the issues of each requested model."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._workspace: Workspace | None = None
        self._background = Background()
        self._issues: dict[str, tuple[int, tuple[Issue, ...]]] = {}

    def issues(self, table: ResultTable, folder: WorkspaceFolder, llm_id: str) -> tuple[Issue, ...]:
        """Find the issues in the results of an LLM.

        Raises:
            ConfigError: If the workspace is not valid.
        """
        workspace = folder.workspace
        version = table.llm_versions.get(llm_id)
        if version is None:
            return ()
        with self._lock:
            if workspace is not self._workspace:
                self._workspace = workspace
                self._background = background_of(
                    workspace.tests_by_id, workspace.test_classes, workspace.llms_by_id
                )
                self._issues.clear()
            kept = self._issues.get(llm_id)
            if kept is not None and kept[0] == version:
                return kept[1]
            records = table.records(table.rows_of(llm_id))
            results = (record_to_result(record["llm_id"], record) for record in records)
            issues = tuple(detect_issues(results, self._background, detectors=folder.detectors))
            self._issues[llm_id] = (version, issues)
            return issues
