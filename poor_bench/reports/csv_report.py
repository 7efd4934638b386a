"""A row for every result, for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping

from poor_bench.models.result import Result, result_to_record
from poor_bench.models.test import Test

_FIELDS = (
    "llm_id", "test_id", "class_id", "level", "trial", "score", "strict_score", "details",
    "response", "failure", "execution_time_ms", "first_token_ms", "load_ms", "queue_ms",
    "prefill_ms", "decode_ms", "prompt_tokens", "cached_tokens", "completion_tokens",
    "thinking_tokens", "cost_usd", "judge_cost_usd", "finish_reason", "marks", "model_digest",
    "memory_bytes", "gpu_share", "timestamp", "run_id", "sandbox",
)  # fmt: skip
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def results_to_csv(results: Iterable[Result], tests: Mapping[str, Test]) -> str:
    """Return a heading and a row for every result, lines ended as RFC 4180 wants it.

    Args:
        results: Results of `tests`, failures included.
        tests: By test id.
    """
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(_FIELDS)
    for result in results:
        record = result_to_record(result)
        test = tests[result.test_id]
        record |= {"class_id": test.class_id, "level": test.level, "trial": result.trial}
        record["failure"] = result.failure.message if result.failure else ""
        record["judge_cost_usd"] = result.judge_cost_usd
        record["marks"] = " ".join(result.marks)
        writer.writerow([without_formula(record.get(name)) for name in _FIELDS])
    return stream.getvalue()


def without_formula(value: object) -> object:
    """Return a CSV cell that no spreadsheet takes for a formula; numbers stay numbers.

    Source:
        OWASP, "CSV Injection": a text that starts with = + - @ or a control character is
        prefixed with an apostrophe.

    Example:
        >>> without_formula("=1+1"), without_formula(-2)
        ("'=1+1", -2)
    """
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value
