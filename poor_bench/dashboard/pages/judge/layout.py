"""The page without its data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dash_mantine_components as dmc
from dash import dcc, html

from poor_bench.command_line import next_command
from poor_bench.dashboard.components.buttons import csv_button
from poor_bench.dashboard.components.card import card, page_head
from poor_bench.dashboard.components.states import empty_state, loading_state
from poor_bench.dashboard.components.stay_link import StayLinks
from poor_bench.dashboard.pages.judge.ids import JudgeIds as Ids
from poor_bench.dashboard.pages.judge.ids import LabelIds, StartIds
from poor_bench.dashboard.pages.judge.run_card import run_frame
from poor_bench.dashboard.pages.judge.selection import selection_in
from poor_bench.dashboard.pages.judge.start_form import start_form

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.links import Search

CLOCK_MS = 1000
LINKS = StayLinks(Ids.SEARCH)
THIS_CASE = "this conversation"
"""Default subject of the form."""


def layout(search: Search) -> Component:
    """Build the page without data."""
    return html.Div(
        [
            page_head("Judge", html.Span(id=Ids.NOTE)),
            run_frame(),
            html.Div(loading_state(3), id=Ids.HEAD),
            card(
                "Scores by dimension",
                html.Div(loading_state(6), id=Ids.SCORES),
                note="Scores from 0 to 10. Differences within the judges' noise are grey.",
                tools=csv_button(Ids.SCORES_CSV, "the scores"),
                class_name="if-filled",
            ),
            card(
                "Cases",
                html.Div(loading_state(4), id=Ids.CASES),
                note="Choose a case to read the conversation and each judge's feedback.",
                tools=csv_button(Ids.CASES_CSV, "the cases"),
                class_name="if-filled",
            ),
            html.Div(loading_state(6), id=Ids.CASE),
            label_form(),
            card(
                "History",
                html.Div(loading_state(4), id=Ids.HISTORY),
                note="Runs of this agent, newest first, then runs of other agents.",
                tools=csv_button(Ids.RUNS_CSV, "the runs"),
                class_name="if-filled",
            ),
            card(
                "Agreement with people",
                html.Div(loading_state(4), id=Ids.TRUST),
                note="Based on single conversations. Alpha and kappa: "
                "1 is full agreement, 0 is chance.",
                tools=csv_button(Ids.TRUST_CSV, "the agreement"),
                class_name="if-filled",
            ),
            start_form(),
            dcc.Interval(id=StartIds.CLOCK, interval=CLOCK_MS, disabled=True),
            dcc.Store(id=Ids.SEARCH, data=selection_in(search).search),
            dcc.Download(id=Ids.DOWNLOAD),
        ],
        className="page-body",
    )


def label_form() -> Component:
    """Build the form to score the open case or the whole agent."""
    return card(
        "Your score",
        html.Div(
            [
                dmc.Select(
                    id=LabelIds.ABOUT,
                    label="Subject",
                    data=[THIS_CASE],
                    value=THIS_CASE,
                    allowDeselect=False,
                    size="xs",
                ),
                dmc.NumberInput(
                    id=LabelIds.SCORE, label="Score, 0 to 10", min=0, max=10, step=0.5, size="xs"
                ),
                dmc.TextInput(id=LabelIds.WHO, label="Your name", size="xs", persistence=True),
                dmc.TextInput(id=LabelIds.NOTE, label="Reason (optional)", size="xs"),
                dmc.Button("Save score", id=LabelIds.SAVE, size="xs"),
            ],
            className="judge-form",
        ),
        html.Div(id=LabelIds.RESULT, role="status"),
        note="Your scores measure the judges. Every score is stored; your newest counts.",
    )


def no_runs() -> Component:
    """Build the page before the first run."""
    return empty_state(
        "No judged runs yet",
        "Agents are defined in agents/*.yaml of the workspace. "
        "Start a run below, or on the console: " + next_command("judge run AGENT --judge LLM"),
    )
