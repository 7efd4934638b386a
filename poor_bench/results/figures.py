"""Figures of one model or all, over the columns of a table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from poor_bench.processes import return_memory
from poor_bench.results.text_columns import SHARED_FROM, read_text_columns
from poor_bench.statistics.outcomes import OUTCOME_READER, Outcomes, build_outcomes
from poor_bench.statistics.ranking import Ranking, rank_llms
from poor_bench.statistics.repeats import Reliability, estimate_reliability, find_usual_trials
from poor_bench.statistics.scores import build_score_table
from poor_bench.statistics.short_form import has_short_form, predict_short_forms
from poor_bench.statistics.summarise import summarise
from poor_bench.statistics.summary import Group, GroupBy, StaleReason
from poor_bench.statistics.trials import TrialColumns, find_newer_failures

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.models.failure import FailureKind
    from poor_bench.models.test import Test
    from poor_bench.results.query import FoundTrials
    from poor_bench.results.table import ResultTable
    from poor_bench.statistics.summary import StaleCounts, Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """Means over scored trials; None if no trial has the figure."""

    seconds: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


_UNKNOWN = Means()
_AVERAGED = ("execution_time_ms", "prompt_tokens", "completion_tokens")
_MOST_STRETCHES = 16
"""Stretches of rows of one model, for each model, that are worth looking at."""


class ClassMeans:
    """Means by LLM and class; a class without results of an LLM gets the LLM's overall means."""

    def __init__(self, table: ResultTable, tests: Mapping[str, Test]) -> None:
        import numpy as np

        classes = [
            test.class_id if (test := tests.get(test_id)) else ""
            for test_id in table.values["test_id"]
        ]
        names, self._class_codes = np.unique(np.array(classes, dtype=str), return_inverse=True)
        self._classes = [str(name) for name in names]
        columns = {name: table.columns[name] for name in ("score", "test_id", *_AVERAGED)}
        self._trials = TrialColumns(columns=columns, values={})
        self._rows = RowsOfModels(table)
        self._known: dict[str, dict[str | None, Means]] = {}

    def of(self, llm_id: str, class_id: str) -> Means:
        """Look up the means of an LLM for a class."""
        if llm_id not in self._known:  # of very many results, each model takes a while
            self._known[llm_id] = self._compute(llm_id)
        known = self._known[llm_id]
        means = known.get(class_id, _UNKNOWN)
        return means if means.seconds is not None else known[None]

    def _compute(self, llm_id: str) -> dict[str | None, Means]:
        import numpy as np

        trials = self._trials.pick(self._rows.find([llm_id]))
        trials = trials.pick(trials.is_scored)
        found: dict[str | None, Means] = {None: _means(trials)}
        codes = self._class_codes[trials.columns["test_id"]]
        order = np.argsort(codes, kind="stable")
        trials = trials.pick(order)
        ends = np.searchsorted(codes[order], np.arange(len(self._classes)), side="right").tolist()
        for name, start, end in zip(self._classes, (0, *ends), ends, strict=False):
            found[name] = _means(trials.pick(slice(start, end)))
        return found


class RowsOfModels:
    """Rows of some models of a table, without a look at all rows where they stand together."""

    def __init__(self, table: ResultTable) -> None:
        """Look where rows of one model stand together."""
        import numpy as np

        codes = table.columns["llm_id"]
        self._table = table
        starts = np.append(0, np.flatnonzero(codes[1:] != codes[:-1]) + 1)[: len(codes)]
        if len(starts) > _MOST_STRETCHES * len(table.values["llm_id"]):  # of models that take turns
            starts = starts[:0]
        self._starts, self._codes = starts, codes[starts]
        self._ends = np.append(starts[1:], len(codes))

    def find(self, llm_ids: Collection[str]) -> NDArray[Any] | slice:
        """Find the rows of some models, in order."""
        import numpy as np

        wanted = {self._table.find_code("llm_id", llm_id) for llm_id in llm_ids}
        own = np.flatnonzero(np.isin(self._codes, [*wanted]))
        if len(self._codes) and not len(own):
            return slice(0)
        if len(own) and own[-1] - own[0] == len(own) - 1:
            return slice(int(self._starts[own[0]]), int(self._ends[own[-1]]))
        return self._table.find_entries("llm_id", {*llm_ids}.__contains__)


def _means(trials: TrialColumns) -> Means:
    time_ms, prompt, completion = (_mean(trials, name) for name in _AVERAGED)
    return Means(
        seconds=None if time_ms is None else time_ms / 1000,
        prompt_tokens=None if prompt is None else round(prompt),
        completion_tokens=None if completion is None else round(completion),
    )


def _mean(trials: TrialColumns, field: str) -> float | None:
    import numpy as np

    values = trials.columns[field]
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else None


def compute_reliability(
    table: ResultTable, llm_id: str, tests: Mapping[str, Test]
) -> Reliability | None:
    """Compute pass@k, pass^k and flip rate of an LLM; None if no test was tried twice.

    k is the usual number of trials of a test.
    """
    rows = table.find_rows(llm_id)
    if not len(rows) or table.columns["trial"][rows].max() < 2:
        return None
    trials = table.pick(rows)
    k = find_usual_trials(trials)
    return estimate_reliability(trials, k=k, tests=tests)[0] if k else None


def read_outcomes(
    table: ResultTable,
    *,
    pass_score: float,
    on_read: Callable[[int], None],
) -> Outcomes:
    """Read how the trials of a table ended; what was read before is kept beside the index.

    Args:
        table: Results.
        pass_score: From which score on a trial is passed.
        on_read: Called with the number of results read so far, now and then.

    Raises:
        StoreError: If the index is damaged.
    """
    texts = read_text_columns(table, OUTCOME_READER, on_read)
    outcomes = build_outcomes(table, texts, pass_score=pass_score)

    def release() -> None:
        table.release()
        if len(table) >= SHARED_FROM:
            return_memory()  # what lay between the columns of each step is large by then

    return replace(outcomes, release=release)


_GENERATION = 1 << 40
"""Added to the versions of a table for each change of the tests, since rows may come and go."""


def without_removed(
    table: ResultTable, tests: Mapping[str, Test], *, generation: int
) -> ResultTable:
    """Leave out the results of removed tests, which count in no figure.

    Args:
        table: All results.
        tests: Tests of the workspace by id.
        generation: Another number for other tests, so that versions of tables differ.
    """
    is_counted = table.find_entries("test_id", tests.__contains__)
    if is_counted.all():
        return table
    counted = table.select(is_counted, offset=generation * _GENERATION)
    return replace(counted, basis=table.basis)  # who keeps figures of it names the tests


def select_counted(
    table: ResultTable, tests: Mapping[str, Test], llm_ids: Collection[str]
) -> ResultTable:
    """Select the results of some tests and models."""
    counted = without_removed(table, tests, generation=1)
    is_chosen = counted.find_entries("llm_id", llm_ids.__contains__)
    if is_chosen.all():
        return counted
    return replace(counted.select(is_chosen), basis=counted.basis)  # figures of each model hold


def count_untold_rows(table: ResultTable, tests: Mapping[str, Test]) -> dict[str, dict[str, int]]:
    """Count the scored rows that do not store both fingerprints, by model and class.

    Args:
        table: Results of these tests.
        tests: By id.
    """
    import numpy as np

    is_told = (table.columns["request_code"] != 0) & (table.columns["evaluator_code"] != 0)
    rows = np.flatnonzero(table.is_scored & ~is_told)
    classes = [tests[name].class_id if name in tests else "" for name in table.values["test_id"]]
    places = {name: place for place, name in enumerate(dict.fromkeys(classes))}
    class_codes = np.array([places[name] for name in classes], dtype=np.int64)
    llms, of_test = (table.columns[name][rows] for name in ("llm_id", "test_id"))
    pairs = llms.astype(np.int64) * len(places) + class_codes[of_test]
    codes, numbers = np.unique(pairs, return_counts=True)
    found: dict[str, dict[str, int]] = {}
    for code, n in zip(codes.tolist(), numbers.tolist(), strict=True):
        llm, place = divmod(code, len(places))
        found.setdefault(table.values["llm_id"][llm], {})[[*places][place]] = n
    return found


def rank_results(table: ResultTable, tests: Mapping[str, Test]) -> Ranking:
    """Rank the LLMs of a table, with the predicted scores of those that ran a short form only."""
    ranking = rank_llms(table)
    if not has_short_form(tests):
        return ranking
    predicted = predict_short_forms(build_score_table(table), tests, _identify_models(table))
    return replace(ranking, predicted=predicted)


def _identify_models(table: ResultTable) -> dict[str, str]:
    """Find the digest of each LLM's last result; LLMs without one are left out."""
    rows = {code: row for row, code in enumerate(table.columns["llm_id"].tolist())}
    digests = table.text_columns(list(rows.values()), ["model_digest"])
    found = zip(rows, digests, strict=True)
    return {table.values["llm_id"][code]: digest for code, (digest,) in found if digest}


def summarise_found(
    found: FoundTrials,
    tests: Mapping[str, Test],
    *,
    by: GroupBy,
    stale_places: NDArray[np.int64] | None = None,
) -> list[Summary]:
    """Summarise the results of one LLM that a query finds; those of removed tests do not count.

    Args:
        found: Results of one LLM.
        tests: Tests of the workspace by id.
        by: What one row stands for; newer failures and stale scores are counted by LLM only.
        stale_places: Column `place` of its stale scores, where they are known.
    """
    import numpy as np

    table = found.table
    rows = found.rows[table.find_entries("test_id", tests.__contains__)[found.rows]]
    # Of all its trials: the score that a failure is newer than may not be among those found.
    of_llm = table.find_rows(table.value("llm_id", int(rows[0]))) if len(rows) else rows
    newer = of_llm[find_newer_failures(table.pick(of_llm))]
    is_newer = np.isin(rows, newer)
    summaries = summarise(table.pick(rows[~is_newer]), tests=tests, by=by)
    if by is not GroupBy.LLM:
        return summaries
    is_stale = None if stale_places is None else np.isin(table.columns["place"][rows], stale_places)
    return [
        replace(
            summary,
            n_newer_failed=int(is_newer.sum()),
            n_stale=None if is_stale is None else int(is_stale.sum()),
        )
        for summary in summaries
    ]


class FailedRows(NamedTuple):
    """What rows of failures have in common."""

    llm_id: str
    kind: FailureKind
    has_score: bool
    """True if they are newer attempts at trials that have a score."""


def group_failures(table: ResultTable) -> dict[FailedRows, list[int]]:
    """Group the rows of failures, trials without a score first, then the largest group."""
    import numpy as np

    failed = np.flatnonzero(np.isnan(table.columns["score"]))
    is_newer = find_newer_failures(table)
    groups: dict[FailedRows, list[int]] = {}
    for row in failed.tolist():
        kind = table.value("failure_kind", row)
        key = FailedRows(table.value("llm_id", row), kind, bool(is_newer[row]))
        groups.setdefault(key, []).append(row)
    return dict(sorted(groups.items(), key=lambda item: (item[0].has_score, -len(item[1]))))


class StaleCounter:
    """Counts the stale scores of each LLM on each class and level, some rows at a time."""

    def __init__(self, table: ResultTable, tests: Mapping[str, Test]) -> None:
        """Count nothing yet.

        Args:
            table: Results of tests of the workspace.
            tests: Tests of the workspace by id.
        """
        import numpy as np

        here = [tests.get(name) for name in table.values["test_id"]]
        places: dict[tuple[str, int], int] = {}
        self._part_of_test = np.array(
            [
                places.setdefault((test.class_id, test.level), len(places)) if test else 0
                for test in here
            ],
            dtype=np.int64,
        )
        self._llm_ids, self._parts = table.values["llm_id"], [*places]
        self._n_of_group = np.zeros(len(self._llm_ids) * len(self._parts), dtype=np.int64)
        self._n_stale: Counter[int] = Counter()

    def add(self, block: ResultTable, rows: NDArray[np.int64], reasons: NDArray[np.uint8]) -> None:
        """Count some rows.

        Args:
            block: Of the table.
            rows: Scored rows of it of which is known if they are stale.
            reasons: Place of each one's reason in `StaleReason`, from 1; 0 where it is not stale.
        """
        import numpy as np

        llms = block.columns["llm_id"][rows].astype(np.int64)
        tests = block.columns["test_id"][rows]
        groups = llms * len(self._parts) + self._part_of_test[tests]
        self._n_of_group += np.bincount(groups, minlength=len(self._n_of_group))
        codes = groups[reasons > 0] * len(_REASONS) + reasons[reasons > 0]
        found, numbers = np.unique(codes, return_counts=True)
        self._n_stale.update(dict(zip(found.tolist(), numbers.tolist(), strict=True)))

    def counts(self) -> StaleCounts:
        """List the counts of the groups with such rows, stale or not."""
        names = {}
        for group in self._n_of_group.nonzero()[0].tolist():
            llm, part = divmod(group, len(self._parts))
            class_id, level = self._parts[part]
            names[group] = Group(llm_id=self._llm_ids[llm], class_id=class_id, level=level)
        counts: dict[Group, Counter[StaleReason]] = {name: Counter() for name in names.values()}
        for code, n in sorted(self._n_stale.items()):
            group, place = divmod(code, len(_REASONS))
            if (reason := _REASONS[place]) is not None:
                counts[names[group]][reason] += n
        return counts


_REASONS = (None, *StaleReason)
