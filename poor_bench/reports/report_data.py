"""Data of a report; each figure is computed when it is first needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

from poor_bench.metrics.trust import write_missing
from poor_bench.models.llm import LLM
from poor_bench.models.result import WEAK_SANDBOXES, Result, keep_one_per_trial
from poor_bench.models.test import Test
from poor_bench.statistics.comparison import Comparison, Standing, compare_llms, find_standing
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.outcomes import identify_model
from poor_bench.statistics.ranking import Coverage, Ranking, rank_llms
from poor_bench.statistics.repeats import Reliability, estimate_reliability, find_usual_trials
from poor_bench.statistics.scores import build_score_table, compute_stratified_scores
from poor_bench.statistics.short_form import has_short_form, predict_short_forms
from poor_bench.statistics.summarise import summarise
from poor_bench.statistics.summary import (
    FloorRow,
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
from poor_bench.statistics.trials import TrialColumns, collect_columns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.comparison.compare import LLMComparison
    from poor_bench.comparison.result_set import ResultSet
    from poor_bench.issues.detector import Detector, IssueContext, IssueGroup, TrialTable
    from poor_bench.issues.form import FormatTax
    from poor_bench.issues.found_issues import FoundIssues
    from poor_bench.reports.uncertainty import Uncertainty
    from poor_bench.statistics.purchase import PurchaseBudget


class BaseComparison(NamedTuple):
    """Baseline of a report, and the comparison with it."""

    before: ResultSet
    after: ResultSet
    llms: Sequence[LLMComparison]

    def of_llm(self, llm_id: str) -> LLMComparison | None:
        """Find the comparison of an LLM; None if the baseline does not have it."""
        return next((item for item in self.llms if item.llm_after == llm_id), None)


class TextFindings(Protocol):
    """What the texts of stored results tell, without all of them in memory."""

    def follow(self, on_read: Callable[[int], None]) -> None:
        """Call a function with the number of results read so far, now and then."""

    def look(self) -> TrialTable:
        """Let the detectors look at each result."""

    def find_suspicious_tests(
        self, tests: Mapping[str, Test], pass_score: float
    ) -> Mapping[str, str]:
        """Find tests that may be at fault, with the reasons."""

    def read_judged(self) -> Iterable[Result]:
        """Read scores and judgements of the results; their other fields are at their defaults."""


class StoredFigures(Protocol):
    """Figures of stored results, without those that are known computed again."""

    def summarise(self, by: GroupBy, pass_score: float) -> list[Summary]:
        """Summarise each group."""

    def compare(self) -> Comparison:
        """Compare all models in pairs."""

    def find_standing(self) -> Standing:
        """Find ranks and tie groups of all models."""

    def rank(self) -> Ranking:
        """Rank all models."""


@dataclass(frozen=True, kw_only=True)
class ReportData:
    """The results of a report and what is needed to understand them."""

    title: str
    created: str
    """ISO 8601."""
    results: Sequence[Result]
    tests: Mapping[str, Test]
    """By id, in the order of their file."""
    llms: Mapping[str, LLM] = field(default_factory=dict)
    base: BaseComparison | None = None
    runs: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Run id to the header of the run."""
    machines: Sequence[Mapping[str, object]] = ()
    """Facts of the machines that times were measured on, where they are known."""
    pass_score: float = 1.0
    n_removed: int = 0
    """Results of tests that are not in the workspace any more; they are not among `results`."""
    disabled_llms: Sequence[str] = ()
    """Without results: ids of the disabled LLMs that have some of these tests."""
    read_context: Callable[[], IssueContext] | None = None
    """Gives facts about tests and models that detectors need; most reports do not."""
    read_detectors: Callable[[], Sequence[Detector]] | None = None
    """Gives the detectors of the workspace; None for the built-in ones."""
    columns: TrialColumns | None = None
    """The same results, where they were read as columns: `results` are read when first needed."""
    open_texts: Callable[[], TextFindings] | None = None
    """Opens what was worked out from their texts before, where they were read as columns."""
    figures: StoredFigures | None = None
    """Their figures, where they were read as columns."""
    stale: Mapping[tuple[str, str, int], StaleReason] | None = None
    """Key of each trial with a stale score to what changed since; None if not known."""
    known_stale_counts: StaleCounts | None = None
    """What `stale` would give, where results were read as columns; None to count them."""
    stale_entries: NDArray[np.int64] | None = None
    """The same as entries of `columns`."""
    dropped: Mapping[str, str] = field(default_factory=dict)
    """LLM id to why it left a race early: it has figures and issues, but no rank."""
    floor: Sequence[FloorRow] = ()
    """What answers score that need no model, the best first; empty if that was not measured."""
    shows_uncertainty: bool = False
    """True if sentences say where confidence intervals come from."""
    budget: PurchaseBudget | None = None
    """What may be spent on narrower intervals; None to leave purchases out."""
    settings_notes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """LLM id to what a probe found of its settings, such as `seed ignored`."""

    def name(self, llm_id: str) -> str:
        """Name an LLM as screens show it."""
        llm = self.llms.get(llm_id)
        return llm.label or llm.id if llm else llm_id

    def summaries(self, by: GroupBy = GroupBy.LLM) -> list[Summary]:
        """Summarise each group in the order of `Ranking`."""
        if by not in self._summaries:
            self._summaries[by] = self.order.sort(self.summaries_by_appearance(by))
        return self._summaries[by]

    def summaries_by_appearance(self, by: GroupBy = GroupBy.LLM) -> list[Summary]:
        """Summarise each group, in the order in which the groups first appear."""
        rows = self._summarise(by)
        rows = add_coverage(self.order.adjust(rows), self._test_counts, self.llms)
        return rows if self._stale_counts is None else add_stale_counts(rows, self._stale_counts)

    def _summarise(self, by: GroupBy) -> list[Summary]:
        if self.figures is not None:
            return self.figures.summarise(by, self.pass_score)
        return summarise(self._trials, tests=self.tests, by=by, pass_score=self.pass_score)

    @cached_property
    def _test_counts(self) -> TestCounts:
        return count_tests(self.tests, find_scored_tests(self._trials))

    @cached_property
    def _trials(self) -> TrialColumns:
        return collect_columns(self.results) if self.columns is None else self.columns

    @cached_property
    def _summaries(self) -> dict[GroupBy, list[Summary]]:
        return {}

    @property
    def n_stale(self) -> int | None:
        """Scored trials whose prompt, parameters or evaluator changed since; None if not known."""
        counts = self._stale_counts
        return sum(found.total() for found in counts.values()) if counts else None

    @cached_property
    def _stale_counts(self) -> StaleCounts | None:
        if self.stale is None:
            return self.known_stale_counts
        counts: dict[Group, Counter[StaleReason]] = {}
        for result in self.results:
            is_known = result.request_fingerprint or result.evaluator_fingerprint
            if is_known and result.score is not None and result.llm_id in self.llms:
                test = self.tests[result.test_id]
                group = Group(llm_id=result.llm_id, class_id=test.class_id, level=test.level)
                found = counts.setdefault(group, Counter())
                if (reason := self.stale.get(result.key)) is not None:
                    found[reason] += 1
        return counts

    @cached_property
    def order(self) -> Ranking:
        """Order of the LLMs by score, adjusted where they were scored on other tests."""
        if self.figures is not None and not self.dropped:
            return self.figures.rank()
        ranking = rank_llms(self._trials, self.dropped)
        if not has_short_form(self.tests):
            return ranking
        models = {result.llm_id: identify_model(result) for result in self.results}
        predicted = predict_short_forms(build_score_table(self._trials), self.tests, models)
        return replace(ranking, predicted=predicted)

    @property
    def coverage(self) -> Mapping[str, Coverage]:
        """LLM id to the share of the tests that it was scored on."""
        return self.order.coverage

    def is_comparable(self, llm_id: str) -> bool:
        """True if an LLM was scored on enough of the tests, and not dropped, so that it ranks."""
        return self.order.is_comparable(llm_id) and llm_id not in self.dropped

    def warning(self, llm_id: str) -> str:
        """Warn beside the score of an LLM that misses tests or was dropped; empty for others."""
        if llm_id in self.dropped:
            return self.dropped[llm_id]
        return self.coverage[llm_id].text if llm_id in self.coverage else ""

    def write_missing(self, row: Summary) -> str:
        """Write what a row of any grouping lacks, as `poor_bench.metrics.trust.write_missing`."""
        is_whole = row.group.class_id is None and row.group.level is None
        return write_missing(row, self.warning(row.group.llm_id) if is_whole else "")

    @cached_property
    def compared(self) -> Comparison:
        """All pairs of LLMs."""
        if self.figures is not None:
            return self.figures.compare()
        return compare_llms(self._trials, groups=self._groups)

    @cached_property
    def standing(self) -> Standing:
        """Ranks as ranges and tie groups of all LLMs: of very many results, quicker than pairs."""
        if "compared" in vars(self):
            return self.compared
        if self.figures is not None:
            return self.figures.find_standing()
        return find_standing(self._trials, groups=self._groups)

    @cached_property
    def ranking(self) -> Standing:
        """`standing` of the LLMs that are comparable: what may name one of them best."""
        if all(map(self.is_comparable, self.coverage)):
            return self.standing
        comparable = self._trials.find_entries("llm_id", self.is_comparable)
        return find_standing(self._trials.pick(comparable), groups=self._groups)

    @cached_property
    def stored(self) -> TextFindings | None:
        """What was worked out from their texts before, where they were read as columns."""
        return self.open_texts and self.open_texts()

    @cached_property
    def uncertainties(self) -> list[Uncertainty]:
        """Sources of the intervals of scores, and of the difference where there are two LLMs."""
        from poor_bench.reports.uncertainty import list_uncertainties

        estimates: dict[tuple[str, ...], Estimate] = {
            (row.group.llm_id,): row.score for row in self.summaries() if row.score is not None
        }
        if len(estimates) == 2:
            pairs = self.compared.pairs
            estimates |= {(pair.llm_a, pair.llm_b): pair.difference for pair in pairs}
        judged = self.stored.read_judged() if self.stored else None
        return list_uncertainties(estimates, self.results, self._groups, self.budget, judged)

    @property
    def _groups(self) -> dict[str, str | None]:
        return {test.test_id: test.group for test in self.tests.values()}

    @cached_property
    def places(self) -> dict[str, int]:
        """LLM id to its place, from 0."""
        return {llm_id: place for place, llm_id in enumerate(self.order.llm_ids)}

    @cached_property
    def run_ids(self) -> frozenset[str]:
        """Ids of the runs that the results are from."""
        return frozenset(self._trials.find_values("run_id"))

    @cached_property
    def class_ids(self) -> list[str]:
        """Ids of the classes with results, in the order of the tests."""
        used = {*self._trials.find_values("test_id")}
        return list(dict.fromkeys(t.class_id for t in self.tests.values() if t.test_id in used))

    @cached_property
    def detectors(self) -> Sequence[Detector]:
        """Built-in detectors of issues, and those of the workspace."""
        from poor_bench.issues.detect import DETECTORS

        return self.read_detectors() if self.read_detectors else DETECTORS

    @cached_property
    def _context(self) -> IssueContext:
        from poor_bench.issues.detector import IssueContext

        return self.read_context() if self.read_context else IssueContext()

    @cached_property
    def issues(self) -> FoundIssues:
        """Issues by trial."""
        from poor_bench.issues.detect import find_issues

        context = replace(
            self._context,
            suspicious_tests=self._find_suspicious_tests(),
            previous_scores=self._previous_scores,
            pass_score=self.pass_score,
        )
        return find_issues(self._looked, context, self.detectors)

    @cached_property
    def _looked(self) -> TrialTable:
        from poor_bench.issues.detect import collect_trials

        if self.stored is not None:
            return self.stored.look()
        return collect_trials(self.results, self._context.facts, self.detectors)

    def _find_suspicious_tests(self) -> Mapping[str, str]:
        if self.stored is not None:
            return self.stored.find_suspicious_tests(self.tests, self.pass_score)
        from poor_bench.statistics.items import analyse_items

        items = analyse_items(self.results, self.tests, pass_score=self.pass_score)
        return {item.test_id: item.suspicion for item in items if item.suspicion}

    @cached_property
    def issue_groups(self) -> list[IssueGroup]:
        """Issues by cause, the most costly first."""
        from poor_bench.issues.detect import group_issues

        return group_issues(self.issues, detectors=self.detectors)

    @cached_property
    def format_taxes(self) -> list[FormatTax]:
        """Score lost to format alone, by LLM and class; only where it is above 0."""
        from poor_bench.issues.form import compute_format_taxes

        return [row for row in compute_format_taxes(self._looked) if row.tax > 1e-9]

    @cached_property
    def reliabilities(self) -> list[Reliability]:
        """Reliability of each LLM; empty if no test has several trials."""
        k = find_usual_trials(self._trials)
        if not k:
            return []
        return estimate_reliability(self._trials, k=k, pass_score=self.pass_score, tests=self.tests)

    def estimate_stratified(self, *, classes_weigh_alike: bool) -> dict[str, Estimate]:
        """Compute scores by LLM id with test classes as strata, see `compute_stratified_scores`."""
        return compute_stratified_scores(
            self._trials, self.tests, classes_weigh_alike=classes_weigh_alike
        )

    @cached_property
    def trials(self) -> list[Result]:
        """One result per trial: its score, or its failure where it has none."""
        return keep_one_per_trial(self.results)

    @cached_property
    def failures(self) -> list[Result]:
        """Trials without a score that failed to run."""
        return [result for result in self.trials if result.failure is not None]

    @property
    def n_scored(self) -> int:
        """Trials that have a score."""
        return sum(row.n_scored for row in self.summaries())

    @property
    def n_failed(self) -> int:
        """Trials without a score that failed to run: the length of `failures`."""
        return sum(row.n_failed for row in self.summaries())

    @cached_property
    def weak_sandboxes(self) -> Mapping[str, int]:
        """Sandbox level that does not isolate code to the number of scores at that level."""
        weak = self._trials.pick(self._trials.find_entries("sandbox", WEAK_SANDBOXES.__contains__))
        return weak.count_values("sandbox")

    @property
    def _previous_scores(self) -> dict[tuple[str, str], float]:
        return {
            (item.llm_after, test.test_id): test.before
            for item in (self.base.llms if self.base else ())
            for test in item.tests
            if test.before is not None and test.is_comparable(item.allowed)
        }
