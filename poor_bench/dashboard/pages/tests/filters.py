"""Filters of the tests: what they find, the kinds of findings, the switches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dash import html
from dash.development.base_component import Component

from poor_bench.config.load import Workspace
from poor_bench.dashboard.components.blocks import COMPUTING, computing, set_code
from poor_bench.dashboard.components.controls import chip_row
from poor_bench.dashboard.pages.tests.layout import LINKS, SortBy, TestState, TestUrl
from poor_bench.dashboard.services.test_edits import list_refusals
from poor_bench.dashboard.services.test_findings import FindingGroup, TestFinding, rate_severity
from poor_bench.dashboard.text.formatting import sentences
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.issues.detector import IssueSeverity
from poor_bench.messages import write_count
from poor_bench.models.test import Test
from poor_bench.statistics.items import Item


@dataclass(frozen=True, slots=True)
class KnownTests:
    """What is known about tests by now."""

    items: Mapping[str, Item]
    """Test id to what results say."""
    findings: Mapping[str, tuple[TestFinding, ...]]
    """Test id to what is wrong with it."""
    has_figures: bool = True
    """False while the results are read for the first time."""

    @property
    def missing(self) -> str:
        """What stands for a figure that a test does not have."""
        return "n/a" if self.has_figures else COMPUTING


def find_tests(tests: Iterable[Test], url: TestUrl, known: KnownTests) -> list[Test]:
    """Find tests, and sort them; those without a figure stand last in both directions."""
    words, is_limited = url.text.casefold(), _has_limit(url)
    found = [
        test
        for test in tests
        if (not url.classes or test.class_id in url.classes)
        and (not url.levels or test.level in url.levels)
        and (not url.state or test.enabled == (url.state is TestState.ENABLED))
        and (not words or words in _build_searched_text(test))
        and _has_finding(test, url, known)
        and (not is_limited or _is_in_ranges(known.items.get(test.test_id), url))
    ]
    return _sort(found, url, known)


def choose_tests(found: Iterable[Test], url: TestUrl) -> list[str]:
    """List the tests that a bulk edit changes: the ticked ones, or all that were found."""
    return [test.test_id for test in found if not url.ticked or test.test_id in url.ticked]


def describe_scope(found: Sequence[Test], url: TestUrl) -> str:
    """Say which tests an edit changes."""
    n_chosen = len(choose_tests(found, url))
    if url.ticked:
        return f"{write_count(n_chosen, 'ticked test')}:"
    return f"All {write_count(n_chosen, 'shown test')}:"


def _has_finding(test: Test, url: TestUrl, known: KnownTests) -> bool:
    if not url.kind and not url.severity:
        return True
    return any(
        (not url.kind or finding.kind == url.kind)
        and (not url.severity or finding.severity == url.severity)
        for finding in known.findings.get(test.test_id, ())
    )


def _has_limit(url: TestUrl) -> bool:
    limits = (
        *(url.min_mean, url.max_mean, url.min_discrimination, url.max_discrimination),
        *(url.min_flakiness, url.max_flakiness),
    )
    return url.below_zero or any(limit is not None for limit in limits)


def _is_in_ranges(item: Item | None, url: TestUrl) -> bool:
    """True if all figures of a test are between their limits."""
    discrimination = _discrimination(item)
    flakiness = _find_flakiness(item)
    return (
        (not url.below_zero or (discrimination or 0.0) < 0)
        and _is_between(item.mean_score if item else None, url.min_mean, url.max_mean)
        and _is_between(discrimination, url.min_discrimination, url.max_discrimination)
        and _is_between(
            None if flakiness is None else 100 * flakiness, url.min_flakiness, url.max_flakiness
        )
    )


def _is_between(figure: float | None, low: float | None, high: float | None) -> bool:
    """True if a figure is between the limits that are given; a missing one is beyond each."""
    if figure is None:
        return low is None and high is None
    return (low is None or figure >= low) and (high is None or figure <= high)


def _build_searched_text(test: Test) -> str:
    parts = (test.test_id, test.text or "", *(test.texts or ()), *test.tags)
    return "\n".join(parts).casefold()


def _discrimination(item: Item | None) -> float | None:
    return item.discrimination.value if item and item.discrimination else None


def _find_flakiness(item: Item | None) -> float | None:
    return item.flip_rate if item else None


def _sort(found: list[Test], url: TestUrl, known: KnownTests) -> list[Test]:
    if not url.sort:
        return found
    figures = [_read_figure(test, SortBy(url.sort), known) for test in found]
    order = [place for place, figure in enumerate(figures) if figure is not None]
    order.sort(key=figures.__getitem__, reverse=url.descending)
    order += [place for place, figure in enumerate(figures) if figure is None]
    return [found[place] for place in order]


_RANKS = {severity: rank for rank, severity in enumerate(IssueSeverity)}


def _read_figure(test: Test, sort: SortBy, known: KnownTests) -> Any:
    """Read what sorts a test, a number or a text; None if it has none."""
    item, findings = known.items.get(test.test_id), known.findings.get(test.test_id, ())
    if sort is SortBy.LEVEL:
        return test.level
    if sort is SortBy.SEVERITY:
        worst = rate_severity(findings)
        return None if worst is None else _RANKS[worst]
    if sort is SortBy.KIND:
        ranked = ((_RANKS[each.severity], each.title) for each in findings)
        return min(ranked, default=(0, None))[1]
    if sort is SortBy.MEAN:
        return item.mean_score if item else None
    if sort is SortBy.FLAKINESS:
        return _find_flakiness(item)
    return _discrimination(item)


def build_finding_groups(
    groups: Sequence[FindingGroup], url: TestUrl, *, is_whole: bool
) -> Component:
    """Build the kinds of findings, the most harmful first, each with a filter of its tests.

    Args:
        groups: The kinds that are known by now.
        url: State of the page.
        is_whole: False until all tests were looked at for the first time.
    """
    if not groups and is_whole:
        return html.Span("No findings", className="quiet")
    listed = [_finding_group(group, url) for group in groups]
    return html.Div([*listed, None if is_whole else computing()], className="causes")


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


_NAMED = 5


def build_refusal(
    error: PoorBenchError, tests: Sequence[Test] = (), url: TestUrl | None = None
) -> Component:
    """Say why tests were not edited: reason by reason, with links to the tests.

    Args:
        error: Why.
        tests: Those that the file would have.
        url: State of the page.
    """
    problems = error.problems if isinstance(error, ConfigError) else ()
    reasons = [
        html.Li([*_link_tests(each.test_ids, url or TestUrl()), *set_code(each.reason)])
        for each in list_refusals(problems, tests)
    ]
    told = set_code(sentences(f"Not changed: {error}", error.hint))
    return html.Div([html.P(told), html.Ul(reasons) if reasons else None])


def _link_tests(test_ids: Sequence[str], url: TestUrl) -> list[str | Component]:
    links: list[str | Component] = []
    for test_id in test_ids[:_NAMED]:
        links += [LINKS.link(test_id, url.change(test=test_id).search), ", "]
    n_more = len(test_ids) - _NAMED
    end = f" and {n_more} more: " if n_more > 0 else ": "
    return [*links[:-1], end] if links else []


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
    rows.append(chip_row("Show", [below, *states]))
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
