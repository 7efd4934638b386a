"""The page as the registry takes it."""

from __future__ import annotations

from poor_bench.dashboard.pages.compare.callbacks import register
from poor_bench.dashboard.pages.compare.layout import layout
from poor_bench.dashboard.pages.page import Page

COMPARE = Page(
    path="/compare",
    title="Compare",
    layout=layout,
    llm_keys=("llm", "base", "left", "right"),
    register=register,
)
