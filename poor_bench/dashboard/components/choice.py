"""Boxes in which something is chosen; the options of select boxes come with the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import html

from poor_bench.dashboard.components.attributes import aria

if TYPE_CHECKING:
    from dash.development.base_component import Component


def options_of(pairs: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Return the options of a select box.

    Args:
        pairs: Value and what is shown of it.
    """
    return [{"value": value, "label": text} for value, text in pairs]


def multi_choice(
    choice_id: str, label: str, *, chosen: Sequence[str] = (), placeholder: str = "All"
) -> Component:
    """Return a box in which any number of values can be chosen.

    Args:
        choice_id: Its id.
        label: What it chooses.
        chosen: Values chosen at first.
        placeholder: Shown while nothing is chosen.
    """
    box = dmc.MultiSelect(
        id=choice_id,
        data=options_of((value, value) for value in chosen),
        value=list(chosen),
        placeholder=placeholder,
        clearable=True,
        searchable=True,
        hidePickedOptions=True,
        size="xs",
        label=label,
        clearButtonProps=aria(label=f"Clear {label}"),
    )
    return html.Div(box, className="multi-choice")


def count_choice(choice_id: str, label: str, *, most: int) -> Component:
    """Return a box that takes a number from 1 to `most`, once typing pauses.

    Args:
        choice_id: Its id.
        label: What it counts.
        most: The largest number.
    """
    box: Component = dmc.NumberInput(
        id=choice_id,
        label=label,
        value=1,
        min=1,
        max=most,
        clampBehavior="strict",
        allowDecimal=False,
        debounce=400,
    )
    return box


def single_choice(choice_id: str, label: str, *, chosen: str = "", **further: Any) -> Component:
    """Return a box in which one value is chosen.

    Args:
        choice_id: Its id.
        label: What it chooses.
        chosen: Value chosen at first.
        further: Properties of `dmc.Select`.
    """
    box = dmc.Select(
        id=choice_id,
        data=options_of([(chosen, chosen)] if chosen else []),
        value=chosen or None,
        allowDeselect=False,
        searchable=True,
        size="xs",
        label=label,
        **further,
    )
    return html.Div(box, className="single-choice")
