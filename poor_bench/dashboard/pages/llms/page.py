"""The page as the registry takes it."""

from __future__ import annotations

from poor_bench.dashboard.pages.llms.callbacks import register
from poor_bench.dashboard.pages.llms.layout import layout
from poor_bench.dashboard.pages.page import Page

LLMS = Page(path="/llms", title="Models", layout=layout, register=register)
