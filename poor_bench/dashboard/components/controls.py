"""Boxes to choose from, buttons, and links that change the state of a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import dash_mantine_components as dmc
from dash import html
from dash.development.base_component import Component

from poor_bench.config.load import Workspace
from poor_bench.dashboard.components.blocks import aria, data, icon, number_range
from poor_bench.dashboard.url_state import ListUrl, UrlState


def build_options(pairs: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Build the options of a select box.

    Args:
        pairs: Value and what is shown of it.
    """
    return [{"value": value, "label": text} for value, text in pairs]


def test_options(workspace: Workspace) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Build the options of select boxes for test classes and levels."""
    levels = sorted({test.level for test in workspace.tests})
    return (
        build_options((name, name.replace("_", " ")) for name in workspace.test_classes),
        build_options((str(level), f"Level {level}") for level in levels),
    )


def multi_choice(
    choice_id: str,
    label: str,
    *,
    chosen: Sequence[str] = (),
    placeholder: str = "All",
    is_named: bool = True,
) -> Component:
    """Build a box in which any number of values can be chosen.

    Args:
        choice_id: Its id.
        label: What it chooses.
        chosen: Values chosen at first.
        placeholder: Shown while nothing is chosen.
        is_named: True if the label stands above the box; screen readers hear it in any case.
    """
    box = dmc.MultiSelect(
        id=choice_id,
        data=build_options((value, value) for value in chosen),
        value=list(chosen),
        placeholder=placeholder,
        clearable=True,
        searchable=True,
        hidePickedOptions=True,
        size="xs",
        **({"label": label} if is_named else aria(label=label)),
        clearButtonProps=aria(label=f"Clear {label}"),
    )
    return html.Div(box, className="multi-choice")


def count_choice(choice_id: str, label: str, *, most: int, value: int = 1) -> Component:
    """Build a box that takes a number from 1 to `most`, once typing pauses.

    Args:
        choice_id: Its id.
        label: What it counts.
        most: The largest number.
        value: Its number at first.
    """
    box: Component = dmc.NumberInput(
        id=choice_id,
        label=label,
        value=value,
        **number_range(1, most),
        clampBehavior="strict",
        allowDecimal=False,
        debounce=400,
    )
    return box


def single_choice(choice_id: str, label: str, *, chosen: str = "", **further: Any) -> Component:
    """Build a box in which one value is chosen.

    Args:
        choice_id: Its id.
        label: What it chooses.
        chosen: Value chosen at first.
        further: Properties of `dmc.Select`.
    """
    box = dmc.Select(
        id=choice_id,
        data=build_options([(chosen, chosen)] if chosen else []),
        value=chosen or None,
        allowDeselect=False,
        searchable=True,
        size="xs",
        label=label,
        **further,
    )
    return html.Div(box, className="single-choice")


def llm_options(
    llm_ids: Iterable[str], chosen: Iterable[str], name_of: Callable[[str], str]
) -> list[dict[str, str]]:
    """List LLMs that can be chosen.

    Args:
        llm_ids: Those that have results.
        chosen: Those that are chosen now; a box forgets what it cannot offer, such as an LLM whose
            results are gone for a moment.
        name_of: Returns what screens call an LLM.
    """
    names = dict.fromkeys((*llm_ids, *chosen))
    return build_options((llm_id, name_of(llm_id)) for llm_id in names)


def image_buttons(what: str) -> list[Component]:
    """Build the buttons that save the chart of the card around them.

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
            **aria(label=f"Download {what} as {form.upper()}"),
        )
        for form in ("png", "svg")
    ]


def choose_button(text: str, store_id: str, value: str, *, label: str) -> Component:
    """Build a button that puts a value into a store, however often it is drawn anew.

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


def build_saved_views() -> dict[str, Any]:
    """Build the button that keeps the address of a page as a named view.

    `assets/saved_views.js` draws it; views stay in the browser.
    """
    return {"namespace": "poor_bench", "type": "SavedViews", "props": {}}


def small_button(text: str, button_id: str, icon_name: str) -> Component:
    """Build a button of a block's heading.

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
    """Build the button that starts a run; it waits until a plan is there."""
    button: Component = dmc.Button(
        "Start", id=button_id, leftSection=icon("play"), size="sm", disabled=True, n_clicks=0
    )
    return button


def file_buttons(csv_id: str) -> Component:
    """Build the buttons that download a table as CSV and as Parquet.

    Args:
        csv_id: Id of the one for CSV; `parquet_id` names the other. Its words name the table for
            screen readers.
    """
    forms = ((csv_id, "CSV"), (parquet_id(csv_id), "Parquet"))
    what = csv_id.removesuffix("-csv-button").replace("-", " ")
    return html.Span([_file_button(*form, what) for form in forms], className="file-buttons")


def parquet_id(csv_id: str) -> str:
    """Name the button for Parquet beside the one for CSV.

    Example:
        >>> parquet_id("tests-csv-button")
        'tests-parquet-button'
    """
    return csv_id.replace("csv", "parquet")


def _file_button(button_id: str, form: str, what: str) -> Component:
    button: Component = dmc.Button(
        form,
        id=button_id,
        leftSection=icon("download"),
        variant="default",
        size="compact-sm",
        **aria(label=f"Download {what} as {form}"),
    )
    return button


@dataclass(frozen=True, slots=True)
class StayLinks:
    """Makes the links of one page.

    Attributes:
        store_id: The `dcc.Store` that holds the query part of the page's address.
    """

    store_id: str

    def link(
        self, children: Any, search: str, *, label: str = "", key: str = "", **further: Any
    ) -> Component:
        """Build a link to another state of the same page.

        Args:
            children: What it shows.
            search: The query part of the address; empty for the state without any filter.
            label: What screen readers say, where `children` do not tell.
            key: "escape", "previous" or "next": the key that follows the link, too.
            further: Properties of `html.A`.
        """
        attributes = data(stay_store=self.store_id)
        if key:
            attributes |= data(key=key)
        if label:
            attributes |= aria(label=label)
        return html.A(children, href=search or "?", **attributes, **further)

    def key_link(
        self, name: str, search: str, *, label: str, key: str = "", **further: Any
    ) -> Component:
        """Build a link with a picture; a key follows it, too, `name` unless `key` is given."""
        named = {"label": label, "key": key or name, "title": label}
        return self.link(icon(name), search, **named, className="panel-button", **further)

    def chip(
        self, text: str, search: str, *, is_active: bool, count: int | None = None, title: str = ""
    ) -> Component:
        """Build a small switch of a filter; screen readers hear whether it is on."""
        number = None if count is None else html.Span(f"{count:,}", className="chip-count")
        return self.link(
            [text, number],
            search,
            className="chip is-active" if is_active else "chip",
            title=title or None,
            **aria(current="true" if is_active else "false"),
        )


def chip_row(label: str, chips: Sequence[Component]) -> Component:
    """Build a row of switches with what they are about."""
    return html.Div(
        [html.Span(label, className="chip-row-label"), *chips],
        className="chip-row",
        role="group",
        **aria(label=label),
    )


COLUMNS_AT_ONCE = 24
"""Columns of a heat map; more of them are shown page by page."""


def page_steps(
    links: StayLinks,
    url: UrlState,
    n_items: int,
    page_size: int,
    *,
    label: str,
    field: str = "page",
) -> Component | None:
    """Build the links to the pages before and after; None for a single page.

    Args:
        links: Of the page.
        url: Its state.
        n_items: Items on all pages of the list.
        page_size: Items of one page.
        label: Its name for screen readers.
        field: Field of the state that holds the page, from 1.
    """
    if n_items <= page_size:
        return None
    page: int = getattr(url, field)
    first, last = (page - 1) * page_size + 1, min(page * page_size, n_items)

    def step(text: str, to: int) -> Component:
        if 1 <= to <= -(-n_items // page_size):
            return links.link(text, url.change(**{field: to}).search, className="page-step")
        return html.Span(text, className="page-step is-off", **aria(disabled="true"))

    shown = html.Span(f"{first:,} to {last:,} of {n_items:,}", className="quiet")
    return html.Nav(
        [step("Previous", page - 1), shown, step("Next", page + 1)],
        className="page-steps",
        **aria(label=label),
    )


def class_link(links: StayLinks, url: ListUrl, class_id: str, text: str) -> Component:
    """Build a link that filters by a test class, or removes that filter."""
    is_chosen = class_id in url.classes
    return links.link(
        text,
        url.toggle("classes", class_id).change(test="").search,
        className="class-link is-active" if is_chosen else "class-link",
        title="All classes" if is_chosen else "Only this class",
        **aria(current="true" if is_chosen else "false"),
    )


def search_box(box_id: str, label: str, placeholder: str, value: str) -> Component:
    """Build a box that takes words to look for, once typing pauses."""
    box: Component = dmc.TextInput(
        id=box_id,
        value=value,
        placeholder=placeholder,
        leftSection=icon("search"),
        debounce=40,
        size="xs",
        className="filter-wide",
        **aria(label=label),
    )
    return box


def range_boxes(
    label: str,
    low: tuple[str, float | None],
    high: tuple[str, float | None],
    *,
    least: float = 0,
    most: float | None = None,
) -> Component:
    """Build two boxes for the limits of a figure.

    Args:
        label: What the figure is.
        low: Id of the box of the lower limit, and the limit at first.
        high: The same of the upper limit.
        least: The smallest limit.
        most: The largest limit; None for no such bound.
    """
    boxes = [
        dmc.NumberInput(
            id=box_id,
            value="" if value is None else value,
            placeholder=name,
            **number_range(least, most),
            step=0.1 if most == 1 else 1,
            debounce=400,
            size="xs",
            hideControls=True,
            **aria(label=f"{label}: {name}"),
        )
        for name, (box_id, value) in (("from", low), ("to", high))
    ]
    return html.Div([html.Span(label), *boxes], className="filter-range")
