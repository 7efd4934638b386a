"""One side of a comparison, its stored responses scored by today's evaluators."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poor_bench.runner.rescore import rescore, to_rescore
from poor_bench.workspace_runner import WorkspaceRunner

if TYPE_CHECKING:
    from poor_bench.comparison.result_set import ResultSet
    from poor_bench.workspace_folder import WorkspaceFolder


def rescored_side(side: ResultSet, config: WorkspaceFolder) -> ResultSet:
    """Return a side with the scores that today's evaluators give; nothing is stored or asked.

    Results without a response, of tests that are gone or judged by an LLM, or that cannot be scored
    stay as they are.
    """
    runner = WorkspaceRunner(config)
    try:
        tests = {
            test.test_id: test
            for test in config.workspace.tests
            if not runner.scorer.is_judged(test)
        }
        items = to_rescore(side.results, lambda result: tests.get(result.test_id), runner.scorer)
        rescored = rescore(items, runner.scorer)
        newer = {item.old.key: item.new for item in rescored if item.new is not None}
    finally:
        runner.close()
    return replace(side, results=tuple(newer.get(r.key, r) for r in side.results))
