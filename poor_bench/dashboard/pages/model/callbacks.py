"""Handlers of the page: ask the services, call the layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dash import Dash

    from poor_bench.dashboard.services.services import Services


def register(_app: Dash, _services: Services) -> None:
    """Bind the handlers."""
