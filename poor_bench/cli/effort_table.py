"""The table of times, tokens and memory that `report --format times` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from poor_bench.cli.output import plain_table
from poor_bench.reports.number_text import cost_text, count_text, memory_text, time_text

if TYPE_CHECKING:
    from rich.table import Table

    from poor_bench.statistics.effort import Effort


def effort_table(efforts: Sequence[Effort], names: Mapping[str, str]) -> Table:
    """Return a table with a row per LLM; parts of the time are means over its trials.

    Args:
        efforts: What the trials of each LLM took, at least one.
        names: LLM id to what screens call it.
    """
    rows = [
        {"Model": names.get(effort.llm_id, effort.llm_id), **_cells(effort)} for effort in efforts
    ]
    shown = [name for name in rows[0] if any(row[name] for row in rows)]
    columns = [(name, "left" if name == "Model" else "right") for name in shown]
    return plain_table(columns, [[row[name] for name in shown] for row in rows])


def _cells(effort: Effort) -> dict[str, str]:
    """Return a row by heading; a column that is empty in every row is left out."""
    return {
        "Trials": str(effort.n_timed),
        "Median": time_text(effort.median_ms),
        "p95": time_text(effort.p95_ms),
        "Load": time_text(effort.mean_load_ms),
        **_parts(effort),
        "Split over": str(effort.parts.n) if effort.parts else "",
        "Prompt tokens/s": count_text(effort.prefill_tokens_per_s),
        "Generation tokens/s": count_text(effort.decode_tokens_per_s),
        "Prompt tokens": count_text(effort.prompt_tokens),
        "Cached": count_text(effort.cached_tokens),
        "Completion": count_text(effort.completion_tokens),
        "Of thinking": count_text(effort.thinking_tokens),
        "Cost": cost_text(effort.cost_usd),
        "Judge": cost_text(effort.judge_cost_usd),
        "Memory": memory_text(effort.memory_bytes, effort.gpu_share),
    }


def _parts(effort: Effort) -> dict[str, str]:
    parts = effort.parts
    times = {
        "Queue": parts.queue_ms if parts else 0.0,
        "Prefill": parts.prefill_ms if parts else 0.0,
        "Thinking": parts.thinking_ms if parts else 0.0,
        "Answer": parts.answer_ms if parts else 0.0,
        "Other": parts.other_ms if parts else 0.0,
    }
    return {name: time_text(time) if time >= 1 else "" for name, time in times.items()}
