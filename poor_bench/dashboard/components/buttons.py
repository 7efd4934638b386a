"""Small buttons that several pages have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dash_mantine_components as dmc
from dash import html

from poor_bench.dashboard.components.attributes import aria, data
from poor_bench.dashboard.components.icon import icon

if TYPE_CHECKING:
    from dash.development.base_component import Component


def image_buttons(what: str) -> list[Component]:
    """Return the buttons that save the chart of the card around them.

    Args:
        what: What the chart shows: for screen readers, and the name of the file.
    """
    file_name = f"poor_bench-{what.lower().replace(' ', '-')}"
    return [
        dmc.Button(
            form.upper(),
            leftSection=icon("download"),
            variant="default",
            size="compact-sm",
            **data(export=form, file_name=file_name),
            **aria(label=f"Save {what} as {form.upper()}"),
        )
        for form in ("png", "svg")
    ]


def choose_button(text: str, store_id: str, value: str, *, label: str) -> Component:
    """Return a button that puts a value into a store, however often it is drawn anew.

    Args:
        text: What stands on it.
        store_id: The store that takes the value.
        value: What the button stands for.
        label: What it does, for screen readers.
    """
    return html.Button(
        text,
        type="button",
        className="choose-button",
        **aria(label=label),
        **data(choose_store=store_id, choose_value=value),
    )


def small_button(text: str, button_id: str, icon_name: str) -> Component:
    """Return a button of a block's heading.

    Args:
        text: What stands on it.
        button_id: Its id.
        icon_name: What stands before the text, as `icon` takes it.
    """
    button: Component = dmc.Button(
        text,
        id=button_id,
        leftSection=icon(icon_name),
        variant="default",
        size="compact-sm",
        n_clicks=0,
    )
    return button


def start_button(button_id: str) -> Component:
    """Return the button that starts a run; it waits until a plan is there."""
    button: Component = dmc.Button(
        "Start", id=button_id, leftSection=icon("play"), size="sm", disabled=True, n_clicks=0
    )
    return button


def csv_button(button_id: str, what: str) -> Component:
    """Return the button that downloads a table.

    Args:
        button_id: Its id.
        what: What is in the file, for screen readers.
    """
    button: Component = dmc.Button(
        "CSV",
        id=button_id,
        leftSection=icon("download"),
        variant="default",
        size="compact-sm",
        **aria(label=f"Download {what} as CSV"),
    )
    return button
