"""Issues by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import dcc, html

from poor_bench.dashboard.components.blocks import aria, empty_state, no_results
from poor_bench.dashboard.services.issue_reports import NEED_ALL_LLMS
from poor_bench.dashboard.url_state import link_to_tests, model_link
from poor_bench.issues.detector import IssueSeverity
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dash.development.base_component import Component

    from poor_bench.dashboard.pages.issues.layout import IssueUrl
    from poor_bench.issues.detector import Issue, IssueGroup


_HEADINGS = ("", "Severity", "Cause", "Trials", "Share of lost score")
_SHOWN_LLMS = 12


def issue_groups(
    groups: Sequence[IssueGroup],
    name_of: Callable[[str], str],
    url: IssueUrl,
    *,
    n_results: int,
) -> Component:
    """Build the list of causes, or a note if there are none.

    Args:
        groups: The causes, in the order to show.
        name_of: LLM id to what screens call it.
        url: State of the page; links keep its filters.
        n_results: Trials that were looked at, with and without findings.
    """
    if not n_results:
        return no_results("Run the tests first. Issues are then listed by cause.")
    if not groups:
        return empty_state("No issues", "No issues match these filters.")
    return html.Div(
        [
            html.Div(
                [html.Span(heading) for heading in _HEADINGS],
                className="cause-head cause-headings",
                **aria(hidden="true"),
            ),
            *(_group(group, name_of, url, is_open=group is groups[0]) for group in groups),
        ],
        className="causes",
    )


def _group(
    group: IssueGroup, name_of: Callable[[str], str], url: IssueUrl, *, is_open: bool
) -> Component:
    return html.Details(
        [_head(group), html.Div(_body(group, name_of, url), className="cause-body")],
        className="cause",
        open=is_open,
    )


def _head(group: IssueGroup) -> Component:
    share = f"{group.lost_share:.1%}"
    return html.Summary(
        [
            html.Span(group.severity.value, className=f"grade is-{group.severity.value}"),
            html.Span(group.title, className="cause-title"),
            html.Span(_where(group), className="cause-where"),
            html.Span(
                [
                    html.Span(
                        html.Span(className="share-fill", style={"--share": share}),
                        className="share-track",
                        **aria(hidden="true"),
                    ),
                    html.Span(share if group.lost_score else "-", className="share-value"),
                ],
                className="share",
                title=f"{group.lost_score:.1f} points lost, {share} of all lost score",
            ),
        ],
        className="cause-head",
    )


def _where(group: IssueGroup) -> str:
    llms = write_count(len(group.n_by_llm), "model")
    return f"{write_count(group.n_trials, 'trial')}, {llms}"


def _body(group: IssueGroup, name_of: Callable[[str], str], url: IssueUrl) -> list[Component]:
    return [
        html.Dl(
            [
                html.Dt("Meaning"),
                html.Dd(group.meaning),
                html.Dt("Fix"),
                html.Dd([group.advice, _link_tests(group, url)]),
                html.Dt("Examples"),
                html.Dd(
                    html.Ul(
                        [_example(issue, name_of, url) for issue in group.examples],
                        className="cause-examples",
                    )
                ),
                html.Dt("By model"),
                html.Dd(_by_llm(group.detector_id, group.n_by_llm, name_of, url)),
            ],
            className="cause-facts",
        )
    ]


def _link_tests(group: IssueGroup, url: IssueUrl) -> Component | None:
    """Link the cause that lies in tests to those tests."""
    if group.detector_id not in NEED_ALL_LLMS:
        return None
    href = link_to_tests(classes=url.classes, levels=url.levels, severity=IssueSeverity.HIGH.value)
    return dcc.Link("Show these tests", href=href, className="cause-tests")


def _example(issue: Issue, name_of: Callable[[str], str], url: IssueUrl) -> Component:
    href = model_link(
        issue.llm_id,
        classes=url.classes,
        levels=url.levels,
        test=issue.test_id,
        trial=str(issue.trial),
    )
    return html.Li(
        [
            html.Span(
                [
                    dcc.Link(issue.test_id, href=href),
                    html.Span(f" by {name_of(issue.llm_id)}", className="quiet"),
                ],
                className="example-place",
            ),
            html.Code(issue.evidence, className="evidence"),
        ]
    )


def _by_llm(
    detector_id: str, n_by_llm: Mapping[str, int], name_of: Callable[[str], str], url: IssueUrl
) -> Component:
    shown = list(n_by_llm.items())[:_SHOWN_LLMS]
    further = len(n_by_llm) - len(shown)
    links: list[Component] = [
        dcc.Link(
            [name_of(llm_id), html.Span(f"{count:,}", className="chip-count")],
            href=model_link(llm_id, classes=url.classes, levels=url.levels, issue=detector_id),
            className="chip",
        )
        for llm_id, count in shown
    ]
    if further > 0:
        links.append(html.Span(f"and {further} more", className="quiet"))
    return html.Div(links, className="chip-row")
