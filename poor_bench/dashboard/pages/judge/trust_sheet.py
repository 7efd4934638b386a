"""Table of agreement with people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from poor_bench.command_line import next_command
from poor_bench.dashboard.components.states import empty_state
from poor_bench.dashboard.pages.judge.sheet import row, sheet
from poor_bench.judge.agreement.agreement import Agreement
from poor_bench.judge.report.agreement_text import (
    biases_of,
    estimate_text,
    figure_text,
    trust_text,
)

if TYPE_CHECKING:
    from dash.development.base_component import Component

_HEADS = (
    "Judge", "Labelled", "Alpha", "People alone", "Weighted kappa", "Kappa", "Spearman",
    "Judge minus people", "Length bias", "Meaning",
)  # fmt: skip


def trust_sheet(measured: Mapping[str, Agreement]) -> Component:
    """Build the table of the judges' agreement with people."""
    rows = [
        row(
            judge,
            str(item.n),
            figure_text(item.alpha),
            figure_text(item.human_alpha),
            figure_text(item.weighted_kappa),
            figure_text(item.kappa),
            estimate_text(item.spearman),
            estimate_text(item.bias),
            estimate_text(item.length_bias),
            "; ".join((trust_text(item), *biases_of(item))),
        )
        for judge, item in measured.items()
        if item.n
    ]
    if not rows:
        step = next_command("judge labels export")
        text = f"Score conversations above, or export a sheet: {step}"
        return empty_state("No labels yet", text)
    return sheet(_HEADS, rows)
