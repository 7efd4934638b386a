"""The form that has an agent judged, and its fields as an order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import Input, State, html

from poor_bench.dashboard.components.attributes import aria
from poor_bench.dashboard.components.buttons import start_button
from poor_bench.dashboard.components.card import card
from poor_bench.dashboard.components.choice import count_choice
from poor_bench.dashboard.components.states import loading_state
from poor_bench.dashboard.components.tile import tile, tiles
from poor_bench.dashboard.pages.judge.ids import StartIds as Ids
from poor_bench.dashboard.services.judge_service import JudgeOrder, JudgePreview
from poor_bench.dashboard.text.figures_text import dollars_text
from poor_bench.errors import ConfigError
from poor_bench.judge.agents.prepare import JudgeRequest
from poor_bench.judge.panel.panel import Decision
from poor_bench.messages import counted

if TYPE_CHECKING:
    from dash.development.base_component import Component

MOST_REPEATS = 100


def start_form() -> Component:
    """Build the form without its choices."""
    return card(
        "Judge an agent",
        html.Div(_fields(), className="judge-start", role="form", **aria(label="Judge an agent")),
        html.Div(loading_state(2), id=Ids.PREVIEW),
        note="Talks to the agent, has the conversations judged and stores everything. The "
        "run continues if you close the browser.",
        tools=[start_button(Ids.START)],
    )


def fields(kind: type[Input | State]) -> list[Any]:
    """List the fields of the form as inputs or states."""
    names = (Ids.AGENT, Ids.JUDGES, Ids.REPEAT, Ids.DECISION, Ids.MAX_COST)
    return [kind(name, "value") for name in names]


def order_of(
    agent_id: str | None, judges: list[str] | None, repeat: Any, decision: str, max_cost: Any
) -> JudgeOrder:
    """Parse the values of `fields`.

    Raises:
        ConfigError: If no agent is chosen, or a number cannot be used.
    """
    if not agent_id:
        raise ConfigError("choose an agent", hint="Agents are defined in agents/*.yaml.")
    if not isinstance(repeat, int) or not 1 <= repeat <= MOST_REPEATS:
        raise ConfigError(f"judgements per judge must be 1 to {MOST_REPEATS}")
    request = JudgeRequest(
        agent_id=agent_id,
        judges=tuple(judges or ()),
        repeat=repeat,
        decision=Decision(decision),
    )
    return JudgeOrder(request=request, max_cost_usd=_dollars(max_cost))


def preview_tiles(preview: JudgePreview) -> Component:
    """Build the tiles of a plan and its highest cost."""
    plan = preview.plan
    judges = ", ".join(judge.id for judge in plan.judges)
    most = dollars_text(preview.most_usd) if preview.most_usd else "-"
    return tiles(
        tile("Conversations", f"{plan.n_conversations:,}", f"with {plan.agent.llm_id}"),
        tile("Judgements", f"{plan.n_judgements:,}", f"by {judges}"),
        tile("Highest cost", most, "at the prices of llms.json, without repairs"),
    )


def cases_note(preview: JudgePreview) -> str:
    """Describe the rubric of an agent."""
    dimensions = counted(len(preview.plan.rubric.dimensions), "dimension")
    return f"Rubric {preview.plan.rubric.name}: {dimensions}; threshold {preview.plan.threshold:g}."


def _dollars(value: Any) -> float:
    if value in (None, ""):
        return math.inf
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise ConfigError("the cost limit must be a number of US dollars, 0 or more")
    return float(value)


def _fields() -> list[Component]:
    return [
        dmc.Select(
            id=Ids.AGENT, label="Agent", placeholder="Choose an agent", data=[], searchable=True
        ),
        dmc.MultiSelect(
            id=Ids.JUDGES,
            label="Judges",
            placeholder="Judge of config.yaml",
            data=[],
            value=[],
            searchable=True,
            clearable=True,
            hidePickedOptions=True,
        ),
        count_choice(Ids.REPEAT, "Repeats", most=MOST_REPEATS),
        dmc.Select(
            id=Ids.DECISION,
            label="Combine by",
            data=[decision.value for decision in Decision],
            value=Decision.MEAN.value,
            allowDeselect=False,
        ),
        dmc.NumberInput(
            id=Ids.MAX_COST, label="Cost limit (US$)", placeholder="no limit", min=0, value=""
        ),
    ]
