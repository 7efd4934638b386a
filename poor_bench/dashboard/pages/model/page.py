"""The page as the navigation knows it."""

from __future__ import annotations

from poor_bench.dashboard.pages.model.callbacks import register
from poor_bench.dashboard.pages.model.filter_callbacks import start
from poor_bench.dashboard.pages.model.layout import layout, parts
from poor_bench.dashboard.pages.page import Page

MODEL = Page(
    path="/model", title="Model", layout=layout, start=start, parts=parts, register=register
)
