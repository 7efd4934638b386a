"""One trial from prompt to result: the only place that catches everything."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from poor_bench.config.workspace import Workspace
from poor_bench.errors import PluginError, PoorBenchError, RecordedError, RunCancelledError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import Completion
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.llm import Prices
from poor_bench.models.result import Result
from poor_bench.prompts.request import build_request
from poor_bench.runner.plan import WorkItem
from poor_bench.runner.scorer import Scorer
from poor_bench.scoring.cost import cost_usd
from poor_bench.scoring.fingerprint import request_fingerprint
from poor_bench.scoring.no_answer import PROMPT_TRUNCATED


class Executor:
    """Runs trials, one call each; called from several threads."""

    def __init__(
        self,
        workspace: Workspace,
        manager: LLMManager,
        scorer: Scorer,
    ) -> None:
        self._workspace = workspace
        self._manager = manager
        self._scorer = scorer

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
        try:
            return self._ask_and_score(item, base, cancelled), None
        except RunCancelledError:
            raise
        except RecordedError as error:
            return self._failed(base, error.kind, str(error), getattr(error, "attempts", 1)), error
        except PluginError as error:
            return self._failed(base, FailureKind.EVALUATOR, str(error), 1), None
        except PoorBenchError as error:
            return self._failed(base, FailureKind.SETTINGS, str(error), 1), None
        except Exception as error:  # noqa: BLE001 - a bug of ours must not end the run
            return self._failed(base, FailureKind.INTERNAL, _where(error), 1), None

    def _ask_and_score(
        self, item: WorkItem, base: dict[str, Any], cancelled: Callable[[], bool]
    ) -> Result:
        test_class = self._workspace.test_classes[item.test.class_id]
        request = build_request(item.llm, test_class, item.test)
        messages = request.messages
        base |= {
            "prompt": messages[-1].content,
            "system_prompt": messages[0].content if len(messages) > 1 else "",
            "request_fingerprint": request_fingerprint(item.llm, request),
        }
        completion = self._manager.complete(item.llm, messages, cancelled, request.parameters)
        base |= _facts_of(completion, item.llm.prices)
        base["timestamp"] = self._manager.clock.now_iso()
        return self._scorer.scored(Result(**base), item.test)

    def _failed(
        self, base: dict[str, Any], kind: FailureKind, message: str, attempts: int
    ) -> Result:
        failure = Failure(kind=kind, message=message, attempts=attempts)
        base.setdefault("timestamp", self._manager.clock.now_iso())
        return Result(**base, failure=failure)


def _facts_of(completion: Completion, prices: Prices) -> dict[str, Any]:
    """Return what a completion tells beyond its score, as fields of a result."""
    usage, timing = completion.usage, completion.timing
    marks = (PROMPT_TRUNCATED,) if completion.prompt_truncated else ()
    return {
        "response": completion.text,
        "thinking": completion.thinking,
        "finish_reason": completion.finish_reason.value,
        "marks": marks,
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


def _where(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {error}{place}"
