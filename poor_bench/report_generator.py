"""Reports: from stored results to text in several formats."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poor_bench.models.result import Result
from poor_bench.runner.selection import Selection, select
from poor_bench.statistics.summary import FloorRow, GroupBy, StaleCounts, StaleReason, Summary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.comparison.compared_tests import Mismatch
    from poor_bench.issues.detector import IssueContext, IssueGroup
    from poor_bench.issues.form import FormatTax
    from poor_bench.reports.report_data import BaseComparison, ReportData
    from poor_bench.resolver import ResultSetResolver
    from poor_bench.results.kept_figures import KeptFile
    from poor_bench.results.stored_texts import StoredTexts
    from poor_bench.results.table import ResultTable
    from poor_bench.runner.stale import TrialKey
    from poor_bench.statistics.purchase import PurchaseBudget
    from poor_bench.workspace_folder import WorkspaceFolder

    Causes = tuple[list[IssueGroup], list[FormatTax]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """The chosen results, however they were read."""

    results: Sequence[Result]
    columns: ResultTable | None = None
    n_removed: int
    """Results of removed tests, not among them."""
    run_ids: Collection[str]
    stale: Mapping[TrialKey, StaleReason] | None = None
    stale_counts: StaleCounts | None = None
    stale_entries: NDArray[np.int64] | None = None


class ReportGenerator:
    """Renders the results of a selection of LLMs and tests."""

    def __init__(
        self,
        config: WorkspaceFolder,
        selection: Selection | None = None,
        *,
        base: str = "",
        allowed: frozenset[Mismatch] = frozenset(),
        pass_score: float = 1.0,
        reads_columns: bool = False,
        shows_uncertainty: bool = False,
        budget: PurchaseBudget | None = None,
    ) -> None:
        """Choose what the report is about.

        Args:
            config: The workspace.
            selection: LLMs and tests; all by default.
            base: What results are compared with, see `ResultSetResolver.open`; empty for nothing.
            allowed: Changes despite which tests are compared with the base.
            pass_score: From which score on a trial is passed, above 0 to 1.
            reads_columns: Whether many results are read as columns, for reports that show no
                texts; those that do would be slower.
            shows_uncertainty: Say where confidence intervals come from.
            budget: Say also what to buy next for this.

        Raises:
            ConfigError: If the workspace is not valid or a filter matches nothing.
            StoreError: If LLMs are chosen and the stored results cannot be read.
        """
        self._config = config
        self._filters_llms = bool(selection and selection.llms)
        stored = config.store.count_by_llm() if self._filters_llms else ()
        chosen = select(config.workspace, selection or Selection(), stored)
        self._llm_ids = {llm.id for llm in chosen.llms} | chosen.removed_llms
        self._tests = {test.test_id: test for test in chosen.tests}
        self._known_llms = config.workspace.llms_by_id
        self._base = base
        self._allowed = allowed
        self._pass_score = pass_score
        self._reads_columns = reads_columns
        self._shows_uncertainty = shows_uncertainty
        self._budget = budget
        self.names = {llm.id: llm.label or llm.id for llm in config.workspace.llms}

    @cached_property
    def _opener(self) -> ResultSetResolver:
        from poor_bench.resolver import ResultSetResolver

        return ResultSetResolver(self._config)

    def results(self) -> Iterator[Result]:
        """Yield the chosen results, failures included.

        Results of LLMs that are not in llms.json any more are shown unless others were chosen.

        Raises:
            StoreError: If the stored results cannot be read.
        """
        return (r for r in self._read_with_removed() if r.test_id in self._tests)

    def _read_with_removed(self) -> Iterator[Result]:
        """Yield the same, and the results of these LLMs that belong to removed tests."""
        known = self._config.workspace.tests_by_id
        for result in self._config.store.results():
            is_shown = result.test_id in self._tests or result.test_id not in known
            if is_shown and self._is_chosen(result.llm_id):
                yield result

    def summaries(self, by: str = "llm") -> list[Summary]:
        """Summarise per LLM, or per LLM and class or level; `by` is a `GroupBy`."""
        return self.data.summaries_by_appearance(GroupBy(by))

    @cached_property
    def data(self) -> ReportData:
        """Everything that a report says.

        Raises:
            ConfigError: If the base refers to nothing.
            StoreError: If results cannot be read.
        """
        from poor_bench.reports.report_data import ReportData
        from poor_bench.results.kept_figures import TableFigures

        read = self._read_table() if self._is_read_as_columns() else self._read()
        results = read.results
        runs = self._opener.run_facts()
        used = read.run_ids
        machines = [
            machine
            for run_id, facts in runs.items()
            if run_id in used
            for machine in facts.measured_on
        ]
        return ReportData(
            title=self._config.data_dir.resolve().name,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            results=results,
            tests=self._tests,
            read_context=self._read_context,
            llms=self._known_llms,
            base=self._compare(read) if self._base else None,
            columns=read.columns,
            open_texts=None if read.columns is None else partial(self._open_texts, read.columns),
            figures=None if read.columns is None else TableFigures(read.columns, self._tests),
            n_removed=read.n_removed,
            disabled_llms=() if results or self._filters_llms else self._find_disabled(),
            runs={run.run_id: run.header for run in self._opener.stored_runs},
            machines=machines,
            pass_score=self._pass_score,
            read_detectors=lambda: self._config.detectors,
            stale=read.stale,
            known_stale_counts=read.stale_counts,
            stale_entries=read.stale_entries,
            floor=self._read_floor(),
            shows_uncertainty=self._shows_uncertainty,
            budget=self._budget,
            settings_notes=self._read_notes(),
        )

    def _read_floor(self) -> Sequence[FloorRow]:
        cheats = self._config.load_cheats()
        if not cheats:
            return ()
        from poor_bench.lint.cheats import build_floor

        return build_floor(cheats, self._tests)

    def _read_notes(self) -> Mapping[str, Sequence[str]]:
        probes = self._config.load_current_probes()
        if not probes:
            return {}
        from poor_bench.probe.report import list_notes

        return list_notes(probes)

    def read_causes(self) -> Causes | None:
        """Read issues by cause and format taxes, where they are kept and still hold.

        Raises:
            StoreError: If results cannot be read.
        """
        from poor_bench.issues.detector import read_group
        from poor_bench.issues.form import FormatTax

        kept = self._causes.read() if self._is_read_as_columns() else None
        if kept is None:
            return None
        return [*map(read_group, kept["groups"])], [FormatTax(**row) for row in kept["taxes"]]

    def find_causes(self) -> Causes:
        """Work out the same, and keep it.

        Raises:
            ConfigError: If the base refers to nothing.
            StoreError: If results cannot be read.
        """
        groups, taxes = self.data.issue_groups, self.data.format_taxes
        if self._is_read_as_columns():
            self._causes.write({"groups": groups, "taxes": taxes})
        return groups, taxes

    @cached_property
    def _causes(self) -> KeptFile[dict[str, list[Any]]]:
        from poor_bench.results.kept_figures import KeptFile

        about = self._identify_causes()
        basis = self._counted.basis if about else None
        return KeptFile(basis, "causes", about)

    def _identify_causes(self) -> str:
        """Digest all that causes depend on.

        Empty where a base, or a user's detector has a part, which may look at whatever it likes.
        """
        from poor_bench.labels.storage import LABELS_FILE
        from poor_bench.results.text_columns import digest_code
        from poor_bench.runner.scorer import WorkspaceFingerprints

        folder, table = self._config.data_dir, self._counted
        if self._base or table.basis is None or any((folder / "issues").rglob("*.py")):
            return ""
        known = WorkspaceFingerprints(self._config.workspace, self._config.evaluators)
        evaluators = known.identify_evaluators()
        labels = folder / LABELS_FILE
        ratings = labels.read_bytes() if labels.exists() else b""
        rows = table.name_rows()
        about = repr((rows, [*self._tests], self._pass_score, evaluators, digest_code(), ratings))
        digest = blake2b(about.encode("utf-8", "surrogatepass"))
        return digest.hexdigest() if evaluators else ""

    def render(self, form: str, by: str = "llm") -> str:
        """Write the report as text.

        Args:
            form: One of `EXPORTS`; `csv` and `junit` have a row for every result.
            by: What a row of figures stands for, a `GroupBy`.

        Raises:
            ConfigError: If the base refers to nothing.
            StoreError: If results cannot be read.
            ValueError: If the form is unknown.
        """
        return "".join(self.render_pieces(form, by))

    def render_pieces(self, form: str, by: str = "llm") -> Iterable[str]:
        """Write the same in pieces, so that not all of a long table is in memory.

        Args:
            form: One of `EXPORTS`.
            by: What a row of figures stands for, a `GroupBy`.

        Raises:
            ConfigError: If the base refers to nothing.
            StoreError: If results cannot be read.
            ValueError: If the form is unknown.
        """
        from poor_bench.reports.exports import render_report

        return render_report(form, self.data, GroupBy(by))

    def write(self, path: Path, text: str | Iterable[str]) -> None:
        """Replace a file atomically.

        Args:
            path: The file.
            text: Its content, as a whole or in pieces.

        Raises:
            ConfigError: If it cannot be written; the old file stays.
        """
        from poor_bench.config.document import write_atomically

        write_atomically(path, text)

    def _find_disabled(self) -> list[str]:
        """List the disabled LLMs with results of the chosen tests, in the order of llms.json."""
        stored = self._config.store.columns()
        with_results = stored.pick(stored.find_entries("test_id", self._tests.__contains__))
        others = {*with_results.find_values("llm_id")} - self._llm_ids
        return [llm_id for llm_id in self._known_llms if llm_id in others]

    def _is_read_as_columns(self) -> bool:
        return self._reads_columns and self._config.store.is_large()

    def _read(self) -> _Read:
        """Read the chosen results, and count those of removed tests, in one pass."""
        from poor_bench.runner.stale import StaleCheck

        results: list[Result] = []
        n_removed = 0
        for result in self._read_with_removed():
            if result.test_id in self._tests:
                results.append(result)
            else:
                n_removed += 1
        return _Read(
            results=tuple(results),
            n_removed=n_removed,
            run_ids={result.run_id for result in results},
            stale=StaleCheck(self._config).find(results),
        )

    def _read_table(self) -> _Read:
        """Read the same from the index."""
        from poor_bench.results.table import StoredRows
        from poor_bench.runner.stale import StaleCheck

        known = self._config.workspace.tests_by_id
        table, counted = self._table, self._counted
        is_chosen = table.find_entries("llm_id", self._is_chosen)
        is_removed = table.find_entries("test_id", lambda test_id: test_id not in known)
        stale = StaleCheck(self._config).find_rows(counted)
        return _Read(
            results=StoredRows(counted),
            columns=counted,
            n_removed=int((is_chosen & is_removed).sum()),
            run_ids={*counted.find_values("run_id")},
            stale_counts=stale.counts,
            stale_entries=stale.rows,
        )

    @cached_property
    def _table(self) -> ResultTable:
        return self._config.store.table()

    @cached_property
    def _counted(self) -> ResultTable:
        from poor_bench.results.figures import select_counted

        chosen = filter(self._is_chosen, self._table.llm_ids)
        return select_counted(self._table, self._tests, set(chosen))

    def _open_texts(self, table: ResultTable) -> StoredTexts:
        from poor_bench.results.stored_texts import StoredTexts

        return StoredTexts(
            paths=self._config.store.paths,
            table=table,
            read_facts=lambda: self._read_context().facts,
            detectors=self._config.detectors,
        )

    def _read_context(self) -> IssueContext:
        return self._config.issue_context

    def _is_chosen(self, llm_id: str) -> bool:
        return llm_id in self._llm_ids or (
            not self._filters_llms and llm_id not in self._known_llms
        )

    def _compare(self, read: _Read) -> BaseComparison:
        """Compare the chosen results with the base; tests that were not chosen are left out.

        Results in columns are read for the models that both have.
        """
        from poor_bench.comparison.compare import compare_result_sets
        from poor_bench.comparison.result_set import ResultSet
        from poor_bench.reports.report_data import BaseComparison
        from poor_bench.resolver import NOW

        known = self._config.workspace.tests_by_id
        table, is_whole = read.columns, len(self._tests) == len(known)
        llm_ids = table.find_values("llm_id") if table is not None else ()
        before = self._opener.resolve_baseline(self._base, llm_ids if table and is_whole else None)
        kept = tuple(
            r for r in before.results if r.test_id in self._tests or r.test_id not in known
        )
        before = replace(before, results=kept)
        results: Iterable[Result] = read.results
        unread: tuple[str, ...] = ()
        if table is not None:
            in_both = before.by_llm()
            results = table.whole(table.find_entries("llm_id", in_both.__contains__).nonzero()[0])
            unread = tuple(llm_id for llm_id in llm_ids if llm_id not in in_both)
        after = ResultSet(
            name=NOW, results=tuple(results), unread_llms=unread, runs=self._opener.run_facts()
        )
        compared = compare_result_sets(
            before, after, tests=known, pass_score=self._pass_score, allowed=self._allowed
        )
        return BaseComparison(before, after, compared)
