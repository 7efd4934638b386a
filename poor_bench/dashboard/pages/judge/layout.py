"""Layout of the page: ids, state of the address, cards, forms and the active run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html
from dash.development.base_component import Component

from poor_bench.dashboard.components.blocks import (
    card,
    empty_state,
    loading_state,
    number_range,
    page_head,
    tile,
    tiles,
)
from poor_bench.dashboard.components.controls import (
    StayLinks,
    count_choice,
    file_buttons,
)
from poor_bench.dashboard.forms import guard_form
from poor_bench.dashboard.pages.judge.pairwise import build as build_pairwise
from poor_bench.dashboard.services.console_runs import write_judges, write_options
from poor_bench.dashboard.start_form import REQUIRED, StartForm, cost_field, read_limit
from poor_bench.dashboard.text.formatting import dollars_text, limits_text
from poor_bench.dashboard.url_state import TablesUrl
from poor_bench.errors import ConfigError
from poor_bench.judge.judged_run import CaseSummary, RunSummary
from poor_bench.judge.panel import PanelDecision
from poor_bench.judge.run_plan import JudgePlan
from poor_bench.judge.storage import JUDGED_RUNS
from poor_bench.messages import write_count


class JudgeIds(StrEnum):
    """Elements used by callbacks."""

    SEARCH = "judge-search-store"
    NOTE = "judge-note-text"
    HEAD = "judge-head-body"
    SCORES = "judge-scores-body"
    CASES = "judge-cases-body"
    CASE = "judge-case-body"
    HISTORY = "judge-history-body"
    TRUST = "judge-trust-body"
    CORRECTED = "judge-corrected-body"
    SCORES_CSV = "judge-scores-csv-button"
    CASES_CSV = "judge-cases-csv-button"
    RUNS_CSV = "judge-runs-csv-button"
    TRUST_CSV = "judge-trust-csv-button"
    CORRECTED_CSV = "judge-corrected-csv-button"
    DOWNLOAD = "judge-file-download"


class LabelIds(StrEnum):
    """Elements of the form for a person's score."""

    ABOUT = "judge-about-select"
    SCORE = "judge-score-input"
    WHO = "judge-who-input"
    NOTE = "judge-why-input"
    SAVE = "judge-save-button"
    RESULT = "judge-result-text"


class JudgeStartIds(StrEnum):
    """Choices of the form that starts a run."""

    AGENT = "judge-agent-select"
    JUDGES = "judge-judges-select"
    REPEAT = "judge-repeat-input"
    DECISION = "judge-decision-select"
    MAX_COST = "judge-cost-input"


@dataclass(frozen=True, kw_only=True)
class JudgeUrl(TablesUrl):
    """The state of the page; what is empty is chosen by the page."""

    agent: str = ""
    run: str = ""
    case: str = ""
    base: str = ""
    """The run that is compared with; none where empty."""


def chosen_run(summaries: Sequence[RunSummary], url: JudgeUrl) -> RunSummary | None:
    """Select the chosen run, else the newest of the agent, else the newest."""
    named = run_with_id(summaries, url.run)
    if named is not None:
        return named
    of_agent = [item for item in summaries if item.run.header.agent_id == url.agent]
    candidates = of_agent or summaries
    return candidates[-1] if candidates else None


def run_with_id(summaries: Sequence[RunSummary], run_id: str) -> RunSummary | None:
    """Find a run by id, or None."""
    return next((item for item in summaries if item.run.run_id == run_id), None)


def chosen_case(summary: RunSummary, url: JudgeUrl) -> CaseSummary | None:
    """Select the chosen case, else the one with the lowest score."""
    named = [case for case in summary.cases if case.conversation.case_id == url.case]
    worst = sorted(summary.cases, key=lambda case: 11.0 if case.score is None else case.score)
    return next(iter((*named, *worst)), None)


MOST_REPEATS = 100
FORM = StartForm(
    prefix="judge",
    title="Judge agent",
    fields=(
        JudgeStartIds.AGENT, JudgeStartIds.JUDGES, JudgeStartIds.REPEAT,
        JudgeStartIds.DECISION, JudgeStartIds.MAX_COST,
    ),
    kind=JUDGED_RUNS,
)  # fmt: skip


def write_command(
    agent_id: str, judges: list[str] | None, repeat: Any, decision: str, max_cost: Any
) -> list[str]:
    """Write the choice as a command.

    Raises:
        ConfigError: If a number is not in range.
    """
    if not isinstance(repeat, int) or not 1 <= repeat <= MOST_REPEATS:
        raise ConfigError(limits_text("repeats", 1, MOST_REPEATS))
    limits = write_options(repeat=repeat, decision=decision, max_cost=read_limit(max_cost))
    return ["judge", "run", *write_judges(judges), *limits, "--", agent_id]


def plan_tiles(plan: JudgePlan, most_usd: float | None) -> Component:
    """Build the tiles of a plan.

    Args:
        plan: Of a judged run.
        most_usd: Its highest cost without repairs; None where a price is unknown.
    """
    judges = ", ".join(judge.id for judge in plan.judges)
    return tiles(
        tile("Conversations", f"{plan.n_conversations:,}", f"with {plan.agent.llm_id}"),
        tile("Judgements", f"{plan.n_judgements:,}", f"by {judges}"),
        tile("Highest cost", dollars_text(most_usd), "without repairs"),
    )


def rubric_note(plan: JudgePlan) -> str:
    """Describe the rubric of a plan."""
    dimensions = write_count(len(plan.rubric.dimensions), "dimension")
    return f"Rubric {plan.rubric.name}: {dimensions}; threshold {plan.threshold:g}."


def _fields() -> list[Component]:
    return [
        dmc.Select(
            id=JudgeStartIds.AGENT,
            label="Agent",
            placeholder=REQUIRED,
            data=[],
            searchable=True,
        ),
        dmc.MultiSelect(
            id=JudgeStartIds.JUDGES,
            label="Judges",
            placeholder="config.yaml",
            data=[],
            value=[],
            searchable=True,
            clearable=True,
            hidePickedOptions=True,
        ),
        count_choice(JudgeStartIds.REPEAT, "Repeats", most=MOST_REPEATS),
        dmc.Select(
            id=JudgeStartIds.DECISION,
            label="Combine by",
            data=[decision.value for decision in PanelDecision],
            value=PanelDecision.MEAN.value,
            allowDeselect=False,
        ),
        cost_field(JudgeStartIds.MAX_COST),
    ]


LINKS = StayLinks(JudgeIds.SEARCH)
THIS_CASE = "Case"
"""Default subject of the form."""


def layout(url: JudgeUrl) -> Component:
    """Build the page without data."""
    return html.Div(
        [
            page_head("Judge", html.Span(id=JudgeIds.NOTE)),
            *FORM.build(_fields()),
            html.Div(loading_state(3), id=JudgeIds.HEAD),
            card(
                "Dimensions",
                html.Div(loading_state(6, has_columns=True), id=JudgeIds.SCORES),
                note="0 to 10. Grey: noise.",
                tools=file_buttons(JudgeIds.SCORES_CSV),
                class_name="if-filled",
            ),
            card(
                "Cases",
                html.Div(loading_state(4, has_columns=True), id=JudgeIds.CASES),
                tools=file_buttons(JudgeIds.CASES_CSV),
                class_name="if-filled",
            ),
            html.Div(loading_state(6), id=JudgeIds.CASE, className="judge-case"),
            label_form(),
            card(
                "History",
                html.Div(loading_state(4, has_columns=True), id=JudgeIds.HISTORY),
                tools=file_buttons(JudgeIds.RUNS_CSV),
                class_name="if-filled",
            ),
            *build_pairwise(),
            card(
                "Agreement with people",
                html.Div(loading_state(4, has_columns=True), id=JudgeIds.TRUST),
                note="Kappa, alpha: 1 full, 0 chance.",
                tools=file_buttons(JudgeIds.TRUST_CSV),
                class_name="if-filled",
            ),
            card(
                "Corrected scores",
                html.Div(id=JudgeIds.CORRECTED),
                note="Estimated score by people.",
                tools=file_buttons(JudgeIds.CORRECTED_CSV),
                class_name="if-filled",
            ),
            dcc.Store(id=JudgeIds.SEARCH, data=url.search),
            dcc.Download(id=JudgeIds.DOWNLOAD),
        ],
        className="page-body",
    )


def label_form() -> Component:
    """Build the form to score the open case or the whole agent."""
    return card(
        "Your score",
        guard_form(
            "your score",
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
                    id=LabelIds.SCORE,
                    label="Score (0 to 10)",
                    step=0.5,
                    size="xs",
                    **number_range(0, 10),
                ),
                dmc.TextInput(id=LabelIds.WHO, label="Your name", size="xs", persistence=True),
                dmc.TextInput(id=LabelIds.NOTE, label="Reason", size="xs"),
                dmc.Button("Save", id=LabelIds.SAVE, size="xs"),
            ],
            "judge-form",
        ),
        html.Div(id=LabelIds.RESULT, role="status"),
    )


def no_runs() -> Component:
    """Build the page before the first run."""
    return empty_state("No runs yet", "Select one of agents/*.yaml.")
