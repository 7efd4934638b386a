"""The page for the registry."""

from __future__ import annotations

from poor_bench.dashboard.pages.issues.callbacks import register
from poor_bench.dashboard.pages.issues.layout import layout
from poor_bench.dashboard.pages.page import Page

ISSUES = Page(path="/issues", title="Issues", layout=layout, register=register)
