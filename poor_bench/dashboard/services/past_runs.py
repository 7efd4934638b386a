"""What stored runs tell: the changes of the last one, and the scores of each model over all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from poor_bench.comparison.compare import LLMComparison, compare_result_sets
from poor_bench.comparison.result_set import find_unpaired_llms
from poor_bench.dashboard.services.computations import Computations, Computed, Kept
from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch
from poor_bench.resolver import BEFORE, ResultSetResolver
from poor_bench.runs.history import EARLIER, LAST, UNDO, StoredRun
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.summarise import summarise

if TYPE_CHECKING:
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
        self._last_run: Kept[LastRun | None] = Kept(1)

    def changes(self) -> LastRun | None:
        """Compare the last run with earlier ones; None without any, or if they are very large.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the runs cannot be read.
        """
        self._files.workspace()
        config = self._files.config()
        files = tuple((path.name, path.stat().st_size) for path in config.store.paths.runs())
        if len(files) < 2 or sum(size for _, size in files) > MOST_BYTES:
            return None
        return self._last_run.get((config.workspace.version, files), lambda: _compare(config))


def _compare(config: WorkspaceFolder) -> LastRun | None:
    opener = ResultSetResolver(config)
    after = opener.open(LAST)
    before = opener.open(f"{BEFORE}{LAST}")
    comparisons = compare_result_sets(before, after, tests=config.workspace.tests_by_id)
    _, new_llm_ids = find_unpaired_llms(before, after)
    if not comparisons and not new_llm_ids:
        return None
    return LastRun(
        run_id=opener.run_id(LAST),
        comparisons=tuple(comparisons),
        new_llm_ids=tuple(new_llm_ids),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunScore:
    """Score of one model in one run."""

    run_id: str
    started: str
    score: Estimate
    n_tests: int


Trends = dict[str, list[RunScore]]
"""Model to its scores, oldest run first."""


class ScoreTrends:
    """Computes the scores of runs in the background; kept until a run is added."""

    def __init__(self, files: WorkspaceWatch) -> None:
        self._files = files
        self._computations: Computations[Trends] = Computations(patience_s=0.1)

    def ask(self) -> Computed[Trends]:
        """Scores as far as they are known by now.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If a run cannot be read.
        """
        self._files.workspace()
        config = self._files.config()
        files = tuple((path.name, path.stat().st_size) for path in config.store.paths.runs())
        version = (config.workspace.version, files)
        return self._computations.ask("trends", version, lambda: _score_runs(config))


def _score_runs(config: WorkspaceFolder) -> Trends:
    resolver = ResultSetResolver(config)
    tests = config.workspace.tests_by_id
    trends: Trends = {}
    for run in newest_runs(resolver.stored_runs, MOST_BYTES):
        results = [each for each in resolver.read_results([run]) if each.test_id in tests]
        for summary in summarise(results, tests=tests):
            if summary.score is not None:
                found = RunScore(
                    run_id=run.run_id,
                    started=run.started,
                    score=summary.score,
                    n_tests=summary.n_tests,
                )
                trends.setdefault(summary.group.llm_id, []).append(found)
    return trends


def newest_runs(runs: Sequence[StoredRun], most_bytes: int) -> list[StoredRun]:
    """Choose the newest runs of tests that have at most so many bytes together, oldest first."""
    return list(reversed(list(_take(reversed(runs), most_bytes))))


def _take(runs: Iterator[StoredRun], most_bytes: int) -> Iterator[StoredRun]:
    n_bytes = 0
    for run in runs:
        n_bytes += run.path.stat().st_size
        if n_bytes > most_bytes:
            return
        if run.kind not in {EARLIER, UNDO}:
            yield run


def select_repeated(trends: Mapping[str, list[RunScore]], llm_ids: Sequence[str]) -> Trends:
    """Select the models that have scores in two runs or more."""
    return {name: trends[name] for name in llm_ids if len(trends.get(name, ())) > 1}
