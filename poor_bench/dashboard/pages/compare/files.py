"""The tables of the page as files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poor_bench.dashboard.pages.compare.strip import define_strip
from poor_bench.dashboard.pages.compare.view import open_view
from poor_bench.dashboard.table_files import TableFile, table_file

if TYPE_CHECKING:
    from poor_bench.dashboard.services.services import Services

_CLASS_COLUMNS = (
    ("class_id", "Test class"), ("llm_id", "Subject"), ("model", "Model"), ("score", "Score"),
    ("n", "Tests"), ("difference", "Difference"), ("low", "Difference 95 % CI low"),
    ("high", "Difference 95 % CI high"), ("common", "Common tests"),
)  # fmt: skip


def strip_csv(services: Services, search: str | None) -> TableFile | None:
    """Return the comparison of the LLMs as a file."""
    view = open_view(services, search)
    if not view.columns:
        return None
    lines = view.strip_lines(view.comparison().value)
    return define_strip().file("comparison", lines, view.url)


def classes_csv(services: Services, search: str | None) -> TableFile | None:
    """Return the scores by class as a file."""
    view = open_view(services, search)
    if not view.columns:
        return None
    return table_file("compared_classes", view.class_rows(), _CLASS_COLUMNS)


def tests_csv(services: Services, search: str | None) -> TableFile | None:
    """Return all tests that the filters find, with scores and answers, as a file."""
    view = open_view(services, search)
    if not view.columns:
        return None
    return view.define_tests().join_file("compared_tests", view.all_tests(), view.url)
