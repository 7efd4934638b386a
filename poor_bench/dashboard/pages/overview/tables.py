"""The model comparison: which models in which groups, and its columns and rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from poor_bench import metrics
from poor_bench.dashboard.components.badges import rerun_link
from poor_bench.dashboard.components.sheets import head_limits
from poor_bench.dashboard.text.formatting import sentences
from poor_bench.metrics import Metric
from poor_bench.metrics.trust import list_model_notes
from poor_bench.models.llm import LLM, cut_model_name
from poor_bench.statistics.ranking import Coverage, Ranking
from poor_bench.statistics.summary import FloorRow, Summary

GROUPINGS = {
    "": "No groups",
    "provider": "Provider",
    "size": "Size",
    "base": "Base model",
}
"""Value in the address, and how it is called."""
_TOP = 20
TOPS = {top: f"Top {top or _TOP}" for top in ("10", "", "50")} | {"all": "All"}
"""Value in the address, and how it is called."""
_SIZES = (0, 1, 4, 10, 40)
"""Least size of each group, in billions of parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownModels:
    """Models that the search finds, best first.

    Attributes:
        groups: Name and models of each group, in the order of their best models; one group
            without a name where models are not grouped.
        others: Models that have no line or point of their own.
    """

    groups: tuple[tuple[str, tuple[str, ...]], ...]
    others: tuple[str, ...] = ()

    @property
    def llm_ids(self) -> list[str]:
        """All models with a line of their own."""
        return [llm_id for _, llm_ids in self.groups for llm_id in llm_ids]

    @property
    def group_of(self) -> dict[str, str]:
        """Model to the name of its group."""
        return {llm_id: name for name, llm_ids in self.groups for llm_id in llm_ids}


def find_models(llm_ids: Sequence[str], text: str, name_of: Callable[[str], str]) -> list[str]:
    """Find the models whose id or name has all words of a text."""
    words = text.casefold().split()
    return [
        llm_id
        for llm_id in llm_ids
        if all(word in f"{llm_id} {name_of(llm_id)}".casefold() for word in words)
    ]


def show_models(
    llm_ids: Sequence[str], grouping: str, top: str, llms: Mapping[str, LLM]
) -> ShownModels:
    """Group models, and set apart those behind the first ones.

    Args:
        llm_ids: Best first.
        grouping: A key of `GROUPINGS`; others mean no groups.
        top: How many models have a line of their own: a key of `TOPS`.
        llms: Those that are configured, by id.
    """
    n_shown = len(llm_ids) if top == "all" else int(top) if top in TOPS and top else _TOP
    if len(llm_ids) <= n_shown + 1:
        n_shown = len(llm_ids)  # a line for one other would save none
    groups: dict[str, list[str]] = {}
    for llm_id in llm_ids[:n_shown]:
        groups.setdefault(_group(llm_id, llms.get(llm_id), grouping), []).append(llm_id)
    return ShownModels(
        groups=tuple((name, tuple(found)) for name, found in groups.items()),
        others=tuple(llm_ids[n_shown:]),
    )


def _group(llm_id: str, llm: LLM | None, grouping: str) -> str:
    provider, _, name = llm_id.partition(":")
    if grouping == "provider":
        return llm.provider if llm else provider
    if grouping == "size":
        return _size_class(llm.size if llm else None)
    if grouping == "base":
        return cut_model_name(llm.name if llm else name)
    return ""


def _size_class(size: float | None) -> str:
    if size is None:
        return "size unknown"
    limits = pairwise(_SIZES)
    names = (f"{low} to {high} B" for low, high in limits if size < high)
    return next(names, f"{_SIZES[-1]} B or more")


def _metric(field: str, metric: Metric, **further: Any) -> dict[str, Any]:
    """Define the column of a metric: sorted by its value, written as everywhere."""
    return {
        "field": field,
        "headerName": metric.title,
        "headerTooltip": metric.meaning,
        "type": "rightAligned",
        "valueFormatter": {"function": f"params.data.texts['{field}'] || '-'"},
        "tooltipValueGetter": {"function": f"params.data.ns && params.data.ns['{field}']"},
        **({"cellRenderer": "Figure"} if metric.has_basis else {}),
        "sortingOrder": ["desc", "asc"],
        "minWidth": 68,
        "flex": 1,
        **further,
    }


FIGURES = {
    "total_tests": metrics.N_TESTS,
    "average_score": metrics.SCORE,
    "adjusted_score": metrics.ADJUSTED_SCORE,
    "predicted_score": metrics.PREDICTED_SCORE,
    "pass_rate": metrics.PASS_RATE,
    "mean_s": metrics.MEAN_TIME,
    "failed": metrics.N_FAILED,
    "newer_failed": metrics.N_NEWER_FAILED,
    "stale": metrics.N_STALE,
    "median_s": metrics.MEDIAN_TIME,
    "p95_s": metrics.P95_TIME,
    "first_token_s": metrics.FIRST_TOKEN,
    "tokens_per_s": metrics.THROUGHPUT,
    "generation_tokens_per_s": metrics.GENERATION_SPEED,
    "cost_usd": metrics.COST,
    "judge_cost_usd": metrics.JUDGE_COST,
}
"""Field of the table to metric."""
_WIDE: dict[str, dict[str, Any]] = {
    "average_score": {
        "cellRenderer": "ScoreBar", "sort": "desc", "minWidth": 140, "flex": 2, "type": "",
    },
    "total_tests": {"minWidth": 62},
    "pass_rate": {"minWidth": 92, "autoHeight": True},
    "adjusted_score": {"minWidth": 84},
    "mean_s": {"minWidth": 86},
    "median_s": {"minWidth": 84},
    "p95_s": {"minWidth": 84},
    "first_token_s": {"minWidth": 84},
    "tokens_per_s": {"minWidth": 84},
    "generation_tokens_per_s": {"minWidth": 92},
    "failed": {"cellClassRules": {"is-warning": "params.value > 0"}},
    "stale": {"hide": True},  # Status says it
}  # fmt: skip
_COLUMN_OF = {
    field: _metric(field, metric, **_WIDE.get(field, {})) for field, metric in FIGURES.items()
}
COLUMNS: tuple[dict[str, Any], ...] = (
    {
        "field": "model",
        "headerName": "Model",
        "lockVisible": True,
        "cellRenderer": "ModelLink",
        "cellClass": "whole-text",
        "autoHeight": True,
        "minWidth": 200,
        "flex": 4,
        "tooltipField": "model_id",
    },
    _COLUMN_OF.pop("total_tests"),
    _COLUMN_OF.pop("average_score"),
    _COLUMN_OF.pop("pass_rate"),
    _COLUMN_OF.pop("mean_s"),
    {
        "field": "size",
        "headerName": "Size (B)",
        "headerTooltip": "Billions of parameters",
        "type": "rightAligned",
        "valueFormatter": {
            "function": "params.value == null ? '-' : d3.format('.3~r')(params.value)"
        },
        "sortingOrder": ["desc", "asc"],
        "minWidth": 84,
        "flex": 1,
    },
    {
        "field": "status",
        "headerName": "Status",
        "cellRenderer": "TrustBadges",
        "autoHeight": True,
        "minWidth": 120,
        "flex": 2,
        "cellClass": "whole-text",
    },
    _COLUMN_OF.pop("adjusted_score"),
    _COLUMN_OF.pop("predicted_score"),
    *(_COLUMN_OF.pop(field) for field in ("failed", "newer_failed", "stale", "median_s", "p95_s")),
    {
        "field": "latency_ms",
        "headerName": "Latency Split",
        "cellRenderer": "LatencySplit",
        "sortingOrder": ["asc", "desc"],
        "minWidth": 90,
        "flex": 1,
        "headerTooltip": f"Mean: {', '.join(m.label.lower() for m in metrics.LATENCY)}",
    },
    *_COLUMN_OF.values(),
)
"""The columns that the specification names first, and the others behind them."""
INTERVAL = tuple(zip(("low", "high"), head_limits("Score"), strict=True))
"""Field and heading of the interval of a score, in files."""
_GROUP = {"field": "group", "headerName": "Group", "cellClass": "whole-text", "minWidth": 140}
_LETTER = 7.2
"""Width of a letter in pixels."""
_SMALL_LETTER = 6.0
_PADDING = 20
"""Of a cell, left and right together, in pixels."""
_NARROWEST = 930
"""Width of the table in the narrowest window, in pixels."""
_OPTIONAL = frozenset(
    {"status", "latency_ms", *(name for name, m in FIGURES.items() if m.is_optional)}
)


def file_heading(field: str, heading: str) -> str:
    """Choose the heading of a column in files: labels and units as the catalogue has them."""
    if field == "latency_ms":
        return "Latency (ms)"
    return FIGURES[field].file_heading if field in FIGURES else heading


def build_rows(
    summaries: Sequence[Summary],
    llms: Mapping[str, LLM],
    name_of: Callable[[str], str],
    ranking: Ranking,
) -> list[dict[str, Any]]:
    """Build a row for each LLM in order; figures that are not known are None."""
    return [
        _row(summary, llms.get(summary.group.llm_id), name_of)
        | _trust(summary, ranking.coverage[summary.group.llm_id])
        | _latency(summary)
        for summary in ranking.sort(ranking.adjust(summaries))
    ]


def build_floor_rows(floor: Sequence[FloorRow]) -> list[dict[str, Any]]:
    """Build a row for each answer that needs no model and scores, with nothing but its score."""
    return [
        {
            "id": f"floor {row.name}",
            "model": row.name,
            "average_score": row.score,
            "low": row.score,
            "high": row.score,
            "texts": {"average_score": metrics.score_text(row.score)},
            "is_comparable": True,
            "tip": f"{sentences(row.meaning)}.",
        }
        for row in floor
        if row.score > 0
    ]


def columns_for(
    rows: Sequence[Mapping[str, Any]], *, is_grouped: bool = False
) -> list[dict[str, Any]]:
    """Find the columns that some row has anything to say in; names are shown whole.

    Where they do not fit side by side, the names stay in sight.
    """
    shown = [
        column
        for column in COLUMNS
        if column["field"] not in _OPTIONAL or any(row[column["field"]] for row in rows)
    ]
    if is_grouped:
        shown.insert(1, _GROUP)
    if is_grouped or not all(row["is_complete"] for row in rows):
        # The rows come in their order: sorted by the score alone, a model with the easy tests
        # could stand first.
        shown = [{name: column[name] for name in column if name != "sort"} for column in shown]
    longest = max((len(row["model"]) for row in rows), default=0)
    model = {"maxWidth": max(shown[0]["minWidth"], longest * _LETTER + 40)}
    if sum(column["minWidth"] for column in shown) > _NARROWEST:
        model["pinned"] = "left"
    shown = [_measure_height(column, rows) for column in shown]
    return [shown[0] | model, *shown[1:]]


def _measure_height(column: dict[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Let the browser measure cells only where a text may wrap: each makes it lay out the page."""
    if column["field"] != "pass_rate":
        return column
    width = max((len(row["ns"]["pass_rate"]) for row in rows), default=0) * _SMALL_LETTER
    return {**column, "autoHeight": width > column["minWidth"] - _PADDING}


def _row(summary: Summary, llm: LLM | None, name_of: Callable[[str], str]) -> dict[str, Any]:
    score = summary.score
    return {
        "id": summary.group.llm_id,
        "model_id": summary.group.llm_id,
        "model": name_of(summary.group.llm_id),
        "is_configured": llm is not None,
        "low": score.low if score else None,
        "high": score.high if score else None,
        "size": llm.size if llm else None,
        **{field: _scale(metric, summary) for field, metric in FIGURES.items()},
        "texts": {field: metric.show(summary) for field, metric in FIGURES.items()},
        "ns": {field: metric.show_n(summary) for field, metric in FIGURES.items()},
    }


def _scale(metric: Metric, summary: Summary) -> float | None:
    """Value in the unit that the heading names."""
    value = metric.value(summary)
    return value if value is None or metric.scale == 1 else value * metric.scale


def _trust(summary: Summary, coverage: Coverage) -> dict[str, Any]:
    notes = list_model_notes(summary, coverage)
    return {
        "status": ", ".join(note.text for note in notes) or None,
        "notes": notes,
        "rerun": rerun_link(summary),
        "coverage": coverage.text or None,
        "is_complete": coverage.is_complete,
        "is_comparable": coverage.is_comparable,
    }


def _latency(summary: Summary) -> dict[str, Any]:
    parts = summary.parts
    if parts is None:
        return {"latency_ms": None}
    values = [metric.value(summary) or 0.0 for metric in metrics.LATENCY]
    total = sum(values)
    return {
        "latency_ms": total,
        "latency_parts": [ms / total for ms in values] if total else [],
        "latency_text": metrics.latency_text(summary),
    }
