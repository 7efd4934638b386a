"""Pairwise comparison of two judged runs, case by case: plan, resume, budget, storage."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from poor_bench.calls.budget import Budget, find_unpriced, require_prices
from poor_bench.config.judge_settings import load_judge_settings
from poor_bench.errors import ConfigError
from poor_bench.judge.conversation import Conversation
from poor_bench.judge.judge import Judge
from poor_bench.judge.judged_run import JudgeRun
from poor_bench.judge.pairwise import PairwiseJudge, list_shown_texts
from poor_bench.judge.pairwise_results import PairComparison
from poor_bench.judge.registry import choose_judges, load_agent_registry, read_rubric
from poor_bench.judge.run_plan import FORM_CHARACTERS, estimate_request_usd
from poor_bench.judge.storage import JudgementStore, PairwiseStore
from poor_bench.llm_manager import LLMManager
from poor_bench.pool.control import RunControl
from poor_bench.pool.events import JobDone
from poor_bench.pool.pool import JobResult, Pool
from poor_bench.pool.queues import Work
from poor_bench.runs.history import make_run_id

Pair = tuple[Conversation, Conversation]


@dataclass(slots=True)
class PairwiseRun:
    """Compares the conversations of two runs.

    Attributes:
        a: The run whose conversations are called A.
        b: The other one.
        judges: Who says which one is better, each by itself.
        manager: Asks them, one LLM after the other.
        budget: What may be spent; a comparison that might exceed it is not begun.
        made: Comparisons of an interrupted run; they are not made again.
        run_id: Where they are stored; empty before a new run.
        n_again: Pairs that each judge is asked about twice in each order; all if there are fewer.
    """

    a: JudgeRun
    b: JudgeRun
    judges: Sequence[Judge]
    manager: LLMManager
    budget: Budget = field(default_factory=Budget)
    made: Sequence[PairComparison] = ()
    run_id: str = ""
    n_again: int = 0
    _control: RunControl = field(default_factory=RunControl)

    @property
    def pairs(self) -> list[Pair]:
        """The conversations about the same case that came to their end in both runs."""
        talks = [(talk, self.b.conversation(talk.case_id)) for talk in self.a.conversations]
        return [
            (first, second)
            for first, second in talks
            if second is not None and first.failure is None and second.failure is None
        ]

    @property
    def left_out(self) -> list[str]:
        """Ids of the cases that cannot be compared: only one run has them whole."""
        talks = (*self.a.conversations, *self.b.conversations)
        paired = {first.case_id for first, _ in self.pairs}
        ids = dict.fromkeys(talk.case_id for talk in talks)
        return [case_id for case_id in ids if case_id not in paired]

    @property
    def header(self) -> dict[str, Any]:
        """Header of a new run."""
        return {
            "a": self.a.run_id,
            "b": self.b.run_id,
            "judges": [judge.llm.id for judge in self.judges],
            "n_duels": self.n_comparisons,
            "n_again": self.n_again,
        }

    @property
    def n_comparisons(self) -> int:
        """Number of comparisons: each pair before each judge."""
        return len(self.pairs) * len(self.judges)

    def estimate_cost_usd(self) -> float | None:
        """Highest cost in US dollars without repairs; None where a price is unknown."""
        if find_unpriced((judge.llm for judge in self.judges), self.manager.is_local):
            return None
        return sum(
            self._compute_comparison_usd(judge, pair)
            for judge in self.judges
            for pair in self._list_pairs_left(judge)
        )

    @property
    def n_left(self) -> int:
        """Number of comparisons that are not made yet."""
        return sum(len(self._list_pairs_left(judge)) for judge in self.judges)

    def _list_pairs_left(self, judge: Judge) -> list[Pair]:
        made = {item.case_id for item in self.made if item.judge == judge.llm.id}
        return [pair for pair in self.pairs if pair[0].case_id not in made]

    def compare(self) -> Iterator[PairComparison]:
        """Yield each comparison as soon as it is made.

        Raises:
            ConfigError: If the settings of a judge's LLM cannot be used.
        """
        pool = Pool(self.manager, self._control, gives_up=False)
        for judge in self.judges:
            yield from self._compare_by(judge, pool)

    def _compare_by(self, judge: Judge, pool: Pool) -> Iterator[PairComparison]:
        judging = PairwiseJudge(judge, self._instructions, self._control.cancelled)

        def compare(pair: Pair) -> JobResult[PairComparison | None]:
            usd, again = self._compute_comparison_usd(judge, pair), pair[0].case_id in self._again
            return JobResult(
                self.budget.run_within(usd, lambda: judging.compare(*pair, again=again))
            )

        pairs = self._list_pairs_left(judge)
        at_once = self.manager.concurrency(judge.llm)
        work = Work(llm=judge.llm, items=pairs, n_items=len(pairs), concurrency=at_once)
        with closing(pool.run([work], compare)) as events:
            for event in events:
                if isinstance(event, JobDone) and event.value is not None:
                    yield event.value

    def _compute_comparison_usd(self, judge: Judge, pair: Pair) -> float:
        shown = list_shown_texts(self._instructions, [talk.as_case() for talk in pair])
        rubric = judge.rubric
        told = len(rubric.text) + sum(len(item.description) for item in rubric.dimensions)
        n_characters = told + sum(map(len, shown)) + FORM_CHARACTERS
        n_requests = 4 if pair[0].case_id in self._again else 2
        return n_requests * estimate_request_usd(judge.llm, n_characters)

    @property
    def _again(self) -> frozenset[str]:
        """Ids of the cases that are asked about twice: a sample that a resumed run draws, too."""
        ids = sorted(
            (first.case_id for first, _ in self.pairs),
            key=lambda case_id: hashlib.blake2b(case_id.encode(), digest_size=8).digest(),
        )
        return frozenset(ids[: self.n_again])

    @property
    def _instructions(self) -> str:
        """Common instructions of both agents; empty if they differ."""
        orders = self.a.header.system_prompt, self.b.header.system_prompt
        return orders[0] if orders[0] == orders[1] else ""


class PairwiseRunner:
    """Plans and makes pairwise comparisons of one workspace; a library, so it prints nothing.

    Attributes:
        store: Takes every comparison the moment it is made.
    """

    def __init__(self, data_dir: Path) -> None:
        """Prepare without sending requests.

        Args:
            data_dir: The workspace.
        """
        self.store = PairwiseStore(data_dir)
        self._judged_runs = JudgementStore(data_dir)
        self._data_dir = data_dir
        self._manager = LLMManager(data_dir)

    def plan(
        self, references: Sequence[str], judges: tuple[str, ...], *, n_again: int = 0
    ) -> PairwiseRun:
        """Plan the comparison of two judged runs.

        Args:
            references: Both runs, A and B.
            judges: LLM ids; the workspace's judge if empty.
            n_again: As in `PairwiseRun`.

        Raises:
            ConfigError: If a run or judge does not exist, or the runs share no case.
        """
        a, b = (self._judged_runs.find(reference) for reference in references)
        run = PairwiseRun(a, b, self._judges(a, judges), self._manager, n_again=n_again)
        if not run.pairs:
            raise ConfigError(f"{a.run_id} and {b.run_id} share no case")
        return run

    def resume(self, reference: str, judges: tuple[str, ...] = ()) -> PairwiseRun:
        """Plan to go on with a stored comparison: with what is missing, and with what failed.

        Args:
            reference: The comparison, as in `PairwiseStore.find`.
            judges: Replace its judges, such as one that cannot be reached; the same by default.

        Raises:
            ConfigError: As `plan`, or if the comparison does not exist.
        """
        stored = self.store.find(reference)
        runs = stored.a_run_id, stored.b_run_id
        run = self.plan(runs, judges or stored.judges, n_again=stored.n_again)
        return replace(run, made=stored.judged, run_id=stored.run_id)

    def limit_cost(self, run: PairwiseRun, max_cost_usd: float | None) -> None:
        """Skip comparisons that might exceed a limit; None means no limit.

        Raises:
            ConfigError: If the prices of a judge are unknown.
        """
        if max_cost_usd is not None:
            require_prices((judge.llm for judge in run.judges), self._manager.is_local)
            run.budget = Budget(max_cost_usd)

    def run(self, run: PairwiseRun) -> Iterator[PairComparison]:
        """Make the comparisons; yield each as soon as it is stored.

        Raises:
            ConfigError: If the settings of a judge's LLM cannot be used.
            StoreError: If one could not be stored.
        """
        header = None if run.run_id else run.header
        run.run_id = run.run_id or make_run_id(self._manager.clock.now_iso())
        with self.store.writing(run.run_id, header) as store:
            for comparison in run.compare():
                store(comparison)
                yield comparison

    def close(self) -> None:
        """Free models and connections."""
        self._manager.close()

    def _judges(self, run: JudgeRun, names: tuple[str, ...]) -> list[Judge]:
        registry = load_agent_registry(self._data_dir)
        settings = load_judge_settings(self._data_dir)
        rubric, _ = read_rubric(registry.agent(run.header.agent_id))
        llms = choose_judges(names, registry, settings, os.environ)
        return [Judge(llm, self._manager, rubric) for llm in llms]
