"""Where the time of each LLM goes."""

from __future__ import annotations

from typing import NamedTuple

from poor_bench.reports.html.scale import percent
from poor_bench.reports.number_text import count_text, memory_text, time_text
from poor_bench.reports.report_data import ReportData
from poor_bench.statistics.effort import Effort, TimeParts


class Segment(NamedTuple):
    """One phase of the mean trial."""

    kind: str
    """Name of the phase, and of its colour."""
    x: str
    width: str
    title: str


class TimeBar(NamedTuple):
    """One LLM; texts are empty where nothing is known."""

    name: str
    segments: list[Segment]
    total_text: str
    p95_text: str
    load_text: str
    n_text: str
    """How many trials the mean and its parts are over."""
    read_speed_text: str
    write_speed_text: str
    memory_text: str
    tokens: list[str]
    """Sums of prompt, of them cached, generated, and of them thinking."""


def time_bars(data: ReportData) -> list[TimeBar]:
    """Return a bar for every LLM whose server tells the phases, best score first."""
    efforts = {effort.llm_id: effort for effort in data.efforts}
    ordered = [efforts[summary.group.llm_id] for summary in data.summaries()]
    split = [(effort, effort.parts) for effort in ordered if effort.parts is not None]
    longest = max((sum(_phases(parts).values()) for _, parts in split), default=0.0)
    return [_bar(effort, parts, longest, data) for effort, parts in split]


def _phases(parts: TimeParts) -> dict[str, float]:
    return {
        "queue": parts.queue_ms,
        "prefill": parts.prefill_ms,
        "thinking": parts.thinking_ms,
        "answer": parts.answer_ms,
        "other": parts.other_ms,
    }


def _bar(effort: Effort, parts: TimeParts, longest: float, data: ReportData) -> TimeBar:
    segments = []
    start = 0.0
    for kind, milliseconds in _phases(parts).items():
        if milliseconds > 0:
            place, width = percent(start / longest), percent(milliseconds / longest)
            segments.append(Segment(kind, place, width, f"{kind}: {time_text(milliseconds)}"))
            start += milliseconds
    load = f"{time_text(effort.mean_load_ms)} x {effort.n_loads}" if effort.n_loads else ""
    return TimeBar(
        name=data.name(effort.llm_id),
        segments=segments,
        total_text=time_text(start),
        p95_text=time_text(effort.p95_ms),
        load_text=load,
        n_text=str(parts.n),
        read_speed_text=count_text(effort.prefill_tokens_per_s),
        write_speed_text=count_text(effort.decode_tokens_per_s),
        memory_text=memory_text(effort.memory_bytes, effort.gpu_share),
        tokens=[
            count_text(effort.prompt_tokens),
            count_text(effort.cached_tokens),
            count_text(effort.completion_tokens),
            count_text(effort.thinking_tokens),
        ],
    )
