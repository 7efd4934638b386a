"""The jobs of a run: ask and score one trial, judge one response; and about what they will cost."""

from __future__ import annotations

import traceback
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from poor_bench.config.load import Workspace
from poor_bench.errors import PluginError, PoorBenchError, RecordedError, RunCancelledError
from poor_bench.judge.judgement import JudgeError
from poor_bench.judge.response_judging import WorkspaceJudges
from poor_bench.llm_manager import LLMManager
from poor_bench.messages import cut_text
from poor_bench.models.completion import ChatRequest, Completion, cost_usd, estimate_cost_usd
from poor_bench.models.failure import WAITS_FOR_JUDGE, Failure, FailureKind
from poor_bench.models.llm import LLM, Prices
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.pool.queues import Work
from poor_bench.prompts import build_request, request_fingerprint
from poor_bench.runner.plan import LLMWork, Plan, WorkItem
from poor_bench.runner.scorer import Scorer
from poor_bench.scoring.verdict import KEY_HIDDEN, PROMPT_TRUNCATED

_LONGEST_MESSAGE = 4000
_LONGEST_ERROR = 3000
Recorded = tuple[Result, RecordedError | None]
"""A result, and the error where the result is a failure that was foreseen."""
Answer = Callable[[WorkItem, ChatRequest, Callable[[], bool]], Completion]
"""Answers one request; raises as `LLMManager.complete`. The last argument tells when to stop."""


class TrialJobs:
    """Asks and scores trials, one call each; called from several threads."""

    def __init__(
        self,
        workspace: Workspace,
        manager: LLMManager,
        scorer: Scorer,
        *,
        judge_later: bool = False,
        build: Callable[[WorkItem], ChatRequest] | None = None,
        answer: Answer | None = None,
    ) -> None:
        """Prepare to ask.

        Args:
            workspace: The test classes.
            manager: Asks the LLMs.
            scorer: Scores the responses.
            judge_later: True if responses that an LLM has to judge are left waiting for it.
            build: Builds the request of a trial; by default from the templates of the workspace.
            answer: Answers the request of a trial; by default its LLM.
        """
        self._workspace = workspace
        self._manager = manager
        self._scorer = scorer
        self._judge_later = judge_later
        self._build = build or self._build_request
        self._answer = answer or self._call

    def run(self, item: WorkItem, run_id: str, cancelled: Callable[[], bool]) -> Recorded:
        """Ask and score one trial.

        Raises:
            RunCancelledError: If `cancelled()` turned true; the trial stays pending.
        """
        base: dict[str, Any] = {
            "llm_id": item.llm.id,
            "test_id": item.test.test_id,
            "trial": item.trial,
            "think": item.llm.think,
            "run_id": run_id,
        }

        def fail(failure: Failure) -> Result:
            hidden = self._manager.without_key(item.llm, failure.message)
            base.setdefault("timestamp", self._manager.clock.now_iso())
            return Result(**base, failure=replace(failure, message=hidden))

        return record_errors(lambda: self._ask_and_score(item, base, cancelled), fail)

    def cut(self, work: LLMWork) -> Iterator[Sequence[WorkItem]]:
        """Divide the trials of an LLM into jobs, each made when a slot is free for it."""
        return ((item,) for item in work.items())

    def run_each(
        self, items: Sequence[WorkItem], run_id: str, cancelled: Callable[[], bool]
    ) -> Generator[Recorded, None, None]:
        """Ask and score the trials of a job; raises as `run`."""
        for item in items:
            yield self.run(item, run_id, cancelled)

    def _ask_and_score(
        self, item: WorkItem, base: dict[str, Any], cancelled: Callable[[], bool]
    ) -> Result:
        request = self._build(item)
        messages = request.messages
        base |= {
            "prompt": self._manager.without_key(item.llm, messages[-1].content),
            "system_prompt": self._manager.without_key(
                item.llm, messages[0].content if len(messages) > 1 else ""
            ),
            "request_fingerprint": request_fingerprint(item.llm, request),
        }
        completion = self._answer(item, request, cancelled)
        base |= collect_facts(completion, item.llm.prices)
        base["timestamp"] = self._manager.clock.now_iso()
        answered = Result(**base)
        if self._judge_later and self._scorer.needs_judge(answered, item.test):
            return replace(answered, failure=WAITS_FOR_JUDGE)
        return self._scorer.score(answered, item.test, cancelled)

    def _call(
        self, item: WorkItem, request: ChatRequest, cancelled: Callable[[], bool]
    ) -> Completion:
        return self._manager.complete(item.llm, request.messages, cancelled, request.parameters)

    def _build_request(self, item: WorkItem) -> ChatRequest:
        test_class = self._workspace.test_classes[item.test.class_id]
        return build_request(item.llm, test_class, item.test)


def collect_facts(completion: Completion, prices: Prices) -> dict[str, Any]:
    """Collect what a completion tells beyond its score, as fields of a result."""
    usage, timing = completion.usage, completion.timing
    is_live = not completion.via
    marks = {PROMPT_TRUNCATED: completion.prompt_truncated, KEY_HIDDEN: completion.key_hidden}
    return {
        "response": completion.text,
        "thinking": completion.thinking,
        "finish_reason": completion.finish_reason.value,
        "marks": tuple(mark for mark, applies in marks.items() if applies),
        "via": completion.via,
        "execution_time_ms": (
            round(timing.total_ms - (timing.load_ms or 0.0), 3) if is_live else None
        ),
        "first_token_ms": timing.first_token_ms,
        "load_ms": timing.load_ms,
        "queue_ms": timing.queue_ms,
        "prefill_ms": timing.prefill_ms,
        "decode_ms": timing.decode_ms,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "thinking_tokens": usage.thinking_tokens,
        "cached_tokens": usage.cached_tokens,
        "cost_usd": cost_usd(usage, prices if is_live else prices.for_batch()),
        "model_digest": completion.model_digest,
        "machine": completion.machine,
        "memory_bytes": completion.memory_bytes,
        "gpu_share": completion.gpu_share,
    }


class JudgeItem(NamedTuple):
    """A stored response that is scored again, or waits for its judge."""

    result: Result
    test: Test


class JudgeWork(NamedTuple):
    """All responses that wait for one judge."""

    llm: LLM
    waiting: Sequence[JudgeItem]

    def for_pool(self) -> Work[JudgeItem]:
        """Describe it to a pool."""
        return Work(llm=self.llm, items=self.waiting, n_items=len(self.waiting))


def group_by_judge(
    waiting: Sequence[Result], test_of: Callable[[Result], Test], scorer: Scorer
) -> list[JudgeWork]:
    """Group the responses that wait by the LLM that judges them first.

    Raises:
        ConfigError: If a judge cannot be used.
    """
    by_judge: dict[str, tuple[LLM, list[JudgeItem]]] = {}
    for result in waiting:
        item = JudgeItem(result, test_of(result))
        llm = scorer.find_judge(item.test)
        by_judge.setdefault(llm.id, (llm, []))[1].append(item)
    return [JudgeWork(llm, items) for llm, items in by_judge.values()]


def score_again(
    item: JudgeItem, scorer: Scorer, cancelled: Callable[[], bool] = lambda: False
) -> Recorded:
    """Score a stored response, by its judge if it has one; a failure keeps it for another try.

    Raises:
        RunCancelledError: If `cancelled()` turned true, or the budget is too small.
    """
    answered = replace(item.result, failure=None)
    result, error = record_errors(
        lambda: scorer.score(answered, item.test, cancelled),
        lambda failure: replace(item.result, score=None, failure=failure),
    )
    if isinstance(error, JudgeError):
        fallback = error.fallback
        samples = [fallback.as_dict()]
        judgement = {"judge": fallback.judge, "cost_usd": fallback.cost_usd, "samples": samples}
        result = replace(result, judgement=judgement)
    return result, error


def record_errors(make: Callable[[], Result], fail: Callable[[Failure], Result]) -> Recorded:
    """Make a result; an error becomes a failure. The only place of a run that catches everything.

    Raises:
        RunCancelledError: If the run was cancelled; the trial stays pending.
    """
    try:
        return make(), None
    except RunCancelledError:
        raise
    except RecordedError as error:
        attempts = getattr(error, "attempts", 1)
        return fail(_describe(error.kind, str(error), attempts)), error
    except PluginError as error:
        return fail(_describe(FailureKind.EVALUATOR, str(error))), None
    except PoorBenchError as error:
        return fail(_describe(FailureKind.SETTINGS, str(error))), None
    except Exception as error:  # noqa: BLE001 - a bug of ours must not end the run
        return fail(_describe(FailureKind.INTERNAL, _locate(error))), None


def _describe(kind: FailureKind, message: str, attempts: int = 1) -> Failure:
    bounded = cut_text(message, _LONGEST_MESSAGE)
    return Failure(kind=kind, message=bounded, attempts=attempts)


def _locate(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {str(error)[:_LONGEST_ERROR]}{place}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """About what a run will cost; prompts are counted by their length, replies by experience."""

    usd: float
    """Of all LLMs and judges together whose prices are known."""
    unpriced: tuple[LLM, ...]
    """LLMs and judges whose prices are not known, as of all local ones."""


def estimate_cost(
    plan: Plan, workspace: Workspace, scorer: Scorer, judges: WorkspaceJudges
) -> CostEstimate:
    """Estimate what a plan will cost, without requests.

    Raises:
        ConfigError: If a judge or a rubric cannot be used.
    """
    items = (item for work in plan.works for item in work.items())
    return _add_up(
        cost for item in items for cost in estimate_costs(item, workspace, scorer, judges)
    )


def estimate_judging(
    waiting: Iterable[JudgeItem], scorer: Scorer, judges: WorkspaceJudges
) -> CostEstimate:
    """Estimate what judging stored responses will cost, without requests.

    Raises:
        ConfigError: If a judge or a rubric cannot be used.
    """
    return _add_up(
        (judges.find_llm(question), judges.estimate_cost_usd(question, item.result.prompt))
        for item in waiting
        for question in scorer.questions(item.test)
    )


def _add_up(costs: Iterable[tuple[LLM, float | None]]) -> CostEstimate:
    totals: defaultdict[str, float] = defaultdict(float)
    llms: dict[str, LLM] = {}
    for llm, usd in costs:
        llms[llm.id] = llm
        if usd is not None:
            totals[llm.id] += usd
    unpriced = tuple(llm for llm_id, llm in llms.items() if llm_id not in totals)
    return CostEstimate(usd=sum(totals.values()), unpriced=unpriced)


def estimate_costs(
    item: WorkItem, workspace: Workspace, scorer: Scorer, judges: WorkspaceJudges
) -> Iterator[tuple[LLM, float | None]]:
    """Yield the LLM of a trial, then its judges, each with US dollars or None without a price.

    Raises:
        ConfigError: If a judge or a rubric cannot be used.
    """
    request = build_request(item.llm, workspace.test_classes[item.test.class_id], item.test)
    limit = request.parameters.get("max_tokens")
    max_tokens = limit if isinstance(limit, int) else None
    yield item.llm, estimate_cost_usd(item.llm.prices, request.messages, max_tokens)
    for question in scorer.questions(item.test):
        prompt = request.messages[-1].content
        yield judges.find_llm(question), judges.estimate_cost_usd(question, prompt)
