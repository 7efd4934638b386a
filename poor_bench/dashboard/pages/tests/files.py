"""The tables of the page as files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poor_bench.dashboard.components.downloads import text_file
from poor_bench.dashboard.pages.tests.found import found_tests
from poor_bench.dashboard.services.test_reports import TestReports
from poor_bench.reports.csv_table import csv_text

if TYPE_CHECKING:
    from poor_bench.dashboard.services.services import Services

_COLUMNS = ("test_id", "class_id", "level", "mean_score", "pass_rate", "text", "suspicion")


def tests_csv(services: Services, reports: TestReports, search: str | None) -> dict[str, Any]:
    """Return the tests that the filters find as a file."""
    answer = reports.items().value
    items = answer.items if answer else {}
    rows = []
    for test in found_tests(services, reports, search):
        item = items.get(test.test_id)
        row: dict[str, Any] = {"test_id": test.test_id, "class_id": test.class_id}
        row |= {"level": test.level, "text": test.text or " | ".join(test.texts or ())}
        if item is not None:
            row |= {"mean_score": item.mean_score, "pass_rate": item.pass_rate}
            row["suspicion"] = item.suspicion
        rows.append(row)
    return text_file("tests.csv", csv_text([(name, name) for name in _COLUMNS], rows))


def classes_csv(services: Services, reports: TestReports) -> dict[str, Any]:
    """Return the test classes as a file; difficulty is 1 minus the mean score."""
    workspace, answer = services.workspace(), reports.items().value
    orders = answer.orders if answer else {}
    levels = sorted({test.level for test in workspace.tests})
    rows = []
    for class_id, test_class in workspace.test_classes.items():
        row: dict[str, Any] = {"class_id": class_id}
        row["tests"] = sum(test.class_id == class_id for test in workspace.tests)
        row["evaluator"] = test_class.evaluator.name if test_class.evaluator else None
        if class_id in orders:
            row["order"] = orders[class_id].verdict.value
            row |= {
                f"difficulty_{level}": hard for level, hard in orders[class_id].difficulty.items()
            }
        rows.append(row)
    columns = ["class_id", "tests", "evaluator", "order", *(f"difficulty_{n}" for n in levels)]
    return text_file("test_classes.csv", csv_text([(name, name) for name in columns], rows))
