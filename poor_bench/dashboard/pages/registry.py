"""All pages, in the order of the navigation."""

from __future__ import annotations

from poor_bench.dashboard.pages.compare.page import COMPARE
from poor_bench.dashboard.pages.issues.page import ISSUES
from poor_bench.dashboard.pages.judge.page import JUDGE
from poor_bench.dashboard.pages.llms.page import LLMS
from poor_bench.dashboard.pages.model.page import MODEL
from poor_bench.dashboard.pages.overview.page import OVERVIEW
from poor_bench.dashboard.pages.page import Page
from poor_bench.dashboard.pages.run.page import RUN
from poor_bench.dashboard.pages.suites.page import SUITES
from poor_bench.dashboard.pages.tests.page import TESTS

PAGES: tuple[Page, ...] = (OVERVIEW, MODEL, COMPARE, ISSUES, TESTS, LLMS, RUN, JUDGE, SUITES)


def page_at(path: str | None) -> Page | None:
    """Return the page at a path; None where there is none."""
    wanted = (path or "/").rstrip("/") or "/"
    return next((page for page in PAGES if page.path == wanted), None)
