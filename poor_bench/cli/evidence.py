"""What `gate` and `compare` look at: results, baselines and scores of today's evaluators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from poor_bench.comparison.compare import LLMComparison, compare_result_sets
from poor_bench.comparison.compared_tests import MEASURED_CHANGES
from poor_bench.comparison.result_set import ResultSet
from poor_bench.config.names import find_ids
from poor_bench.gates.check import Evidence, count_untold
from poor_bench.gates.gate import Gate
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.resolver import NOW, ResultSetResolver
from poor_bench.results.figures import count_untold_rows, select_counted
from poor_bench.results.kept_figures import TableFigures
from poor_bench.runner.selection import Selection, select
from poor_bench.runner.stale import StaleCheck, TrialKey
from poor_bench.statistics.summary import GroupBy, StaleReason
from poor_bench.workspace_runner import WorkspaceRunner

if TYPE_CHECKING:
    from poor_bench.workspace_folder import WorkspaceFolder


def gather_evidence(
    config: WorkspaceFolder,
    selection: Selection,
    gates: Sequence[Gate],
    pass_score: float,
    *,
    n_trials: int | None = None,
) -> Evidence:
    """Gather results, baselines and stale counts of the chosen LLMs and tests.

    Args:
        config: The workspace.
        selection: Which LLMs and tests.
        gates: Name the baselines.
        pass_score: From which mean score on a test passes.
        n_trials: Of a sequential check: the first trials that count, without stale ones; None
            takes all results.

    Raises:
        ConfigError: If a filter matches nothing, or a baseline is nothing to compare with.
        StoreError: If results cannot be read.
    """
    chosen = select(config.workspace, selection)
    tests = {test.test_id: test for test in chosen.tests}
    known = Evidence(
        llms=chosen.llms,
        tests=tests,
        results={},
        named=find_ids(selection.llms, chosen.llms),
        pass_score=pass_score,
        is_sequential=n_trials is not None,
    )
    opener = ResultSetResolver(config)
    llm_ids = {llm.id for llm in chosen.llms}
    names = {gate.baseline for gate in gates if gate.baseline}
    baselines = {name: opener.resolve_baseline(name, llm_ids) for name in names}
    if n_trials is None and config.store.is_large():
        known = _add_columns(known, config)
        compared = {llm_id for baseline in baselines.values() for llm_id in baseline.by_llm()}
        flat = _read_compared(known, opener, compared) if compared else ()
    else:
        known, flat = _add_results(known, StaleCheck(config).find(opener.present), opener, n_trials)
    now = ResultSet(name=NOW, results=flat, runs=opener.run_facts() if names else {})
    comparisons = {
        name: _compare_baseline(baseline, now, tests, config, pass_score)
        for name, baseline in baselines.items()
    }
    return replace(known, comparisons=comparisons)


def _read_compared(
    known: Evidence, opener: ResultSetResolver, llm_ids: Collection[str]
) -> tuple[Result, ...]:
    """Read the stored results of the LLMs that are compared with a baseline."""
    of_llm = opener.open(NOW, llm_ids).by_llm()
    return tuple(
        result
        for llm in known.llms
        for result in of_llm.get(llm.id, ())
        if result.test_id in known.tests
    )


def _add_results(
    known: Evidence,
    stale: Mapping[TrialKey, StaleReason],
    opener: ResultSetResolver,
    n_trials: int | None,
) -> tuple[Evidence, tuple[Result, ...]]:
    """Add the stored results, and list them."""
    results: dict[str, list[Result]] = {llm.id: [] for llm in known.llms}
    for result in opener.present:
        counts = n_trials is None or (result.trial <= n_trials and result.key not in stale)
        if counts and result.llm_id in results and result.test_id in known.tests:
            results[result.llm_id].append(result)
    flat = tuple(result for of_llm in results.values() for result in of_llm)
    scored = [result for result in flat if result.score is not None]
    n_stale = Counter(result.llm_id for result in scored if result.key in stale)
    n_untold = count_untold(scored, known.tests)
    return replace(known, results=results, n_stale=n_stale, n_untold=n_untold), flat


def _add_columns(known: Evidence, config: WorkspaceFolder) -> Evidence:
    """Add the same of very many results, in columns."""
    llm_ids = {llm.id for llm in known.llms}
    table = select_counted(config.store.table(), known.tests, llm_ids)
    n_stale: Counter[str] = Counter()
    for group, reasons in StaleCheck(config).count(table).items():
        n_stale[group.llm_id] += reasons.total()
    figures = TableFigures(table, known.tests).summarise(GroupBy.LLM, known.pass_score)
    return replace(
        known,
        results=table.split_by_llm(),
        summaries={summary.group.llm_id: summary for summary in figures},
        n_stale=n_stale,
        n_untold=count_untold_rows(table, known.tests),
    )


def _compare_baseline(
    baseline: ResultSet,
    now: ResultSet,
    tests: Mapping[str, Test],
    config: WorkspaceFolder,
    pass_score: float,
) -> dict[str, LLMComparison]:
    """Compare each LLM with the baseline; tests that were not chosen are excluded."""
    known = config.workspace.tests_by_id
    kept = tuple(
        result
        for result in baseline.results
        if result.test_id in tests or result.test_id not in known
    )
    comparisons = compare_result_sets(
        replace(baseline, results=kept),
        now,
        tests=known,
        pass_score=pass_score,
        allowed=MEASURED_CHANGES,
    )
    return {comparison.llm_after: comparison for comparison in comparisons}


def rescore_result_set(side: ResultSet, config: WorkspaceFolder) -> ResultSet:
    """Score stored responses with today's evaluators, see `score_with_evaluators`."""
    from poor_bench.runner.rescore import score_with_evaluators

    runner = WorkspaceRunner(config)
    try:
        tests = config.workspace.tests
        results = score_with_evaluators(side.results, tests, runner.scorer)
        return replace(side, results=results, is_present=False)
    finally:
        runner.close()
