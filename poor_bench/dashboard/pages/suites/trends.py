"""Chart of the runs of a suite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dash import dcc, html

from poor_bench.dashboard.components.attributes import aria
from poor_bench.dashboard.components.buttons import image_buttons
from poor_bench.dashboard.components.card import card
from poor_bench.dashboard.figures.style import graph_config
from poor_bench.dashboard.figures.suite_trends import suite_trends
from poor_bench.dashboard.text.figures_text import dollars_text, milliseconds_text
from poor_bench.evaluation.models import EvalSuiteResult

if TYPE_CHECKING:
    from dash.development.base_component import Component

_TITLE = "Trends"
_MOST_RUNS = 50


def trend_card(reports: Sequence[EvalSuiteResult]) -> Component | None:
    """Chart of a suite; None where fewer than two runs have a verdict.

    Args:
        reports: Of one suite, oldest first.
    """
    shown = [report for report in reports if report.total][-_MOST_RUNS:]
    if len(shown) < 2:
        return None
    graph = dcc.Graph(figure=suite_trends(shown), config=graph_config(), className="chart")
    described = html.Div(graph, role="figure", className="suite-trends", **aria(label=_told(shown)))
    return card(
        _TITLE,
        described,
        note="All runs of this suite by time, whatever their cases and models.",
        tools=image_buttons(_TITLE),
    )


def _told(reports: Sequence[EvalSuiteResult]) -> str:
    runs = (
        f"{report.started[:16].replace('T', ' ')}: {report.passed} of {report.total} passed, "
        f"{milliseconds_text(report.avg_duration_ms)}, "
        f"{dollars_text(report.avg_estimated_cost_usd)}"
        for report in reports
    )
    return f"{_TITLE}. {'; '.join(runs)}"
