"""Find out why scores of a model changed: open the case, make re-runs, draw the conclusion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from poor_bench.autopsy.findings import (
    AutopsyPlan,
    Findings,
    add_pairs,
    conclude,
    make_plan,
    measure_environment,
    measure_single,
    share_effects,
    share_evaluators,
)
from poor_bench.autopsy.reruns import Reruns, open_reruns
from poor_bench.comparison.causes import ChangedFacts, find_changed_facts
from poor_bench.comparison.result_set import ResultSet, average_score, group_by_test
from poor_bench.errors import ConfigError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.pool.control import RunControl
from poor_bench.prompts import hash_llm, hash_text
from poor_bench.runner.rescore import score_with_evaluators
from poor_bench.runner.scorer import resolve_spec
from poor_bench.statistics.attribution import Effect
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner


@dataclass(frozen=True, slots=True, kw_only=True)
class AutopsyCase:
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
    ) -> AutopsyCase:
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
        known = {hash_llm(each): each.parameters for each in workspace.llms}
        scorer = self._runner.scorer
        today = [
            replace(side, results=score_with_evaluators(side.results, workspace.tests, scorer))
            for side in (before, after)
        ]
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
        return AutopsyCase(
            llm=llm,
            plan=plan,
            differences=tuple(differences),
            evaluator_changes=evaluators,
            remarks=tuple(self._list_remarks(facts)),
        )

    def cost_per_test_usd(self, case: AutopsyCase) -> float | None:
        """Estimate the mean cost of a re-run, without requests; None where a price is unknown.

        Raises:
            ConfigError: If a judge or a rubric cannot be used.
        """
        tests = [test.test for test in case.plan.facts.tests]
        return self._runner.cost_per_test_usd(case.llm, tests)

    def run(
        self,
        case: AutopsyCase,
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
            reruns = Reruns(case.llm, plan, self._runner, self._manager, stored, control, tell)
            taken_back = reruns.take_back_all()
            effects = reruns.screen()
            taken_back = add_pairs(plan, taken_back, reruns.observations, effects)
            return self._conclude(
                case,
                taken_back,
                effects,
                n_calls=len(reruns.used),
                stopped=reruns.stopped,
                digests=stored.digests(),
            )

    def _conclude(
        self,
        case: AutopsyCase,
        taken_back: dict[str, list[float]],
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

    def _list_remarks(self, facts: ChangedFacts) -> list[str]:
        judged = sum(self._runner.scorer.is_judged(test.test) for test in facts.tests)
        found = ["scores by judges are taken as they are stored"] if judged else []
        if facts.fixed and facts.factors:
            found.append(
                f"not re-run: {', '.join(facts.fixed)}; what is left after all other changes "
                "were taken back is attributed to it"
            )
        return found


def _mean_scores(side: ResultSet, llm_id: str) -> dict[str, float]:
    results = [result for result in side.results if result.llm_id == llm_id]
    scores = {test_id: average_score(own) for test_id, own in group_by_test(results).items()}
    return {test_id: score for test_id, score in scores.items() if score is not None}


def _count_trials(side: ResultSet, llm_id: str) -> int:
    """Count the usual trials of a test."""
    counts = [
        len(own) for own in group_by_test([r for r in side.results if r.llm_id == llm_id]).values()
    ]
    return sorted(counts)[len(counts) // 2] if counts else 1


def _find_key(case: AutopsyCase) -> str:
    """Name the case: the same for the same tests, prompts, parameters and scores."""
    facts = case.plan.facts
    parts: list[Any] = [facts.llm_id, facts.parameters, facts.factors]
    parts += [(test.test.test_id, test.system, test.user, test.before) for test in facts.tests]
    return hash_text(repr(parts), 16)
