"""One trial from prompt to result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from poor_bench.config.workspace import Workspace
from poor_bench.errors import RecordedError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import Completion
from poor_bench.models.failure import WAITS_FOR_JUDGE, Failure, FailureKind
from poor_bench.models.llm import Prices
from poor_bench.models.result import Result
from poor_bench.prompts.request import build_request
from poor_bench.runner.plan import WorkItem
from poor_bench.runner.recording import recorded
from poor_bench.runner.scorer import Scorer
from poor_bench.scoring.cost import cost_usd
from poor_bench.scoring.fingerprint import request_fingerprint
from poor_bench.scoring.verdict import KEY_HIDDEN, PROMPT_TRUNCATED


class Executor:
    """Runs trials, one call each; called from several threads."""

    def __init__(
        self,
        workspace: Workspace,
        manager: LLMManager,
        scorer: Scorer,
        *,
        judge_later: bool = False,
    ) -> None:
        """Ask nobody yet.

        Args:
            workspace: The test classes.
            manager: Asks the LLMs.
            scorer: Scores the responses.
            judge_later: Whether responses that an LLM has to judge are left waiting for it.
        """
        self._workspace = workspace
        self._manager = manager
        self._scorer = scorer
        self._judge_later = judge_later

    def execute(
        self, item: WorkItem, run_id: str, cancelled: Callable[[], bool]
    ) -> tuple[Result, RecordedError | None]:
        """Ask and score one trial.

        Returns:
            The result, and the error where the result is a failure that was foreseen.

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

        def failed(kind: FailureKind, message: str, attempts: int) -> Result:
            hidden = self._manager.without_key(item.llm, message)
            failure = Failure(kind=kind, message=hidden, attempts=attempts)
            base.setdefault("timestamp", self._manager.clock.now_iso())
            return Result(**base, failure=failure)

        return recorded(lambda: self._ask_and_score(item, base, cancelled), failed)

    def _ask_and_score(
        self, item: WorkItem, base: dict[str, Any], cancelled: Callable[[], bool]
    ) -> Result:
        test_class = self._workspace.test_classes[item.test.class_id]
        request = build_request(item.llm, test_class, item.test)
        messages = request.messages
        base |= {
            "prompt": self._manager.without_key(item.llm, messages[-1].content),
            "system_prompt": self._manager.without_key(
                item.llm, messages[0].content if len(messages) > 1 else ""
            ),
            "request_fingerprint": request_fingerprint(item.llm, request),
        }
        completion = self._manager.complete(item.llm, messages, cancelled, request.parameters)
        base |= _facts_of(completion, item.llm.prices)
        base["timestamp"] = self._manager.clock.now_iso()
        answered = Result(**base)
        if self._judge_later and self._scorer.needs_judge(answered, item.test):
            return replace(answered, failure=WAITS_FOR_JUDGE)
        return self._scorer.scored(answered, item.test, cancelled)


def _facts_of(completion: Completion, prices: Prices) -> dict[str, Any]:
    """Return what a completion tells beyond its score, as fields of a result."""
    usage, timing = completion.usage, completion.timing
    marks = {PROMPT_TRUNCATED: completion.prompt_truncated, KEY_HIDDEN: completion.key_hidden}
    return {
        "response": completion.text,
        "thinking": completion.thinking,
        "finish_reason": completion.finish_reason.value,
        "marks": tuple(mark for mark, applies in marks.items() if applies),
        "execution_time_ms": round(timing.total_ms - (timing.load_ms or 0.0), 3),
        "first_token_ms": timing.first_token_ms,
        "load_ms": timing.load_ms,
        "queue_ms": timing.queue_ms,
        "prefill_ms": timing.prefill_ms,
        "decode_ms": timing.decode_ms,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "thinking_tokens": usage.thinking_tokens,
        "cached_tokens": usage.cached_tokens,
        "cost_usd": cost_usd(usage, prices),
        "model_digest": completion.model_digest,
        "memory_bytes": completion.memory_bytes,
        "gpu_share": completion.gpu_share,
    }
