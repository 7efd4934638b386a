"""Kinds of findings, and the switches that filter the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.blocks import empty_state, set_code
from poor_bench.dashboard.components.controls import chip_row
from poor_bench.dashboard.pages.tests.layout import LINKS, TestState, TestUrl
from poor_bench.issues.detector import IssueSeverity
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dash.development.base_component import Component

    from poor_bench.config.load import Workspace
    from poor_bench.dashboard.services.test_findings import FindingGroup


def build_finding_groups(
    groups: Sequence[FindingGroup], url: TestUrl, *, is_complete: bool
) -> Component:
    """Build the kinds of findings, the most harmful first, each with a filter of its tests.

    Args:
        groups: The kinds that are known by now.
        url: State of the page.
        is_complete: False while more may be found.
    """
    if not groups and not is_complete:
        return html.Span("computing ...", className="quiet")
    if not groups:
        return empty_state("No findings", "No check found a problem in these tests.")
    return html.Div([_finding_group(group, url) for group in groups], className="causes")


def _finding_group(group: FindingGroup, url: TestUrl) -> Component:
    is_shown = (url.kind, url.severity) == (group.kind, group.severity)
    filtered = url.change(kind=group.kind, severity=group.severity, ticked=(), test="")
    shown = url.change(kind="", severity="") if is_shown else filtered
    example = url.change(test=group.test_ids[0]).search
    count = write_count(len(group.test_ids), "test")
    return html.Div(
        [
            html.Span(group.severity.value, className=f"grade is-{group.severity.value}"),
            html.Div(
                [
                    html.Span(group.title, className="cause-title"),
                    html.Div(
                        [
                            LINKS.link(group.test_ids[0], example),
                            ": ",
                            *set_code(group.example.text[:240]),
                        ],
                        className="finding-example",
                    ),
                    html.Div(set_code(group.example.fix), className="quiet")
                    if group.example.fix
                    else None,
                ]
            ),
            html.Span(count, className="cause-where"),
            LINKS.chip("Show all" if is_shown else "Show tests", shown.search, is_active=is_shown),
        ],
        className="finding-group",
    )


def build_filters(workspace: Workspace, url: TestUrl) -> list[Component]:
    """Build the switches of level, severity and state, and those that remove a filter."""
    levels = sorted({test.level for test in workspace.tests})
    rows = [chip_row("Findings", [_severity_chip(each, url) for each in IssueSeverity])]
    if len(levels) > 1:
        rows.append(chip_row("Level", [_level_chip(level, url) for level in levels]))
    states = [_state_chip(state, url) for state in TestState] if _has_disabled(workspace) else []
    below = LINKS.chip(
        "Discrimination below 0",
        url.change(below_zero=not url.below_zero).search,
        is_active=url.below_zero,
    )
    rows.append(chip_row("Only", [below, *states]))
    active = [*_removers(url)]
    return [*rows, chip_row("Remove", active)] if active else rows


def _has_disabled(workspace: Workspace) -> bool:
    return any(not test.enabled for test in workspace.tests)


def _severity_chip(severity: IssueSeverity, url: TestUrl) -> Component:
    is_active = url.severity == severity
    search = url.change(severity="" if is_active else severity, kind="").search
    return LINKS.chip(severity.value, search, is_active=is_active)


def _level_chip(level: int, url: TestUrl) -> Component:
    search = url.toggle("levels", level).search
    return LINKS.chip(str(level), search, is_active=level in url.levels)


def _state_chip(state: TestState, url: TestUrl) -> Component:
    is_active = url.state == state
    search = url.change(state="" if is_active else state).search
    return LINKS.chip(state.value, search, is_active=is_active)


def _removers(url: TestUrl) -> list[Component]:
    """Build a link for each filter that has no switch on the page, and for the ticks."""
    removers = []
    if url.kind:
        removers.append(
            ("findings: " + url.kind.replace("_", " "), url.change(kind="", severity=""))
        )
    if url.classes:
        removers.append(("class: " + ", ".join(url.classes), url.change(classes=())))
    if url.ticked:
        removers.append((write_count(len(url.ticked), "tick"), url.change(ticked=())))
    return [LINKS.chip(text, without.search, is_active=True) for text, without in removers]
