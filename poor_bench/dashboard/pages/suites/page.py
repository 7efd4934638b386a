"""Entry of the page in the registry."""

from __future__ import annotations

from poor_bench.dashboard.pages.page import Page
from poor_bench.dashboard.pages.suites.callbacks import register
from poor_bench.dashboard.pages.suites.layout import layout

SUITES = Page(path="/suites", title="Suites", layout=layout, register=register)
