"""The page as the navigation knows it."""

from __future__ import annotations

from poor_bench.dashboard.pages.page import Page
from poor_bench.dashboard.pages.run.callbacks import register
from poor_bench.dashboard.pages.run.layout import layout

RUN = Page(path="/run", title="Run", layout=layout, register=register)
