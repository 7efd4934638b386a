"""Pairwise comparisons of judged runs: the form that starts one, and the stored ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple

import dash_mantine_components as dmc
from dash import Dash, Input, Output, html
from dash.development.base_component import Component

from poor_bench.dashboard.components.blocks import card
from poor_bench.dashboard.components.controls import StayLinks, file_buttons
from poor_bench.dashboard.components.sheets import SheetColumn, SheetTable
from poor_bench.dashboard.components.tables import number, still
from poor_bench.dashboard.page import on_data
from poor_bench.dashboard.services.console_runs import must_ask, write_judges, write_options
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
from poor_bench.dashboard.text.formatting import dollars_text
from poor_bench.dashboard.url_state import TablesUrl
from poor_bench.errors import ConfigError
from poor_bench.judge.judged_run import RunHeader
from poor_bench.judge.pairwise_results import PairOutcome, combine_judges
from poor_bench.judge.storage import PAIRWISE_RUNS, PairwiseStore, StoredPairwise
from poor_bench.messages import write_count


class PairIds(StrEnum):
    """Choices of the form, and the place of the stored comparisons."""

    A = "pairwise-a-select"
    B = "pairwise-b-select"
    JUDGES = "pairwise-judges-select"
    MAX_COST = "pairwise-cost-input"
    STORED = "pairwise-stored-body"
    CSV = "pairwise-csv-button"


FORM = StartForm(
    prefix="pairwise",
    title="Compare runs",
    fields=(PairIds.A, PairIds.B, PairIds.JUDGES, PairIds.MAX_COST),
    kind=PAIRWISE_RUNS,
    n_names=2,
)


def build() -> list[Component]:
    """Build the form and the place of the stored comparisons."""
    runs = [
        dmc.Select(id=name, label=label, placeholder=REQUIRED, data=[], searchable=True)
        for name, label in ((PairIds.A, "Run A"), (PairIds.B, "Run B"))
    ]
    judges = dmc.MultiSelect(
        id=PairIds.JUDGES, label="Judges", placeholder="config.yaml", data=[], value=[],
        searchable=True, clearable=True, hidePickedOptions=True,
    )  # fmt: skip
    return [
        *FORM.build([*runs, judges, cost_field(PairIds.MAX_COST)]),
        card(
            "Pairwise comparisons",
            html.Div(id=PairIds.STORED),
            tools=file_buttons(PairIds.CSV),
            class_name="if-filled",
        ),
    ]


def write_command(a: str, b: str | None, judges: Sequence[str] | None, max_cost: Any) -> list[str]:
    """Write the command that a choice stands for.

    Raises:
        ConfigError: If the choice is incomplete.
    """
    if not b or a == b:
        raise ConfigError("Select two runs")
    options = [*write_judges(judges), *write_options(max_cost=read_limit(max_cost))]
    return ["judge", "pairwise", *options, "--", a, b]


def plan_run(services: Services, *values: Any) -> StartPlan:
    """Describe what a choice would run."""
    planned = services.commands[PAIRWISE_RUNS.name].plan(write_command(*values))
    n_left, cost_usd = planned["plan"]["n_planned"], planned["most_usd"]
    shown = (
        f"{write_count(n_left, 'pair')}, in both orders, by "
        f"{', '.join(planned['judges'])}{write_cost(cost_usd)}"
    )
    llms = [llm for llm in services.list_llms() if llm.id in planned["judges"]]
    return StartPlan(
        html.P(shown, className="quiet"), needs_consent=must_ask(2 * n_left, llms, cost_usd)
    )


class PairwiseLine(NamedTuple):
    """One stored comparison."""

    stored: StoredPairwise
    counts: Mapping[PairOutcome, int]
    judges: tuple[str, ...]

    @property
    def n_cases(self) -> int:
        """Cases that were judged."""
        return sum(self.counts.values())


def read_lines(services: Services) -> list[PairwiseLine]:
    """Read the stored comparisons, newest first."""
    lines = []
    for stored in PairwiseStore(services.data_dir()).runs()[::-1]:
        decided = combine_judges(stored.comparisons)
        said = list(decided.by_case.values())
        counts = {outcome: said.count(outcome) for outcome in PairOutcome}
        lines.append(PairwiseLine(stored, counts, tuple(decided.by_judge) or stored.judges))
    return lines


def _count(field: str, heading: str, outcome: PairOutcome) -> SheetColumn[PairwiseLine]:
    return SheetColumn(
        field=field, heading=heading, value=lambda line: line.counts[outcome],
        cell=lambda line: number(f"{line.counts[outcome]} of {line.n_cases}"),
    )  # fmt: skip


PAIRWISE: SheetTable[PairwiseLine] = SheetTable(
    name="pairwise",
    label="Pairwise comparisons",
    columns=[
        SheetColumn(field="run", heading="Run", value=lambda line: line.stored.run_id),
        SheetColumn(field="a", heading="A", value=lambda line: line.stored.a_run_id),
        SheetColumn(field="b", heading="B", value=lambda line: line.stored.b_run_id),
        SheetColumn(field="judges", heading="Judges", value=lambda line: ", ".join(line.judges),
                    further=[("Cases", lambda line: line.n_cases)]),
        _count("wins-a", "A better", PairOutcome.A),
        _count("wins-b", "B better", PairOutcome.B),
        SheetColumn(field="failed", heading="Failed", is_optional=True,
                    value=lambda line: line.stored.n_failed or None),
        SheetColumn(field="cost", heading="Cost", value=lambda line: line.stored.cost_usd,
                    cell=lambda line: number(dollars_text(line.stored.cost_usd))),
    ],
)  # fmt: skip


def pairwise_csv(services: Services, search: str | None) -> TableFile:
    """Write the stored comparisons as a file."""
    return PAIRWISE.file("pairwise", read_lines(services), TablesUrl.read(search))


def write_run(header: RunHeader) -> str:
    """Name a run by its agent and time."""
    return f"{header.agent}, {header.started[:16].replace('T', ' ')}"


def list_run_options(services: Services) -> list[dict[str, str]]:
    """List the judged runs that can be compared, newest first."""
    headers = [summary.run.header for summary in services.judged.summaries()[::-1]]
    return [{"value": header.run_id, "label": write_run(header)} for header in headers]


def register_pairwise(
    app: Dash, services: Services, links: StayLinks, url: type[TablesUrl]
) -> None:
    """Bind the form and the table.

    Args:
        app: The dashboard.
        services: Start and list them.
        links: Of the page.
        url: State of the page.
    """

    @on_data(
        app,
        Output(PairIds.A, "data"),
        Output(PairIds.B, "data"),
        Output(PairIds.JUDGES, "data"),
    )
    def _options() -> Any:
        runs = list_run_options(services)
        return runs, runs, [llm.id for llm in services.list_llms()]

    @on_data(
        app,
        Output(PairIds.STORED, "children"),
        Input(links.store_id, "data"),
        Input(FORM.part("clock-interval"), "disabled"),
    )
    def _show_stored(search: str, _is_still: bool) -> Any:
        lines = read_lines(services)
        table = PAIRWISE.draw(lines, links, url.read(search)) if lines else None
        return still(table, search=search)

    bind_start_form(app, services, FORM, plan=partial(plan_run, services), command=write_command)
