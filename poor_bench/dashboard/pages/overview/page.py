"""The page as the navigation knows it."""

from __future__ import annotations

from poor_bench.dashboard.pages.overview.callbacks import register
from poor_bench.dashboard.pages.overview.layout import layout
from poor_bench.dashboard.pages.page import Page

OVERVIEW = Page(path="/", title="Overview", layout=layout, register=register)
