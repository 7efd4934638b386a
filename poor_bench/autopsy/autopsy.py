"""Make the re-runs of an autopsy, look at them in between, and stop when the causes are clear."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, NamedTuple

from poor_bench.autopsy.findings import (
    AutopsyPlan,
    Findings,
    conclude,
    make_plan,
    measure_environment,
    measure_single,
    share_effects,
    share_evaluators,
)
from poor_bench.autopsy.runs import StoredReruns, open_reruns
from poor_bench.comparison.causes import ChangedFacts, TestBothWays, find_changed_facts
from poor_bench.comparison.compared_tests import average_score
from poor_bench.comparison.result_set import ResultSet, by_test
from poor_bench.errors import ConfigError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import ChatRequest, Message
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.pool.control import RunControl
from poor_bench.pool.events import JobDone, LLMUnavailable
from poor_bench.pool.pool import JobResult, Pool
from poor_bench.pool.queues import Work
from poor_bench.prompts.request import build_request
from poor_bench.runner.jobs import TrialJobs
from poor_bench.runner.plan import WorkItem
from poor_bench.runner.rescore import rescore, to_rescore
from poor_bench.runner.scorer import resolve_spec
from poor_bench.scoring.fingerprint import hash_text, llm_fingerprint
from poor_bench.statistics.attribution import FIRST_LOOK, Effect, Observation, Pair
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One model in two runs, ready for an autopsy."""

    llm: LLM
    plan: AutopsyPlan
    differences: tuple[float, ...]
    """Stored score after minus stored score before, by test of the plan."""
    evaluator_changes: dict[str, list[float]]
    """Name of a changed evaluator to its part of the difference of each of its tests."""
    remarks: tuple[str, ...]


class Autopsy:
    """Finds out why a model's scores changed between two runs."""

    def __init__(self, config: WorkspaceFolder, manager: LLMManager) -> None:
        """Open a workspace.

        Args:
            config: The workspace; its tests and evaluators are used.
            manager: Asks the model; its budget of money is kept.

        Raises:
            ConfigError: With every problem of every file of the workspace.
        """
        self._config = config
        self._manager = manager
        self._runner = WorkspaceRunner(config, manager)

    def open_case(
        self, before: ResultSet, after: ResultSet, llm_id: str, max_calls: int | None = None
    ) -> Case:
        """Find what changed, and plan the re-runs; no request is sent.

        Args:
            before: The earlier run.
            after: The later run.
            llm_id: The model.
            max_calls: Most re-runs; None for a quarter of the full factorial.

        Raises:
            ConfigError: If the model is gone, or no test has a score in both runs.
        """
        workspace = self._config.workspace
        llm = workspace.llms_by_id.get(llm_id)
        if llm is None:
            raise ConfigError(
                f"{llm_id} is not in llms.json", hint="Only such models can be re-run."
            )
        known = {llm_fingerprint(each): each.parameters for each in workspace.llms}
        today = [self._rescore(side) for side in (before, after)]
        facts = find_changed_facts(today[0], today[1], llm_id, workspace.tests_by_id, known)
        if not facts.tests:
            raise ConfigError(f"no test of {llm_id} has a score on both sides")
        stored = [_mean_scores(side, llm_id) for side in (before, after)]
        differences, evaluators = [], dict[str, list[float]]()
        for test in facts.tests:
            test_id = test.test.test_id
            differences.append(stored[1][test_id] - stored[0][test_id])
            part = differences[-1] - (test.after - test.before)
            if part:
                name = resolve_spec(workspace, test.test).name
                evaluators.setdefault(name, []).append(part)
        change = sum(test.after - test.before for test in facts.tests) / len(facts.tests)
        plan = make_plan(facts, _count_trials(after, llm_id), change, max_calls)
        return Case(
            llm=llm,
            plan=plan,
            differences=tuple(differences),
            evaluator_changes=evaluators,
            remarks=tuple(self._list_remarks(facts)),
        )

    def cost_per_test_usd(self, case: Case) -> float:
        """Estimate the mean cost of a re-run, without requests; 0.0 without prices.

        Raises:
            ConfigError: If a judge or a rubric cannot be used.
        """
        tests = [test.test for test in case.plan.facts.tests]
        return self._runner.cost_per_test_usd(case.llm, tests)

    def run(
        self,
        case: Case,
        control: RunControl,
        tell: Callable[[int], None] = lambda _n_done: None,
    ) -> Findings:
        """Make the re-runs that are needed; those of an earlier try are used again.

        Args:
            case: What `open_case` made.
            control: Stops it; what was asked is kept.
            tell: Hears how many re-runs are done.

        Raises:
            StoreError: If a re-run could not be stored.
        """
        plan = case.plan
        header = {"llm": case.llm.id, "n_items": plan.n_calls}
        now = self._manager.clock.now_iso()
        if not plan.n_calls:  # nothing to ask, so nothing to store
            return self._conclude(case, {}, [], n_calls=0, stopped="", digests=set())
        with open_reruns(self._config.data_dir, _find_key(case), now, header) as stored:
            asking = _Asking(case, self._runner, self._manager, stored, control, tell)
            taken_back = asking.take_back_all()
            effects = asking.screen()
            return self._conclude(
                case,
                taken_back,
                effects,
                n_calls=len(asking.used),
                stopped=asking.stopped,
                digests=stored.digests(),
            )

    def _conclude(
        self,
        case: Case,
        taken_back: dict[str, float],
        effects: Sequence[Effect],
        *,
        n_calls: int,
        stopped: str,
        digests: set[str],
    ) -> Findings:
        plan, remarks = case.plan, list(case.remarks)
        after = plan.facts.digests_after
        is_same = not digests or not after or digests <= after
        if not is_same:
            remarks.append("the model here is not that of the later run: its digest differs")
        if effects and not stopped and not plan.screening.is_settled(effects):
            remarks.append(
                "other changes may have effects as large as a fifth of the whole; "
                f"more re-runs tell, such as --max-calls {2 * plan.n_calls}"
            )
        if plan.facts.fixed and plan.facts.factors and not taken_back:
            remarks.append(f"too few re-runs to tell the share of {', '.join(plan.facts.fixed)}")
        environment = measure_environment(plan, taken_back, is_same_model=is_same)
        shares = [environment] if environment else []
        shares += share_evaluators(case.evaluator_changes, len(plan.facts.tests))
        shares += measure_single(plan, taken_back, has_environment=bool(plan.facts.fixed))
        shares += share_effects(plan.facts, effects) if effects else []
        return conclude(plan, shares, case.differences, n_calls, stopped, remarks)

    def _rescore(self, side: ResultSet) -> ResultSet:
        """Score stored answers with today's evaluators, but for those that models judge."""
        tests = {
            test.test_id: test
            for test in self._config.workspace.tests
            if not self._runner.scorer.is_judged(test)
        }
        items = to_rescore(side.results, lambda r: tests.get(r.test_id), self._runner.scorer)
        newer = {
            item.old.key: item.new
            for item in rescore(items, self._runner.scorer)
            if item.new is not None
        }
        return replace(side, results=tuple(newer.get(r.key, r) for r in side.results))

    def _list_remarks(self, facts: ChangedFacts) -> list[str]:
        judged = sum(self._runner.scorer.is_judged(test.test) for test in facts.tests)
        found = ["scores by judges are taken as they are stored"] if judged else []
        if facts.fixed and facts.factors:
            found.append(
                f"not re-run: {', '.join(facts.fixed)}; what is left after all other changes "
                "were taken back is attributed to it"
            )
        return found


class _Asking:
    """The re-runs of one case."""

    def __init__(
        self,
        case: Case,
        runner: WorkspaceRunner,
        manager: LLMManager,
        stored: StoredReruns,
        control: RunControl,
        tell: Callable[[int], None],
    ) -> None:
        self._case = case
        self._facts = case.plan.facts
        self._runner = runner
        self._manager = manager
        self._stored = stored
        self._control = control
        self._tell = tell
        self._llms: dict[str, LLM] = {}
        self._n_equal: dict[tuple[str, _States], int] = {}
        self.used: set[str] = set()
        self.stopped = ""

    def take_back_all(self) -> dict[str, float]:
        """Ask every test with all changes taken back; return the mean scores by test."""
        none = (False,) * len(self._facts.factors)
        reruns = [
            self._name(test, none)
            for _ in range(self._case.plan.n_checks)
            for test in self._facts.tests
        ]
        self._ask(reruns)
        scores: dict[str, list[float]] = {}
        for rerun in reruns:
            score = self._stored.score(rerun.name)
            if score is not None:
                scores.setdefault(rerun.test.test.test_id, []).append(score)
        return {test_id: fmean(own) for test_id, own in scores.items()}

    def screen(self) -> list[Effect]:
        """Ask pairs until the causes are clear or the plan is at its end; return the effects."""
        screening = self._case.plan.screening
        pairs = screening.list_pairs(self._case.plan.n_pairs)
        seen: list[Observation] = []
        effects: list[Effect] = []
        n_asked = 0
        while n_asked < len(pairs) and not self.stopped:
            batch = pairs[n_asked : max(FIRST_LOOK, 2 * n_asked)]
            n_asked += len(batch)
            seen += self._observe(batch)
            known = [place for place, effect in enumerate(effects) if effect.is_cause]
            effects = screening.look(seen, len(pairs), known)
            if screening.is_settled(effects):
                break
        return effects

    def _observe(self, pairs: Sequence[Pair]) -> list[Observation]:
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
                seen.append(Observation(pair, first, second))
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
            return self._llms.setdefault("", self._case.llm)
        chosen = tuple(states[factor] for factor in self._facts.parameter_names)
        name = "".join(str(int(state)) for state in chosen)
        if name not in self._llms:
            parameters = self._facts.choose_parameters(states)
            self._llms[name] = replace(
                self._case.llm, id=f"{self._case.llm.id}~{name}", parameters=parameters
            )
        return self._llms[name]


def _mean_scores(side: ResultSet, llm_id: str) -> dict[str, float]:
    results = [result for result in side.results if result.llm_id == llm_id]
    scores = {test_id: average_score(own) for test_id, own in by_test(results).items()}
    return {test_id: score for test_id, score in scores.items() if score is not None}


def _count_trials(side: ResultSet, llm_id: str) -> int:
    """Count the usual trials of a test."""
    counts = [len(own) for own in by_test([r for r in side.results if r.llm_id == llm_id]).values()]
    return sorted(counts)[len(counts) // 2] if counts else 1


def _find_key(case: Case) -> str:
    """Name the case: the same for the same tests, prompts, parameters and scores."""
    facts = case.plan.facts
    parts: list[Any] = [facts.llm_id, facts.parameters, facts.factors]
    parts += [(test.test.test_id, test.system, test.user, test.before) for test in facts.tests]
    return hash_text(repr(parts), 16)
