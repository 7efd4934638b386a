"""What a page is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dash import Dash
    from dash.development.base_component import Component

    from poor_bench.dashboard.links import Search
    from poor_bench.dashboard.services.services import Services


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of the dashboard."""

    path: str
    """Where it stands, such as `/run`."""
    title: str
    """What navigation and browser tab call it."""
    layout: Callable[[Search], Component]
    """Returns the page without data, its filters set as its address says; callbacks fill it."""
    start: Callable[[Services, Search], Search] = lambda _services, search: search
    """Completes what an address says by what the page cannot be without; never raises
    PoorBenchError."""
    llm_keys: tuple[str, ...] = ("llm",)
    """Names in the query of its address whose values are LLMs."""
    parts: Callable[[], Sequence[Component]] = tuple
    """Returns one of each component with an id that callbacks put into the page later."""
    register: Callable[[Dash, Services], None]
    """Binds the handlers of the page to an application."""
