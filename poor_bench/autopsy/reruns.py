"""The re-runs of an autopsy: ask a test with some changes made and the others taken back.

They are stored as a kind of run of their own, apart from the user's results:
```
autopsies/<run id>.jsonl    {"run":{"run_id":"20261123T0130-3f2a91","key":"5d41402a", ...}}
                            {"rerun":{"name":"math_001 0101 1","score":1.0, ...}}
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from poor_bench.autopsy.findings import AutopsyPlan
from poor_bench.comparison.causes import TestBothWays
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import ChatRequest, Message
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.pool.control import RunControl
from poor_bench.pool.events import JobDone, LLMUnavailable
from poor_bench.pool.pool import JobResult, Pool
from poor_bench.pool.queues import Work
from poor_bench.prompts import build_request
from poor_bench.runner.jobs import TrialJobs
from poor_bench.runner.plan import WorkItem
from poor_bench.runs.history import RunHistory, RunKind, make_run_id
from poor_bench.runs.journal import JournalWriter
from poor_bench.statistics.attribution import FIRST_LOOK, Effect, Pair, RerunObservation
from poor_bench.workspace_runner import WorkspaceRunner

AUTOPSIES = RunKind(
    name="autopsy",
    folders=("autopsies",),
    command="compare --why",
    row_keys=frozenset({"rerun"}),
    count_planned=lambda header: header.get("n_items"),
    describe=lambda header: f"why {header.get('llm', '')} changed",
)


class StoredReruns:
    """The re-runs of one autopsy so far, by name, and where further ones go."""

    def __init__(self, journal: JournalWriter, known: dict[str, dict[str, Any]]) -> None:
        self._journal = journal
        self._known = known

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def __len__(self) -> int:
        return len(self._known)

    def score(self, name: str) -> float | None:
        """Score of a re-run; None if it is not stored."""
        record = self._known.get(name)
        return None if record is None else float(record["score"])

    def digests(self) -> set[str]:
        """Model digests of all re-runs."""
        return {str(each["model_digest"]) for each in self._known.values() if each["model_digest"]}

    def add(self, record: dict[str, Any]) -> None:
        """Store a re-run.

        Raises:
            StoreError: If it could not be stored.
        """
        self._journal.append_record({"rerun": record})
        self._known[record["name"]] = record


@contextmanager
def open_reruns(
    data_dir: Path, key: str, now_iso: str, header: Mapping[str, Any]
) -> Iterator[StoredReruns]:
    """Go on with the autopsy that has this key, or start it.

    Args:
        data_dir: Folder of the workspace.
        key: Names the two runs and all that changed between them.
        now_iso: The present moment, ISO 8601.
        header: Facts about a new autopsy.

    Raises:
        StoreError: If it cannot be read or written, or another process is making it.
    """
    history = RunHistory(data_dir, AUTOPSIES)
    found = [run for run in history.runs() if run.header.get("key") == key]
    run_id = found[-1].run_id if found else make_run_id(now_iso)
    told = None if found else {"run_id": run_id, "started": now_iso, "key": key, **header}
    known: dict[str, dict[str, Any]] = {}
    for record in found[-1].records() if found else ():
        rerun = record.get("rerun")
        if isinstance(rerun, dict) and isinstance(rerun.get("score"), int | float):
            known[str(rerun.get("name"))] = rerun
    with history.writing(run_id, told) as journal:
        yield StoredReruns(journal, known)


_States = tuple[bool, ...]


class Rerun(NamedTuple):
    """One test to be asked with some changes made and the others taken back."""

    test: TestBothWays
    states: _States
    """For each factor True as after, False as before."""
    number: int
    """Counts equal re-runs, from 1."""

    @property
    def name(self) -> str:
        """Name of the re-run in its journal."""
        states = "".join(str(int(state)) for state in self.states)
        return f"{self.test.test.test_id} {states} {self.number}"


class Reruns:
    """Asks what an autopsy wants to know of one model; what is stored is not asked again."""

    def __init__(
        self,
        llm: LLM,
        plan: AutopsyPlan,
        runner: WorkspaceRunner,
        manager: LLMManager,
        stored: StoredReruns,
        control: RunControl,
        tell: Callable[[int], None],
    ) -> None:
        """Prepare; no request is sent.

        Args:
            llm: The model.
            plan: Which tests, changes and pairs there are.
            runner: Scores answers.
            manager: Asks the model; its budget of money is kept.
            stored: Re-runs of an earlier try; new ones are added.
            control: Stops it; what was asked is kept.
            tell: Hears how many re-runs are done.
        """
        self._llm = llm
        self._plan = plan
        self._facts = plan.facts
        self._runner = runner
        self._manager = manager
        self._stored = stored
        self._control = control
        self._tell = tell
        self._llms: dict[str, LLM] = {}
        self._n_equal: dict[tuple[str, _States], int] = {}
        self.used: set[str] = set()
        self.observations: list[RerunObservation] = []
        self.stopped = ""

    def take_back_all(self) -> dict[str, list[float]]:
        """Ask every test with all changes taken back; return the scores by test."""
        none = (False,) * len(self._facts.factors)
        reruns = [
            self._name(test, none) for _ in range(self._plan.n_checks) for test in self._facts.tests
        ]
        self._ask(reruns)
        scores: dict[str, list[float]] = {}
        for rerun in reruns:
            score = self._stored.score(rerun.name)
            if score is not None:
                scores.setdefault(rerun.test.test.test_id, []).append(score)
        return scores

    def screen(self) -> list[Effect]:
        """Ask pairs until the causes are clear or the plan is at its end; return the effects."""
        screening = self._plan.screening
        pairs = screening.list_pairs(self._plan.n_pairs)
        effects: list[Effect] = []
        n_asked = 0
        while n_asked < len(pairs) and not self.stopped:
            batch = pairs[n_asked : max(FIRST_LOOK, 2 * n_asked)]
            n_asked += len(batch)
            self.observations += self._observe(batch)
            known = [place for place, effect in enumerate(effects) if effect.is_cause]
            effects = screening.look(self.observations, len(pairs), known)
            if screening.is_settled(effects):
                break
        return effects

    def _observe(self, pairs: Sequence[Pair]) -> list[RerunObservation]:
        named = [
            (
                pair,
                self._name(self._facts.tests[pair.test], tuple(sign > 0 for sign in pair.signs)),
                self._name(self._facts.tests[pair.test], tuple(sign < 0 for sign in pair.signs)),
            )
            for pair in pairs
        ]
        self._ask([rerun for _, one, other in named for rerun in (one, other)])
        seen = []
        for pair, one, other in named:
            first, second = self._stored.score(one.name), self._stored.score(other.name)
            if first is not None and second is not None:
                seen.append(RerunObservation(pair, first, second))
        return seen

    def _name(self, test: TestBothWays, states: _States) -> Rerun:
        """Name a further re-run; changes that do not concern the test count as taken back."""
        concerned = self._facts.concerns(test)
        states = tuple(state and own for state, own in zip(states, concerned, strict=True))
        key = test.test.test_id, states
        self._n_equal[key] = self._n_equal.get(key, 0) + 1
        return Rerun(test, states, self._n_equal[key])

    def _ask(self, reruns: Sequence[Rerun]) -> None:
        """Ask what is not stored yet; equal parameters follow each other."""
        self.used |= {rerun.name for rerun in reruns if rerun.name in self._stored}
        waiting = [rerun for rerun in reruns if rerun.name not in self._stored]
        by_llm: dict[str, list[Rerun]] = {}
        for rerun in waiting:
            llm = self._find_llm(rerun.states)
            by_llm.setdefault(llm.id, []).append(rerun)
        llms = {llm.id: llm for llm in self._llms.values()}
        works = [
            Work(llm=llms[llm_id], items=iter(own), n_items=len(own))
            for llm_id, own in by_llm.items()
        ]
        n_failed = 0
        with closing(Pool(self._manager, self._control).run(works, self._do)) as events:
            for event in events:
                if isinstance(event, JobDone):
                    n_failed += self._keep(*event.value)
                elif isinstance(event, LLMUnavailable):
                    self.stopped = event.failure.message
        if self._control.cancelled():
            self.stopped = self.stopped or "stopped by the user"
        elif any(rerun.name not in self._stored for rerun in waiting) and not n_failed:
            self.stopped = self.stopped or "the cost limit is reached"
        elif waiting and n_failed == len(waiting):
            self.stopped = "no re-run could be scored"

    def _keep(self, rerun: Rerun, result: Result) -> bool:
        """Store a re-run; return True if it failed to run, and is left for another try."""
        if result.score is None:
            return True
        self._stored.add(
            {
                "name": rerun.name,
                "score": result.score,
                "response": result.response,
                "model_digest": result.model_digest or "",
                "cost_usd": result.cost_usd,
            }
        )
        self.used.add(rerun.name)
        self._tell(len(self.used))
        return False

    def _do(self, rerun: Rerun) -> JobResult[tuple[Rerun, Result]]:
        def build(item: WorkItem) -> ChatRequest:
            return self._build_request(item, rerun)

        jobs = TrialJobs(self._runner.workspace, self._manager, self._runner.scorer, build=build)
        item = WorkItem(self._find_llm(rerun.states), rerun.test.test, rerun.number)
        result, _ = jobs.run(item, "", self._control.cancelled)
        return JobResult((rerun, result))

    def _build_request(self, item: WorkItem, rerun: Rerun) -> ChatRequest:
        """Build a request with prompts as they were sent, some edits taken back."""
        test_class = self._runner.workspace.test_classes[item.test.class_id]
        request = build_request(item.llm, test_class, item.test)
        system, user = rerun.test.prompts(rerun.states)
        if not user:
            return request
        first = (Message("system", system),) if system else ()
        return replace(request, messages=(*first, Message("user", user)))

    def _find_llm(self, states: _States) -> LLM:
        """Find the model with the parameters of some states; equal ones are one model."""
        if not self._facts.parameter_names:
            return self._llms.setdefault("", self._llm)
        chosen = tuple(states[factor] for factor in self._facts.parameter_names)
        name = "".join(str(int(state)) for state in chosen)
        if name not in self._llms:
            parameters = self._facts.choose_parameters(states)
            self._llms[name] = replace(
                self._llm, id=f"{self._llm.id}~{name}", parameters=parameters
            )
        return self._llms[name]
