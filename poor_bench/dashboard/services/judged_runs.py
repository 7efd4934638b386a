"""Judged runs on disk, reread after changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from poor_bench.dashboard.services.computations import Kept
from poor_bench.dashboard.text.formatting import limits_text
from poor_bench.errors import ConfigError
from poor_bench.judge.agreement import Agreement, CorrectedScore, measure_agreement
from poor_bench.judge.corrected import NextAnswer, choose_next, correct_scores
from poor_bench.judge.judged_run import RunSummary, summarise_run
from poor_bench.judge.judgement import APPROVAL_THRESHOLD
from poor_bench.judge.labels import collect_judged_items, make_label
from poor_bench.judge.prompt import LARGEST_SCORE
from poor_bench.judge.rated_answers import add_judged_answers
from poor_bench.judge.run_comparison import RunComparison, compare_runs
from poor_bench.judge.storage import JudgementStore
from poor_bench.labels.label import Label, keep_current_labels
from poor_bench.labels.ratings import group_ratings
from poor_bench.labels.storage import add_labels, fingerprint_labels, read_labels
from poor_bench.results.table import ResultTable

_Fingerprint = tuple[tuple[str, int], ...]


class JudgedRuns:
    """Answers about judged agents of one workspace; shared by all browsers."""

    def __init__(self, data_dir: Callable[[], Path], open_table: Callable[[], ResultTable]) -> None:
        """Read nothing yet.

        Args:
            data_dir: Returns the folder of the workspace.
            open_table: Opens the stored results.
        """
        self._data_dir = data_dir
        self._open_table = open_table
        self._summaries: Kept[tuple[RunSummary, ...]] = Kept(1)

    def version(self) -> str:
        """Version text that changes with every new run, label or end of a run."""
        labels = fingerprint_labels(self._data_dir())
        seen = (self._store().history.fingerprint(), labels, self.under_way())
        return f"{hash(seen) & 0xFFFFFFFF:x}"

    def summaries(self) -> tuple[RunSummary, ...]:
        """Summarise all runs, oldest first.

        Raises:
            StoreError: If a file cannot be read.
        """
        store = self._store()
        key = self._data_dir(), store.history.fingerprint()
        return self._summaries.get(key, lambda: tuple(map(summarise_run, store.runs())))

    def comparison(self, before: RunSummary, after: RunSummary) -> RunComparison:
        """Compare two runs, with the noise of all runs.

        Raises:
            StoreError: If a file cannot be read.
        """
        history = [summary.run for summary in self.summaries()]
        return compare_runs(before, after, history)

    def is_under_way(self, run_id: str) -> bool:
        """True if a process is working on the run."""
        return self._store().is_under_way(run_id)

    def under_way(self) -> str:
        """Id of a run that a process is working on; empty if none."""
        return self._store().under_way()

    def agreement(self) -> dict[str, Agreement]:
        """Agreement of each judge with people on single conversations and answers to tests.

        Raises:
            StoreError: If a file cannot be read.
        """
        runs = [summary.run for summary in self.summaries()]
        labels = read_labels(self._data_dir())
        items, ratings = collect_judged_items(runs, labels), group_ratings(labels)
        if ratings:
            items = add_judged_answers(items, ratings, self._open_table())
        return {judge: measure_agreement(both, APPROVAL_THRESHOLD) for judge, both in items.items()}

    def estimate_scores(self) -> tuple[CorrectedScore, ...]:
        """Mean scores by judge and model, corrected by people's labels.

        Raises:
            StoreError: If a file cannot be read.
        """
        runs = [summary.run for summary in self.summaries()]
        return correct_scores(runs, read_labels(self._data_dir()))

    def next_answer(self) -> NextAnswer | None:
        """Choose the answer to label next; None if all have a label.

        Raises:
            StoreError: If a file cannot be read.
        """
        runs = [summary.run for summary in self.summaries()]
        return next(iter(choose_next(runs, read_labels(self._data_dir()), 1)), None)

    def labels_on(self, about: str) -> tuple[Label, ...]:
        """Labels of a conversation or whole agent, by hash.

        Raises:
            StoreError: If the file cannot be read.
        """
        labels = keep_current_labels(read_labels(self._data_dir()))
        return tuple(label for label in labels if label.about == about)

    def add_label(
        self, run_id: str, case_id: str, dimension: str, score: object, who: str, note: str
    ) -> None:
        """Keep a person's score of a part of a run.

        Raises:
            ConfigError: If the part does not exist, or the score or the name cannot be used.
            StoreError: If it cannot be stored.
        """
        run, drawn = self._store().find(run_id), self.next_answer()
        talk = run.conversation(case_id)
        is_drawn = drawn is not None and talk is not None and drawn.answer.about == talk.hash
        try:
            label = make_label(
                run,
                case_id=case_id,
                dimension=dimension,
                score=_number(score),
                who=who,
                when=datetime.now(UTC).isoformat(timespec="microseconds"),
                note=note,
                weight=drawn.weight if drawn and is_drawn else None,
            )
        except ValueError as error:
            raise ConfigError(str(error)) from error
        add_labels(self._data_dir(), [label])

    def _store(self) -> JudgementStore:
        return JudgementStore(self._data_dir())


def _number(score: object) -> float:
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise ConfigError(limits_text("score", 0, LARGEST_SCORE))
    return float(score)
