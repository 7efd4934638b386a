"""Collect batches that have ended: fetch the answers, score and store them in one run."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from poor_bench.config.load import Workspace
from poor_bench.errors import ProviderError
from poor_bench.llm_manager import LLMManager
from poor_bench.messages import write_count
from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.ports import BatchState, Listener
from poor_bench.results.store import ResultStore
from poor_bench.runner.batches.answers import BatchAnswers, find_lines, index_answers
from poor_bench.runner.batches.observe import BatchObserver, BatchView
from poor_bench.runner.events import RunStarted
from poor_bench.runner.jobs import Recorded, TrialJobs
from poor_bench.runner.plan import LLMWork, Plan, WorkItem
from poor_bench.runner.scorer import Scorer
from poor_bench.runner.trial_states import TrialName, TrialStates
from poor_bench.runs.batch_notes import BatchNotes, SentRequest
from poor_bench.safe_files import tell_os_errors


@dataclass(slots=True)
class Collected:
    """What collecting came to."""

    n_batches: int = 0
    n_scored: int = 0
    n_failed: int = 0
    """Trials that have no score and are pending again."""
    waiting: list[BatchView] = field(default_factory=list)
    """Batches that are still open."""
    problems: list[str] = field(default_factory=list)
    n_orphans: int = 0
    """Answers to tests that do not exist any more."""
    is_stopped: bool = False
    """True if it was interrupted; the next run goes on."""


class BatchCollector:
    """Brings the answers of ended batches into the store."""

    def __init__(
        self,
        notes: BatchNotes,
        observer: BatchObserver,
        workspace: Workspace,
        manager: LLMManager,
        store: ResultStore,
    ) -> None:
        self._notes = notes
        self._observer = observer
        self._workspace = workspace
        self._manager = manager
        self._store = store

    def fetch(self, collected: Collected, cancelled: Callable[[], bool]) -> list[BatchAnswers]:
        """Fetch the answers of all batches that are ready; the rest is noted in `collected`.

        Raises:
            StoreError: If a note or a file cannot be read or written.
            RunCancelledError: If `cancelled()` turned true.
        """
        fetched = []
        for view in self._observer.look_at_all(cancelled):
            if view.note.outcome:
                collected.problems.append(f"batch {view.note.key}: {view.note.outcome}")
                continue
            found = self._fetch(view, collected, cancelled) if view.is_ready else view
            if isinstance(found, BatchAnswers):
                fetched.append(found)
                continue
            collected.waiting.append(found)
            if found.problem:
                collected.problems.append(found.complaint)
        return fetched

    def _fetch(
        self, view: BatchView, collected: Collected, cancelled: Callable[[], bool]
    ) -> BatchAnswers | BatchView:
        try:
            answers = self._download(view, cancelled)
        except ProviderError as error:
            return replace(view, problem=str(error))
        if answers.is_cut and view.note.cut_at != answers.index.n_bytes:
            self._notes.add(view.note, "cut", n_bytes=answers.index.n_bytes)
            place = f" at line {answers.index.bad_line}" if answers.index.bad_line else ""
            return replace(
                view,
                problem=f"its result file is cut off{place}; nothing of it was stored. The next "
                "run downloads it again",
            )
        collected.problems += answers.describe_faults()
        return answers

    def _download(self, view: BatchView, cancelled: Callable[[], bool]) -> BatchAnswers:
        """Write the provider's files into one of ours, whole or not at all."""
        assert view.llm is not None
        assert view.progress is not None
        path, progress = self._notes.results_file(view.note), view.progress
        part = path.with_suffix(".part")

        def download(api: Any, control: Any) -> None:
            with part.open("wb") as stream:
                for file in progress.files:
                    stream.writelines(line + b"\n" for line in api.fetch(file, control))
                stream.flush()
                os.fsync(stream.fileno())

        with tell_os_errors(path):
            self._manager.call_batches(view.llm, download, cancelled)
            part.replace(path)
            with path.open("rb") as stream:
                index = index_answers(stream, view.note)
            requests = self._notes.requests_file(view.note)
            return BatchAnswers(
                note=view.note,
                llm=view.llm,
                api=self._manager.open_batches(view.llm),
                progress=progress,
                results=path,
                requests=requests,
                index=index,
                request_offsets=find_lines(requests),
            )

    def plan(self, fetched: Sequence[BatchAnswers], collected: Collected) -> CollectPlan:
        """Plan what is scored and stored: all answers that are not stored yet."""
        run_ids = {run_id for answers in fetched for run_id in answers.note.run_ids}
        stored = (
            {result.key for result in self._store.results() if result.run_id in run_ids}
            if run_ids
            else set()
        )
        plan = CollectPlan(self._workspace, fetched)
        collected.n_orphans = plan.n_orphans
        collected.n_batches = len(fetched)
        plan.leave_out(stored)
        return plan

    def note_run(self, fetched: Sequence[BatchAnswers], listener: Listener) -> Listener:
        """Note the run before its first result is stored; pass all events on."""

        def listen(event: Any) -> None:
            if isinstance(event, RunStarted):
                for answers in fetched:
                    self._notes.add(answers.note, "collecting", run_id=event.run_id)
            listener(event)

        return listen

    def close(self, fetched: Iterable[BatchAnswers], plan: CollectPlan) -> None:
        """Be done with batches whose answers are stored."""
        for answers in fetched:
            if answers.api.refused:
                self._notes.note_refused(answers.llm.id, answers.api.refused)
            has_rest = bool(answers.index.n_unknown) or plan.n_orphans > 0
            self._notes.close(answers.note, _describe(answers), keep_results=has_rest)


class CollectPlan:
    """The trials of fetched batches, and the way from a trial to its answer."""

    def __init__(self, workspace: Workspace, fetched: Sequence[BatchAnswers]) -> None:
        self._places: dict[TrialName, tuple[BatchAnswers, int]] = {}
        self.n_orphans = 0
        self._tests = workspace.tests
        known = workspace.tests_by_id
        for answers in fetched:
            for number, (test_id, trial) in enumerate(answers.note.items):
                if test_id in known:
                    self._places[TrialName(answers.llm.id, test_id, trial)] = answers, number
                else:
                    self.n_orphans += 1

    def leave_out(self, stored: Iterable[tuple[str, str, int]]) -> None:
        """Leave out trials whose answers are stored."""
        for key in stored:
            self._places.pop(TrialName(*key), None)

    def build(self) -> Plan:
        """Build the plan of the run that stores the answers."""
        llms = {answers.llm.id: answers.llm for answers, _ in self._places.values()}
        trials = max((name.number for name in self._places), default=1)
        states = TrialStates(list(llms.values()), self._tests, trials)
        place = {test.test_id: index for index, test in enumerate(self._tests)}
        numbers = {llm_id: array("L") for llm_id in llms}
        for name in self._places:
            numbers[name.llm_id].append(place[name.test_id] * trials + name.number - 1)
        works = tuple(
            LLMWork(llms[llm_id], self._tests, trials, found) for llm_id, found in numbers.items()
        )
        return Plan(works=works, states=states, rescore=False)

    def build_request(self, item: WorkItem) -> ChatRequest:
        """Read the request of a trial as it was sent."""
        return self._read_sent(item).request

    def find_fingerprint(self, item: WorkItem) -> str:
        """Read the fingerprint of a trial's request."""
        return self._read_sent(item).fingerprint

    def answer(
        self, item: WorkItem, request: ChatRequest, _cancelled: Callable[[], bool]
    ) -> Completion:
        """Read the answer of a trial; see `poor_bench.runner.jobs.Answer`."""
        answers, number = self._find(item)
        return answers.read_answer(number, request)

    def _read_sent(self, item: WorkItem) -> SentRequest:
        answers, number = self._find(item)
        return answers.read_request(number)

    def _find(self, item: WorkItem) -> tuple[BatchAnswers, int]:
        return self._places[TrialName(item.llm.id, item.test.test_id, item.trial)]


class CollectJobs(TrialJobs):
    """Scores answers that are here already: no failure of one says anything about the others."""

    def __init__(
        self, workspace: Workspace, manager: LLMManager, scorer: Scorer, plan: CollectPlan
    ) -> None:
        super().__init__(
            workspace,
            manager,
            scorer,
            judge_later=True,
            build=plan.build_request,
            answer=plan.answer,
        )
        self._plan = plan

    def run(self, item: WorkItem, run_id: str, cancelled: Callable[[], bool]) -> Recorded:
        """Read and score one answer."""
        result, _ = super().run(item, run_id, cancelled)
        return replace(result, request_fingerprint=self._plan.find_fingerprint(item)), None


def _describe(answers: BatchAnswers) -> str:
    n_missing = len(answers.note.items) - len(answers.index.offsets)
    missing = f", {write_count(n_missing, 'answer')} missing" if n_missing else ""
    match answers.progress.state:
        case BatchState.FAILED:
            return f"refused by the provider: {answers.progress.error}"
        case BatchState.ENDED:
            return f"collected{missing}"
    return f"{answers.progress.state.value}, collected{missing}"
