"""Which tests the filters find, and what speaks against tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poor_bench.dashboard.pages.tests.selection import chosen_tests, selection_of
from poor_bench.dashboard.services.test_reports import TestReports
from poor_bench.models.test import Test

if TYPE_CHECKING:
    from poor_bench.dashboard.services.services import Services


def suspicious(reports: TestReports) -> set[str]:
    """Return the tests with something against them, as far as it is known by now."""
    faults, items = reports.faults().value, reports.items().value
    found = set(faults.by_test) if faults else set()
    return found | {name for name, item in (items.items if items else {}).items() if item.suspicion}


def found_tests(services: Services, reports: TestReports, search: str | None) -> list[Test]:
    """Return the tests that the filters find."""
    return chosen_tests(services.workspace().tests, selection_of(search), suspicious(reports))
