"""The page as the registry takes it."""

from __future__ import annotations

from poor_bench.dashboard.pages.page import Page
from poor_bench.dashboard.pages.tests.callbacks import register
from poor_bench.dashboard.pages.tests.layout import layout

TESTS = Page(path="/tests", title="Tests", layout=layout, register=register)
