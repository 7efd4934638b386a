"""What a run would do, how long it would take and what it would cost: from stored results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice

from poor_bench.dashboard.services.stored_results import StoredResults
from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch
from poor_bench.errors import PoorBenchError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import Usage, cost_usd, sum_known, sum_whole
from poor_bench.models.llm import LLM
from poor_bench.pool.queues import group_by_endpoint
from poor_bench.results.figures import ClassMeans, Means
from poor_bench.runner.batches.batches import BatchCost
from poor_bench.runner.plan import LLMWork, Plan, WorkItem
from poor_bench.runner.selection import Selection
from poor_bench.runner.trial_states import TrialState
from poor_bench.sandbox import SandboxTerms
from poor_bench.workspace_runner import WorkspaceRunner

MOST_WITHOUT_CONSENT = 100
"""Trials that start without a question if they cost nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMPreview:
    """What a run would ask of one LLM."""

    llm_id: str
    n_items: int
    """Trials to be asked."""
    n_failed: int
    """Trials among them that failed to run before."""
    n_rescored: int
    """Stored responses to be scored again without asking."""
    seconds: float | None
    """None where no stored result says how long such tests take this LLM."""
    cost_usd: float | None
    """Judging included; 0.0 on this machine; None where a price is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPreview:
    """What a run would do."""

    llms: tuple[LLMPreview, ...]
    seconds: float | None
    """Until the last LLM is done; LLMs of one local endpoint run after each other. Of those whose
    time is known; None where there is none."""
    cost_usd: float | None
    """Of the LLMs whose prices are known; None where there is none, or none that costs money."""
    n_in_batch: int = 0
    """Trials that are left out, since a provider answers them in a batch."""
    batch: BatchCost | None = None
    """Of the trials whose provider takes batches; None where none does."""

    @property
    def needs_consent(self) -> bool:
        """True if the run is long or may cost money, so that people are asked before."""
        return self.n_items > MOST_WITHOUT_CONSENT or bool(self.cost_usd) or self.n_unpriced > 0

    @property
    def n_untimed(self) -> int:
        """LLMs of which nobody knows how long they take."""
        return sum(llm.seconds is None for llm in self.llms)

    @property
    def n_unpriced(self) -> int:
        """LLMs that cost money, or are judged by one that does, and nobody knows how much."""
        return sum(llm.cost_usd is None for llm in self.llms)

    @property
    def n_items(self) -> int:
        """Trials to be asked."""
        return sum(llm.n_items for llm in self.llms)

    @property
    def n_rescored(self) -> int:
        """Stored responses to be scored again without asking."""
        return sum(llm.n_rescored for llm in self.llms)


class RunPlans:
    """Plans runs from stored results; shared by all browsers."""

    def __init__(self, files: WorkspaceWatch, results: StoredResults) -> None:
        self._files = files
        self._results = results

    def preview(self, selection: Selection) -> RunPreview:
        """Estimate trials, time and cost of a run.

        Raises:
            ConfigError: If the workspace is not valid or a filter matches nothing.
            StoreError: If the results cannot be read.
        """
        with closing(self._runner()) as runner:
            states = runner.states(selection)
            plan = selection.plan(states)
            means = ClassMeans(self._results.table(), runner.workspace.tests_by_id)
            return preview_run(plan, runner.manager, means, runner.estimate_costs)

    def preview_collection(self) -> RunPreview:
        """Estimate what it costs to judge the answers that are in batches, by judge.

        Raises:
            ConfigError: If the workspace is not valid, or a judge cannot be used.
            StoreError: If the note of a batch cannot be read.
        """
        with closing(self._runner()) as runner:
            costs: defaultdict[str, list[float | None]] = defaultdict(list)
            for item in _list_judged(runner):
                for judge, usd in islice(runner.estimate_costs(item), 1, None):
                    costs[judge.id].append(_one(judge, usd, runner.manager.is_local))
        judges = tuple(
            LLMPreview(
                llm_id=llm_id, n_items=len(each), n_failed=0, n_rescored=0, seconds=None,
                cost_usd=sum_whole(each),
            )
            for llm_id, each in costs.items()
        )  # fmt: skip
        known = sum_known([judge.cost_usd for judge in judges])
        return RunPreview(llms=judges, seconds=None, cost_usd=known)

    def sandbox_terms(self) -> SandboxTerms | None:
        """Describe the sandbox for code of models; None if no test runs such code.

        Raises:
            ConfigError: If the workspace is not valid.
            SandboxError: If processes cannot be started.
        """
        with closing(self._runner()) as runner:
            return runner.sandbox_terms(runner.workspace.tests)

    def _runner(self) -> WorkspaceRunner:
        self._files.workspace()
        return WorkspaceRunner(self._files.config())


def _list_judged(runner: WorkspaceRunner) -> Iterator[WorkItem]:
    """Yield the trials in batches whose answers LLMs judge."""
    tests, llms = runner.workspace.tests_by_id, runner.workspace.llms_by_id
    for name in runner.batches.list_trials():
        test, llm = tests.get(name.test_id), llms.get(name.llm_id)
        if test is not None and llm is not None and runner.scorer.is_judged(test):
            yield WorkItem(llm, test, name.number)


def preview_run(
    plan: Plan, manager: LLMManager, means: ClassMeans, costs_of: CostsOf
) -> RunPreview:
    """Estimate the requests, time and cost of a plan.

    Args:
        plan: What a run would do.
        manager: Knows which LLMs share an endpoint and how many requests it takes at once.
        means: What stored results say about time and tokens.
        costs_of: Returns the LLM and the judges of a trial with the estimated cost of each.

    Raises:
        ConfigError: If a judge or a rubric cannot be used.
    """
    works = {work.llm.id: work for work in plan.works}
    llms = tuple(
        _llm_preview(plan, index, works.get(llm.id), manager, means, costs_of)
        for index, llm in enumerate(plan.states.llms)
    )
    shown = tuple(llm for llm in llms if llm.n_items or llm.n_rescored)
    seconds = {llm.llm_id: llm.seconds for llm in shown}
    queues = [
        sum_known([seconds[work.llm.id] for work in queue])
        for queue in group_by_endpoint(plan.works, manager)
    ]
    cost = sum_known([llm.cost_usd for llm in shown]) if shown else 0.0
    is_known = cost or None not in [llm.cost_usd for llm in shown]
    return RunPreview(
        llms=shown,
        seconds=max((queue for queue in queues if queue is not None), default=None),
        cost_usd=cost if is_known else None,
        n_in_batch=plan.states.n_in_batch,
        batch=_offer_batch(plan, manager, means, costs_of),
    )


def _offer_batch(
    plan: Plan, manager: LLMManager, means: ClassMeans, costs_of: CostsOf
) -> BatchCost | None:
    """Estimate what the trials cost whose provider takes batches; None where none does."""
    works = [work for work in plan.works if _takes_batches(manager, work.llm)]
    if not works:
        return None
    batch_usd = live_usd = 0.0
    for work in works:
        for some, mean in _group(work, means):
            usd = preview_cost(some, mean, lambda item: islice(costs_of(item), 1), lambda _: True)
            live_usd += usd or 0.0
            batch_usd += (usd or 0.0) * work.llm.prices.batch
    return BatchCost(batch_usd, live_usd, sum(map(len, works)))


def _takes_batches(manager: LLMManager, llm: LLM) -> bool:
    try:
        return manager.takes_batches(llm)
    except PoorBenchError:
        return False


def _group(work: LLMWork | None, means: ClassMeans) -> list[tuple[LLMWork, Means]]:
    """Group trials by class, with what stored results say about it."""
    by_class = work.split_by_class() if work else {}
    return [(some, means.of(some.llm.id, class_id)) for class_id, some in by_class.items()]


def _llm_preview(
    plan: Plan,
    index: int,
    work: LLMWork | None,
    manager: LLMManager,
    means: ClassMeans,
    costs_of: CostsOf,
) -> LLMPreview:
    llm = plan.states.llms[index]
    counts = plan.states.count(index)
    per_class = _group(work, means)
    busy_s = sum_whole([_seconds(len(some), mean) for some, mean in per_class])
    return LLMPreview(
        llm_id=llm.id,
        n_items=len(work) if work else 0,
        n_failed=counts[TrialState.FAILED] if work else 0,
        n_rescored=counts[TrialState.STALE_SCORE] if plan.rescore else 0,
        seconds=None if busy_s is None else busy_s / _concurrency(manager, llm),
        cost_usd=sum_whole(
            [preview_cost(some, mean, costs_of, manager.is_local) for some, mean in per_class]
        ),
    )


def _seconds(n_items: int, mean: Means) -> float | None:
    return None if mean.seconds is None else n_items * mean.seconds


def _concurrency(manager: LLMManager, llm: LLM) -> int:
    try:
        return manager.concurrency(llm)
    except PoorBenchError:
        return 1


CostsOf = Callable[[WorkItem], Iterable[tuple[LLM, float | None]]]
_LOOKED_AT = 20
"""Trials of a class that stand for all of it: their prompts are of like length."""


def preview_cost(
    work: LLMWork, means: Means, costs_of: CostsOf, is_local: Callable[[LLM], bool]
) -> float | None:
    """Estimate US dollars of some trials; None where a price is not known.

    Args:
        work: Trials of one class, at least one.
        means: What stored results say about their tokens.
        costs_of: Returns the LLM and the judges of a trial with the estimated cost of each.
        is_local: Whether an LLM costs nothing where it has no price.
    """
    sample = work.sample(_LOOKED_AT)
    costs = [
        _one(llm, _by_experience(llm, item, means, estimate), is_local)
        for item in sample
        for llm, estimate in costs_of(item)
    ]
    total = sum_whole(costs)
    return None if total is None else total * len(work) / len(sample)


def _by_experience(llm: LLM, item: WorkItem, means: Means, estimate: float | None) -> float | None:
    if llm.id != item.llm.id:
        return estimate
    usage = Usage(prompt_tokens=means.prompt_tokens, completion_tokens=means.completion_tokens)
    known = cost_usd(usage, llm.prices)
    return estimate if known is None else known


def _one(llm: LLM, cost: float | None, is_local: Callable[[LLM], bool]) -> float | None:
    return 0.0 if cost is None and is_local(llm) else cost
