"""The heat map of LLMs by classes."""

from __future__ import annotations

from typing import NamedTuple

from poor_bench.messages import counted
from poor_bench.reports.html.scale import heat_step
from poor_bench.reports.report_data import ReportData
from poor_bench.statistics.summary import GroupBy


class HeatCell(NamedTuple):
    """One LLM on one class."""

    class_id: str
    step: int | None
    """Step of the palette; None where nothing was scored."""
    text: str
    title: str


class HeatRow(NamedTuple):
    """One LLM."""

    llm_id: str
    name: str
    cells: list[HeatCell]


def heat_map(data: ReportData) -> list[HeatRow]:
    """Return a row for every LLM, best score first, and in it a cell for every class."""
    summaries = {
        (row.group.llm_id, row.group.class_id): row for row in data.summaries(GroupBy.LLM_CLASS)
    }
    rows = []
    for summary in data.summaries():
        llm_id = summary.group.llm_id
        cells = []
        for class_id in data.class_ids:
            part = summaries.get((llm_id, class_id))
            score = part.score if part else None
            if part is None or score is None:
                cells.append(HeatCell(class_id, None, "", "nothing scored"))
                continue
            title = f"{score.low:.2f} to {score.high:.2f}, {counted(score.n, 'test')}"
            cells.append(HeatCell(class_id, heat_step(score.value), f"{score.value:.2f}", title))
        rows.append(HeatRow(llm_id, data.name(llm_id), cells))
    return rows
