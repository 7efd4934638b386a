"""Which issues the page shows, as its address tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from poor_bench.dashboard.addresses import first, search_of
from poor_bench.dashboard.links import Search, read_search
from poor_bench.issues.detector import Issue, Severity
from poor_bench.issues.format_tax import FormatTax


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueSelection:
    """Filters of the page; an empty one lets everything through."""

    llm_ids: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    severity: str = ""

    @property
    def search(self) -> str:
        """The query part of the address of this state."""
        return search_of(llm=self.llm_ids, class_=self.classes, severity=[self.severity])

    def changed(self, **changes: Any) -> IssueSelection:
        """Copy the selection with other values."""
        return replace(self, **changes)


def selection_of(search: str | None) -> IssueSelection:
    """Parse the query part of an address.

    Example:
        >>> selection_of("?llm=a&severity=high").severity
        'high'
    """
    return selection_in(read_search(search))


def selection_in(query: Search) -> IssueSelection:
    """Read the selection from a parsed query."""
    severity = first(query, "severity")
    return IssueSelection(
        llm_ids=tuple(query.get("llm", ())),
        classes=tuple(query.get("class", ())),
        severity=severity if severity in set(Severity) else "",
    )


def chosen_issues(
    issues: Sequence[Issue], selection: IssueSelection, class_of: Mapping[str, str]
) -> list[Issue]:
    """Filter issues by models and classes; severity belongs to the group."""
    return [
        issue
        for issue in issues
        if (not selection.llm_ids or issue.llm_id in selection.llm_ids)
        and (not selection.classes or class_of.get(issue.test_id, "") in selection.classes)
    ]


def chosen_tax(rows: Sequence[FormatTax], selection: IssueSelection) -> list[FormatTax]:
    """Filter rows with a format tax by models and classes."""
    return [
        row
        for row in rows
        if row.tax > 0
        and (not selection.llm_ids or row.llm_id in selection.llm_ids)
        and (not selection.classes or row.class_id in selection.classes)
    ]
