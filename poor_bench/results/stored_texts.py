"""What the texts of stored results tell: issues and suspicious tests, worked out once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from poor_bench.issues.detector import TrialTable
from poor_bench.issues.single_trials import build_reader
from poor_bench.results.item_analysis import read_item_analysis
from poor_bench.results.text_columns import read_text_columns
from poor_bench.statistics.trials import find_newer_failures

if TYPE_CHECKING:
    from poor_bench.issues.detector import Detector, TestFacts
    from poor_bench.models.test import Test
    from poor_bench.results.paths import StorePaths
    from poor_bench.results.table import ResultTable


def _tell_nobody(_: int) -> None:
    """Show no progress."""


@dataclass(kw_only=True)
class StoredTexts:
    """Reads texts of results that are new, and what was kept of the others."""

    paths: StorePaths
    table: ResultTable
    facts: Mapping[str, TestFacts]
    detectors: Sequence[Detector]
    _on_read: Callable[[int], None] = field(default_factory=lambda: _tell_nobody, init=False)

    def follow(self, on_read: Callable[[int], None]) -> None:
        """Call a function with the number of results read so far, now and then."""
        self._on_read = on_read

    def look(self) -> TrialTable:
        """Let the detectors look at each result; newer failures of scored trials are left out.

        Raises:
            StoreError: If the index is damaged.
        """
        table = self.table.select(~find_newer_failures(self.table))
        reader = build_reader(self.facts, self.detectors)
        return TrialTable(
            trials=table,
            texts=read_text_columns(table, reader, self._on_read),
            facts=self.facts,
            read=lambda entries: table.whole(entries, reader.texts, reader.fields),
        )

    def find_suspicious_tests(
        self, tests: Mapping[str, Test], pass_score: float = 1.0
    ) -> Mapping[str, str]:
        """Find tests that may be at fault, with the reasons.

        Raises:
            StoreError: If the index is damaged.
        """
        analysis = read_item_analysis(
            self.paths, self.table, tests, pass_score=pass_score, on_read=self._on_read
        )
        return analysis.suspicions
