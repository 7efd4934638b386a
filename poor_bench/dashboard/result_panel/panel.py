"""What the result panel shows of one result, from top to bottom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench import metrics
from poor_bench.dashboard.components.blocks import figures_list
from poor_bench.dashboard.result_panel.answer import build_answer, build_thinking
from poor_bench.dashboard.result_panel.links import build_links
from poor_bench.dashboard.result_panel.others import build_others
from poor_bench.dashboard.result_panel.prompt import build_prompt
from poor_bench.dashboard.result_panel.verdict import build_expected, build_verdict
from poor_bench.results.query import think_to_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from dash.development.base_component import Component

    from poor_bench.dashboard.services.panel_results import PanelResult
    from poor_bench.models.result import Result


def build_title(panel: PanelResult) -> list[Component]:
    """Name the result that is open."""
    details, result = panel.details, panel.details.result
    level = f" · level {details.level}" if details.level is not None else ""
    trial = f" · trial {result.trial}" if result.trial > 1 else ""
    return [
        html.H2(result.test_id),
        html.P(f"{details.class_id or 'removed test'}{level}{trial}"),
    ]


def build_panel(panel: PanelResult, name_of: Callable[[str], str] = str) -> list[Component | None]:
    """Build everything about one result, for `still`.

    Args:
        panel: The result with what belongs to it.
        name_of: Model id to what screens call it.
    """
    answer, expected = build_answer(panel.details), build_expected(panel)
    reported = panel.reported
    return [
        build_links(panel),
        html.Div(["Reported as wrong: ", reported], className="failure-box") if reported else None,
        build_prompt(panel),
        html.Div([answer, expected], className="answer-and-expected"),
        build_verdict(panel),
        build_thinking(panel.details),
        build_others(panel, name_of),
        html.Section([html.H3("Figures"), _figures(panel.details.result)]),
    ]


def _figures(result: Result) -> Component:
    figures = {
        **{metric.label: metric.show_trial(result) for metric in metrics.TRIAL},
        "Finish reason": result.finish_reason or "-",
        "Answer format": result.found or "-",
        "Sandbox": result.sandbox or "-",
        "Think": think_to_text(result.think),
        "Time of request": result.timestamp[:19].replace("T", " "),
        "Run": result.run_id or "-",
    }
    return figures_list(figures)
