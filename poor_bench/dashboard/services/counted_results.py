"""The results that count: those of tests that stand in the workspace."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from poor_bench.statistics.scores import Coverage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poor_bench.dashboard.services.result_table import ResultTable
    from poor_bench.models.test import Test

_GENERATION = 1 << 40
"""Added to the versions of a table for each change of the tests, since rows may come and go."""


class CountedResults:
    """Leaves out the results of removed tests, once for each state of results and tests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tests: Mapping[str, Test] | None = None
        self._generation = 0
        self._whole_version = -1
        self._counted: ResultTable | None = None

    def table(self, whole: ResultTable, tests: Mapping[str, Test]) -> ResultTable:
        """Return the results of known tests; the whole table where there are no others."""
        with self._lock:
            if tests is not self._tests:
                self._tests = tests
                self._generation += 1
                self._counted = None
            if self._counted is None or whole.version != self._whole_version:
                self._whole_version = whole.version
                self._counted = _without_removed(whole, tests, self._generation * _GENERATION)
            return self._counted


def _without_removed(whole: ResultTable, tests: Mapping[str, Test], offset: int) -> ResultTable:
    import numpy as np

    gone = [code for code, test_id in enumerate(whole.values["test_id"]) if test_id not in tests]
    is_counted = ~np.isin(whole.codes["test_id"], gone)
    if is_counted.all():
        return whole
    return replace(
        whole,
        version=whole.version + offset,
        llm_versions={llm_id: each + offset for llm_id, each in whole.llm_versions.items()},
        numbers={name: column[is_counted] for name, column in whole.numbers.items()},
        codes={name: column[is_counted] for name, column in whole.codes.items()},
        integers={name: column[is_counted] for name, column in whole.integers.items()},
    )


def coverages_in(table: ResultTable) -> dict[str, Coverage]:
    """Return on how many of all scored tests each LLM was scored; see `coverages_of`."""
    import numpy as np

    is_scored = ~np.isnan(table.numbers["score"])
    pairs = np.stack([table.codes["llm_id"][is_scored], table.codes["test_id"][is_scored]])
    llms, tests = np.unique(pairs, axis=1)
    n_tests = np.bincount(llms, minlength=len(table.llm_ids)).tolist()
    n_all = len(np.unique(tests))
    return {
        llm_id: Coverage(n_tests=n, n_all=n_all)
        for llm_id, n in zip(table.llm_ids, n_tests, strict=True)
    }
