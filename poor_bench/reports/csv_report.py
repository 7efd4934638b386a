"""A row for every result, for spreadsheets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from poor_bench.models.result import Result, result_to_record
from poor_bench.models.test import Test
from poor_bench.reports.csv_table import csv_text

_FIELDS = (
    "llm_id", "test_id", "class_id", "level", "trial", "score", "strict_score", "details",
    "response", "failure", "execution_time_ms", "first_token_ms", "load_ms", "queue_ms",
    "prefill_ms", "decode_ms", "prompt_tokens", "cached_tokens", "completion_tokens",
    "thinking_tokens", "cost_usd", "judge_cost_usd", "finish_reason", "marks", "model_digest",
    "memory_bytes", "gpu_share", "timestamp", "run_id", "sandbox",
)  # fmt: skip


def results_to_csv(results: Iterable[Result], tests: Mapping[str, Test]) -> str:
    """Write a heading and a row for every result.

    Args:
        results: Results of `tests`, failures included.
        tests: By test id.
    """
    rows = (_row(result, tests[result.test_id]) for result in results)
    return csv_text([(name, name) for name in _FIELDS], rows)


def _row(result: Result, test: Test) -> dict[str, Any]:
    return {
        **result_to_record(result),
        "class_id": test.class_id,
        "level": test.level,
        "trial": result.trial,
        "failure": result.failure.message if result.failure else "",
        "judge_cost_usd": result.judge_cost_usd,
        "marks": " ".join(result.marks),
    }
