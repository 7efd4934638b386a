"""Links within a page: they change its state in the address, and nothing scrolls away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dash import html

from poor_bench.dashboard.components.attributes import aria, data

if TYPE_CHECKING:
    from dash.development.base_component import Component


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
        """Return a link to another state of the same page.

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

    def chip(
        self, text: str, search: str, *, is_active: bool, count: int | None = None, title: str = ""
    ) -> Component:
        """Return a small switch of a filter; screen readers hear whether it is on."""
        number = None if count is None else html.Span(f"{count:,}", className="chip-count")
        return self.link(
            [text, number],
            search,
            className="chip is-active" if is_active else "chip",
            title=title or None,
            **aria(current="true" if is_active else "false"),
        )


def chip_row(label: str, chips: Sequence[Component]) -> Component:
    """Return a row of switches with what they are about."""
    return html.Div(
        [html.Span(label, className="chip-row-label"), *chips],
        className="chip-row",
        role="group",
        **aria(label=label),
    )
