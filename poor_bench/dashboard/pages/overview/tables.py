"""The model comparison and the scores by class: columns, rows and cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import dcc, html

from poor_bench.dashboard.components.blocks import aria
from poor_bench.dashboard.text.formatting import milliseconds_text
from poor_bench.dashboard.url_state import model_link
from poor_bench.messages import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dash.development.base_component import Component

    from poor_bench.dashboard.services.time_split import TimeSplit
    from poor_bench.models.llm import LLM
    from poor_bench.statistics.scores import Coverage
    from poor_bench.statistics.summary import Group, Summary


def _format(specifier: str) -> dict[str, str]:
    return {"function": f"params.value == null ? '-' : d3.format('{specifier}')(params.value)"}


def _number(field: str, heading: str, digits: int = 0, **further: Any) -> dict[str, Any]:
    return {
        "field": field,
        "headerName": heading,
        "type": "rightAligned",
        "valueFormatter": _format(f",.{digits}f"),
        "sortingOrder": ["desc", "asc"],
        "minWidth": 68,
        "flex": 1,
        **further,
    }


COLUMNS: tuple[dict[str, Any], ...] = (
    {
        "field": "model",
        "headerName": "Model",
        "cellRenderer": "ModelLink",
        "cellClass": "whole-text",
        "autoHeight": True,
        "minWidth": 200,
        "flex": 4,
        "tooltipField": "id",
    },
    _number("total_tests", "Total Tests", 0, minWidth=62, headerTooltip="Tests with a score"),
    {
        "field": "average_score",
        "headerName": "Average Score",
        "cellRenderer": "ScoreBar",
        "sort": "desc",
        "sortingOrder": ["desc", "asc"],
        "minWidth": 140,
        "flex": 2,
        "headerTooltip": "Mean over tests, with its 95 % CI",
    },
    _number("pass_rate", "Pass Rate (%)", 1, headerTooltip="Share of trials with full score"),
    _number(
        "mean_s",
        "Average Execution Time (s)",
        2,
        minWidth=86,
        headerTooltip="Mean per trial, without model load",
    ),
    _number(
        "size",
        "Size (B)",
        minWidth=60,
        valueFormatter=_format(".3~r"),
        headerTooltip="Billions of parameters",
    ),
    {
        "field": "coverage",
        "headerName": "Coverage",
        "cellClass": "whole-text",
        "autoHeight": True,
        "minWidth": 150,
        "flex": 2,
        "headerTooltip": "Tests with a score, of all tests scored for any model",
        "cellClassRules": {"is-warning": "!params.data.is_comparable"},
    },
    _number(
        "failed",
        "Failed To Run",
        0,
        headerTooltip="Trials that failed to run and have no score",
        cellClassRules={"is-warning": "params.value > 0"},
    ),
    _number(
        "newer_failed",
        "Newer Attempt Failed",
        0,
        headerTooltip="Scored trials with a failed newer attempt; the stored score counts",
    ),
    _number("median_s", "Median (s)", 2),
    _number(
        "p95_s", "p95 (s)", 2, minWidth=84, headerTooltip="95 % of trials took at most this long"
    ),
    {
        "field": "latency_ms",
        "headerName": "Latency Split",
        "cellRenderer": "LatencySplit",
        "sortingOrder": ["asc", "desc"],
        "minWidth": 90,
        "flex": 1,
        "headerTooltip": "Mean time: queue, prompt processing, generation, other",
    },
    _number(
        "tokens_per_s",
        "Tokens/s",
        0,
        headerTooltip="Throughput: generated tokens per second of execution time",
    ),
    _number(
        "generation_tokens_per_s",
        "Generation tokens/s",
        0,
        minWidth=92,
        headerTooltip="Generated tokens per second of generation time, reported by the server",
    ),
    _number("cost_usd", "Cost ($)", 4),
    _number(
        "judge_cost_usd",
        "Judge ($)",
        4,
        headerTooltip="Cost of judging the responses, not included in Cost",
    ),
)
"""The columns that the specification names first, and the others behind them."""
_LETTER = 7.2
"""Width of a letter in pixels."""
_NARROWEST = 930
"""Width of the table in the narrowest window, in pixels."""
_OPTIONAL = frozenset(
    {
        "coverage",
        "failed",
        "newer_failed",
        "latency_ms",
        "tokens_per_s",
        "generation_tokens_per_s",
        "cost_usd",
        "judge_cost_usd",
    }
)


def rows_of(
    summaries: Sequence[Summary],
    llms: Mapping[str, LLM],
    name_of: Callable[[str], str],
    latency_of: Callable[[str], TimeSplit | None],
    coverage: Mapping[str, Coverage],
) -> list[dict[str, Any]]:
    """Return a row for each LLM, best score first; figures that are not known are None.

    LLMs that were scored on too few of the tests come last: their scores are not comparable.
    """

    def place(row: Summary) -> tuple[bool, float]:
        is_apart = not coverage[row.group.llm_id].is_comparable
        return is_apart, -(row.score.value if row.score else -1.0)

    ordered = sorted(summaries, key=place)
    return [
        _row(summary, llms.get(summary.group.llm_id), name_of)
        | _coverage(coverage[summary.group.llm_id])
        | _latency(latency_of(summary.group.llm_id))
        for summary in ordered
    ]


def columns_for(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the columns that some row has anything to say in; names are shown whole.

    Where they do not fit side by side, the names stay in sight.
    """
    shown = [
        column
        for column in COLUMNS
        if column["field"] not in _OPTIONAL or any(row[column["field"]] for row in rows)
    ]
    if not all(row["is_comparable"] for row in rows):
        # The rows come in their order: sorted by the score alone, a model that is not comparable
        # could stand first.
        shown = [{name: column[name] for name in column if name != "sort"} for column in shown]
    longest = max((len(row["model"]) for row in rows), default=0)
    model = {"maxWidth": max(shown[0]["minWidth"], longest * _LETTER + 40)}
    if sum(column["minWidth"] for column in shown) > _NARROWEST:
        model["pinned"] = "left"
    return [shown[0] | model, *shown[1:]]


def _row(summary: Summary, llm: LLM | None, name_of: Callable[[str], str]) -> dict[str, Any]:
    score, passed, time = summary.score, summary.pass_rate, summary.time
    return {
        "id": summary.group.llm_id,
        "model": name_of(summary.group.llm_id),
        "is_configured": llm is not None,
        "average_score": score.value if score else None,
        "low": score.low if score else None,
        "high": score.high if score else None,
        "pass_rate": passed.value * 100 if passed else None,
        "total_tests": summary.n_tests,
        "failed": summary.n_failed,
        "newer_failed": summary.n_newer_failed,
        "mean_s": time.mean_ms / 1000 if time else None,
        "median_s": time.median_ms / 1000 if time else None,
        "p95_s": time.p95_ms / 1000 if time else None,
        "tokens_per_s": summary.tokens_per_s,
        "generation_tokens_per_s": summary.generation_tokens_per_s,
        "cost_usd": summary.cost_usd,
        "judge_cost_usd": summary.judge_cost_usd,
        "size": llm.size if llm else None,
    }


def _coverage(coverage: Coverage) -> dict[str, Any]:
    is_partial = 0 < coverage.n_tests < coverage.n_all
    return {
        "coverage": coverage.text if is_partial else None,
        "is_comparable": coverage.is_comparable,
    }


def _latency(split: TimeSplit | None) -> dict[str, Any]:
    if split is None or not split.n:
        return {"latency_ms": None}
    parts = {
        "queue": split.queue_ms,
        "prompt processing": split.prefill_ms,
        "generation": split.decode_ms,
        "other": split.other_ms,
    }
    told = [f"{name} {milliseconds_text(ms)}" for name, ms in parts.items() if ms]
    if split.load_ms:
        told.append(f"model load (not included) {milliseconds_text(split.load_ms)}")
    told.append(f"mean of {counted(split.n, 'trial')}")
    total = sum(parts.values())
    return {
        "latency_ms": total,
        "latency_parts": [ms / total for ms in parts.values()] if total else [],
        "latency_text": ", ".join(told),
    }


Column = tuple[str, int | None]
"""Class id, and level or None for all levels."""


def columns_of(summaries: Sequence[Summary]) -> list[Column]:
    """Return the columns that the summaries fill, in the order of classes, then levels."""
    classes = list(dict.fromkeys(summary.group.class_id or "" for summary in summaries))
    columns = {(summary.group.class_id or "", summary.group.level) for summary in summaries}
    return sorted(columns, key=lambda column: (classes.index(column[0]), column[1] or 0))


def heat_map(
    summaries: Sequence[Summary], llm_ids: Sequence[str], name_of: Callable[[str], str]
) -> Component:
    """Return a table with a coloured cell for each LLM and class (or class and level).

    Args:
        summaries: Rows by LLM and class, or by LLM, class and level.
        llm_ids: The lines, in their order.
        name_of: LLM id to what screens call it.
    """
    columns = columns_of(summaries)
    by_group = {_key(summary.group): summary for summary in summaries}
    head = html.Tr([html.Th("Model", scope="col"), *(_column_head(column) for column in columns)])
    body = [
        html.Tr(
            [
                html.Th(dcc.Link(name_of(llm_id), href=model_link(llm_id)), scope="row"),
                *(_cell(llm_id, column, by_group) for column in columns),
            ]
        )
        for llm_id in llm_ids
    ]
    return html.Div(
        html.Table([html.Thead(head), html.Tbody(body)], className="heat-map"),
        className="heat-map-frame",
        tabIndex="0",
        role="region",
        **aria(label="Scores by model and class"),
    )


def _key(group: Group) -> tuple[str, str, int | None]:
    return group.llm_id, group.class_id or "", group.level


def _column_head(column: Column) -> Component:
    class_id, level = column
    name = class_id.replace("_", " ") or "unknown class"
    lines = [html.Span(name)]
    if level is not None:
        lines.append(html.Span(f"level {level}", className="heat-map-level"))
    return html.Th(lines, scope="col", title=class_id)


def _cell(
    llm_id: str, column: Column, by_group: Mapping[tuple[str, str, int | None], Summary]
) -> Component:
    class_id, level = column
    summary = by_group.get((llm_id, class_id, level))
    if summary is None or summary.score is None:
        text = "failed" if summary is not None else "-"
        return html.Td(html.Span(text, className="heat-cell is-empty"))
    score = summary.score
    title = (
        f"score {score.value:.3f} (95 % CI {score.low:.2f} to {score.high:.2f}), "
        f"{summary.n_passed} of {summary.n_scored} passed, {summary.n_failed} failed to run"
    )
    return html.Td(
        dcc.Link(
            f"{score.value:.2f}",
            href=model_link(llm_id, classes=[class_id], levels=[] if level is None else [level]),
            className="heat-cell",
            title=title,
            style={"--score": f"{score.value:.3f}"},
        )
    )
