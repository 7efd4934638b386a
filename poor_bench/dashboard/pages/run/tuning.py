"""Searches for better prompts and parameters: the form that starts one, and the stored ones."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import Any

import dash_mantine_components as dmc
from dash import Dash, Input, Output, html
from dash.development.base_component import Component

from poor_bench.command_line import next_command
from poor_bench.dashboard.components.blocks import AWAITED, card, number_range
from poor_bench.dashboard.components.controls import StayLinks, build_options, file_buttons
from poor_bench.dashboard.components.sheets import SheetColumn, SheetTable
from poor_bench.dashboard.components.tables import still
from poor_bench.dashboard.page import on_data
from poor_bench.dashboard.pages.run.accepting import build_accepting, register_accepting
from poor_bench.dashboard.services.console_runs import must_ask, write_options
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.start_form import (
    REQUIRED,
    StartForm,
    StartPlan,
    bind_start_form,
    cost_field,
    read_limit,
    write_cost,
)
from poor_bench.dashboard.table_files import TableFile
from poor_bench.dashboard.url_state import TablesUrl
from poor_bench.errors import ConfigError
from poor_bench.messages import write_count
from poor_bench.tuning.searches import SEARCHES, KeptSearch, list_searches


class TuneIds(StrEnum):
    """Choices of the form, and the place of the stored searches."""

    WHAT = "tune-what-select"
    CLASS = "tune-class-select"
    LLM = "tune-llm-select"
    PARAMETERS = "tune-parameters-input"
    CALLS = "tune-calls-input"
    MAX_COST = "tune-cost-input"
    STORED = "tune-stored-body"
    CSV = "tune-csv-button"


FORM = StartForm(
    prefix="tune",
    title="Tune",
    fields=(
        TuneIds.LLM, TuneIds.WHAT, TuneIds.CLASS, TuneIds.PARAMETERS, TuneIds.CALLS,
        TuneIds.MAX_COST,
    ),
    note="Files change only when you accept a result.",
    kind=SEARCHES,
)  # fmt: skip
_PROMPT, _PARAMETERS = "prompt", "params"
_CALLS = 300
_ALL = "all"


def build() -> list[Component]:
    """Build the form and the place of the stored searches."""
    fields = [
        dmc.Select(id=TuneIds.LLM, label="Model", placeholder=REQUIRED, data=[],
                   searchable=True),
        dmc.Select(id=TuneIds.WHAT, label="Tune", value=_PROMPT, allowDeselect=False,
                   data=build_options([(_PROMPT, "Prompt"), (_PARAMETERS, "Parameters")])),
        dmc.Select(id=TuneIds.CLASS, label="Class", placeholder="All classes",
                   data=[], searchable=True, clearable=True),
        dmc.TextInput(id=TuneIds.PARAMETERS, label="Parameters", debounce=400, value="",
                      placeholder="temperature=0,0.4"),
        dmc.NumberInput(id=TuneIds.CALLS, label="Most requests", value=_CALLS,
                        allowDecimal=False, debounce=400, **number_range(1)),
        cost_field(TuneIds.MAX_COST),
    ]  # fmt: skip
    return [
        *FORM.build(fields),
        card(
            "Searches",
            html.Div(html.Span(className=AWAITED), id=TuneIds.STORED),
            tools=file_buttons(TuneIds.CSV),
            note=f"Console: {next_command('tune show RUN')}",
            class_name="if-filled",
        ),
        *build_accepting(),
    ]


def write_command(
    llm_id: str, what: str, class_id: str | None, parameters: str | None, calls: Any, max_cost: Any
) -> list[str]:
    """Write the command that a choice stands for.

    Raises:
        ConfigError: If the choice is incomplete.
    """
    n_calls = read_limit(calls, "requests", 1)
    options = write_options(
        llm=llm_id,
        budget_calls=None if n_calls is None else int(n_calls),
        max_cost=read_limit(max_cost),
    )
    if what == _PROMPT:
        if not class_id:
            raise ConfigError("Select class")
        return ["tune", "prompt", *options, "--", class_id]
    if "@" in (parameters or ""):
        raise ConfigError("@FILE: console only")
    tried = [f"--param={part}" for part in (parameters or "").split()]
    return ["tune", "params", *options, *tried, "--", class_id or _ALL]


def plan_run(services: Services, *values: Any) -> StartPlan:
    """Describe what a choice would run."""
    planned = services.commands[SEARCHES.name].plan(write_command(*values))
    cost_usd, calls = planned["plan"]["estimated_cost_usd"], planned["budget_calls"]
    shown = (
        f"{planned['plan']['what']}: at most {write_count(calls, 'request')}{write_cost(cost_usd)}"
    )
    llms = [llm for llm in services.list_llms() if llm.id == values[0]]
    return StartPlan(
        html.P(shown, className="quiet"), needs_consent=must_ask(calls, llms, cost_usd)
    )


def _read_end(search: KeptSearch) -> str | None:
    end = search.last("end")
    return str(end["reason"]).replace("_", " ") if end else None


def _read_accepted(search: KeptSearch) -> str | None:
    accepted = search.last("accepted")
    return str(accepted["key"]) if accepted else None


TABLE: SheetTable[KeptSearch] = SheetTable(
    name="searches",
    label="Searches",
    columns=[
        SheetColumn(field="run", heading="Search", value=lambda each: each.run_id),
        SheetColumn(field="kind", heading="Kind", value=lambda each: each.kind),
        SheetColumn(field="what", heading="Class", value=lambda each: each.header.get("name")),
        SheetColumn(field="model", heading="Model", value=lambda each: each.header.get("llm")),
        SheetColumn(field="end", heading="Ended", value=_read_end),
        SheetColumn(field="accepted", heading="Accepted", value=_read_accepted),
    ],
)


def searches_csv(services: Services, search: str | None) -> TableFile:
    """Write the stored searches as a file."""
    return TABLE.file("searches", _list_newest(services), TablesUrl.read(search))


def _list_newest(services: Services) -> list[KeptSearch]:
    return list_searches(services.data_dir())[::-1]


def register_tuning(app: Dash, services: Services, links: StayLinks, url: type[TablesUrl]) -> None:
    """Bind the form and the table.

    Args:
        app: The dashboard.
        services: Start and list them.
        links: Of the page.
        url: State of the page.
    """

    @on_data(app, Output(TuneIds.LLM, "data"), Output(TuneIds.CLASS, "data"))
    def _options() -> Any:
        workspace = services.files.workspace()
        return [llm.id for llm in workspace.llms], list(workspace.test_classes)

    @on_data(
        app,
        Output(TuneIds.STORED, "children"),
        Input(links.store_id, "data"),
        Input(FORM.part("clock-interval"), "disabled"),
    )
    def _show_stored(search: str, _is_still: bool) -> Any:
        found = _list_newest(services)
        table = TABLE.draw(found, links, url.read(search)) if found else None
        return still(table, search=search)

    register_accepting(app, services, Input(FORM.part("clock-interval"), "disabled"))
    bind_start_form(app, services, FORM, plan=partial(plan_run, services), command=write_command)
