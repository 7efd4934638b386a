"""What the last run changed: its results against those before it."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from poor_bench.comparison.compare import LLMComparison, compare_result_sets
from poor_bench.comparison.result_set import llms_apart
from poor_bench.resolver import BEFORE, ResultSetResolver
from poor_bench.runs.history import LAST

if TYPE_CHECKING:
    from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch
    from poor_bench.workspace_folder import WorkspaceFolder

MOST_BYTES = 24_000_000
"""Size of all kept runs up to which they are compared without being asked to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    """The newest kept run, compared with what was known before it."""

    run_id: str
    comparisons: tuple[LLMComparison, ...]
    """One for each LLM that had results before."""
    new_llm_ids: tuple[str, ...] = ()
    """LLMs of the run without earlier results."""


class LastRunCache:
    """Compares once for each set of kept runs."""

    def __init__(self, files: WorkspaceWatch) -> None:
        self._files = files
        self._lock = threading.Lock()
        self._key: object = None
        self._last_run: LastRun | None = None

    def changes(self) -> LastRun | None:
        """Compare the last run with earlier ones; None without any, or if they are very large.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the runs cannot be read.
        """
        self._files.workspace()
        config = self._files.config()
        files = [(path.name, path.stat().st_size) for path in config.store.paths.runs()]
        key = (config.workspace.version, tuple(files))
        with self._lock:
            if key != self._key:
                is_small = sum(size for _, size in files) <= MOST_BYTES
                self._last_run = _compare(config) if len(files) > 1 and is_small else None
                self._key = key
            return self._last_run


def _compare(config: WorkspaceFolder) -> LastRun | None:
    opener = ResultSetResolver(config)
    after = opener.open(LAST)
    before = opener.open(f"{BEFORE}{LAST}")
    comparisons = compare_result_sets(before, after, tests=config.workspace.tests_by_id)
    _, new_llm_ids = llms_apart(before, after)
    if not comparisons and not new_llm_ids:
        return None
    return LastRun(
        run_id=opener.run_id(LAST),
        comparisons=tuple(comparisons),
        new_llm_ids=tuple(new_llm_ids),
    )
