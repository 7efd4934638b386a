"""The page for the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poor_bench.dashboard.pages.judge import callbacks, label_callbacks, start_callbacks
from poor_bench.dashboard.pages.judge.layout import layout
from poor_bench.dashboard.pages.page import Page

if TYPE_CHECKING:
    from dash import Dash

    from poor_bench.dashboard.services.services import Services


def _register(app: Dash, services: Services) -> None:
    callbacks.register(app, services)
    label_callbacks.register(app, services)
    start_callbacks.register(app, services)


JUDGE = Page(path="/judge", title="Judge", layout=layout, register=_register)
