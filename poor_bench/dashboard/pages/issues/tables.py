"""Issues by cause, and the format tax."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from poor_bench import metrics
from poor_bench.dashboard.components.blocks import aria, empty_state, no_results, set_emphasis
from poor_bench.dashboard.components.sheets import SheetColumn, SheetTable
from poor_bench.dashboard.components.tables import number, quiet
from poor_bench.dashboard.pages.issues.layout import LINKS, IssueUrl
from poor_bench.dashboard.services.issue_reports import NEED_ALL_LLMS
from poor_bench.dashboard.url_state import link_to_tests, model_link
from poor_bench.issues.detector import Issue, IssueGroup, IssueSeverity
from poor_bench.issues.form import FormatTax
from poor_bench.messages import write_count, write_share
from poor_bench.metrics import Metric

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
        return no_results()
    if not groups:
        return empty_state("No issues")
    chosen = {each.field: each for each in CAUSES.select_shown(groups, url.find_view(CAUSES.name))}
    shown = [chosen[field] for field in _PLACES if field in chosen]
    hidden = [f"hides-{field}" for field in _PLACES if field not in chosen]
    return html.Div(
        [
            html.Div(CAUSES.chooser(groups, LINKS, url), className="choosable"),
            html.Div(
                [html.Span(), *(html.Span(column.heading) for column in shown)],
                className="cause-head cause-headings",
                **aria(hidden="true"),
            ),
            *(_group(group, name_of, url, shown, is_open=group is groups[0]) for group in groups),
        ],
        className=" ".join(["causes", *hidden]),
    )


Columns = Sequence[SheetColumn[IssueGroup]]


def _group(
    group: IssueGroup,
    name_of: Callable[[str], str],
    url: IssueUrl,
    shown: Columns,
    *,
    is_open: bool,
) -> Component:
    return html.Details(
        [
            html.Summary([column.draw(group) for column in shown], className="cause-head"),
            html.Div(_body(group, name_of, url), className="cause-body"),
        ],
        className="cause",
        open=is_open,
    )


def _severity(group: IssueGroup) -> Component:
    return html.Span(group.severity.value, className=f"grade is-{group.severity.value}")


def _lost(group: IssueGroup) -> Component:
    share = write_share(group.lost_share, 1)
    return html.Span(
        [
            html.Span(
                html.Span(className="share-fill", style={"--share": f"{group.lost_share:.1%}"}),
                className="share-track",
                **aria(hidden="true"),
            ),
            html.Span(share if group.lost_score else "-", className="share-value"),
        ],
        className="share",
        title=f"{group.lost_score:.1f} points, {share}",
    )


def _where(group: IssueGroup) -> str:
    llms = write_count(len(group.n_by_llm), "model")
    return f"{write_count(group.n_trials, 'trial')}, {llms}"


CAUSES: SheetTable[IssueGroup] = SheetTable(
    name="causes",
    label="By cause",
    columns=[
        SheetColumn(
            field="cause", heading="Cause", value=lambda each: each.title,
            cell=lambda each: html.Span(each.title, className="cause-title"),
        ),
        SheetColumn(
            field="severity", heading="Severity", value=lambda each: each.severity.value,
            cell=_severity,
        ),
        SheetColumn(
            field="trials", heading="Trials", value=lambda each: each.n_trials,
            cell=lambda each: html.Span(_where(each), className="cause-where"),
        ),
        SheetColumn(
            field="lost", heading="Lost score", value=lambda each: each.lost_score, cell=_lost
        ),
    ],
)  # fmt: skip
_PLACES = ("severity", "cause", "trials", "lost")
"""From left to right."""


def _body(group: IssueGroup, name_of: Callable[[str], str], url: IssueUrl) -> list[Component]:
    return [
        html.Dl(
            [
                html.Dt("Meaning"),
                html.Dd(group.meaning),
                html.Dt("Fix"),
                html.Dd([f"{group.advice} ", _link_tests(group, url)]),
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
    return dcc.Link("Show tests", href=href, className="cause-tests")


def _example(issue: Issue, name_of: Callable[[str], str], url: IssueUrl) -> Component:
    quoted = html.Code(set_emphasis(issue.evidence), className="evidence")
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
            quoted if issue.evidence else None,
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


_SHOWN_ROWS = 60
NameOf = Callable[[str], str]


def list_tax_columns(name_of: NameOf = str) -> SheetTable[FormatTax]:
    """Define the table.

    Args:
        name_of: LLM id to what screens call it.
    """
    figures: list[SheetColumn[FormatTax]] = [
        _figure(metrics.SCORE, lambda each: each.score),
        _figure(metrics.STRICT_SCORE, lambda each: each.strict_score),
        _figure(metrics.FORMAT_TAX, lambda each: each.tax),
    ]
    return SheetTable(
        name="tax",
        label="Format tax",
        kept=(("Model ID", lambda each: each.llm_id),),
        columns=[
            SheetColumn(
                field="model", heading="Model", value=lambda each: name_of(each.llm_id),
                cell=partial(_link_model, name_of),
            ),
            SheetColumn(
                field="class", heading="Class", value=lambda each: each.class_id or "unknown"
            ),
            SheetColumn(
                field="trials", heading="Trials", value=lambda each: each.n_scored,
                cell=lambda each: number(f"{each.n_scored:,}"),
            ),
            *figures,
            SheetColumn(
                field="found", heading="Answer found", value=_write_found
            ),
            SheetColumn(
                field="fix", heading="Fix", value=lambda each: each.fix,
                cell=lambda each: quiet(each.fix),
            ),
        ],
    )  # fmt: skip


def tax_table(
    rows: Sequence[FormatTax], llm_ids: Sequence[str], name_of: NameOf, url: IssueUrl
) -> Component:
    """Build the table, highest tax first unless the reader sorts it.

    Args:
        rows: Models and classes whose strict scores are known.
        llm_ids: All models that are shown; those without a row are n/a.
        name_of: Model id to what screens call it.
        url: State of the page.
    """
    known = {row.llm_id for row in rows}
    if not known:
        return empty_state("n/a")
    told, untold = (
        _name_models([name_of(each) for each in llm_ids if (each in known) is is_known])
        for is_known in (True, False)
    )
    taxed, not_known = pick_taxed(rows), f"n/a: {untold}" if untold else ""
    if not taxed:
        return empty_state(f"No format tax: {told}" if untold else "No format tax", not_known)
    table = list_tax_columns(name_of).draw(taxed, LINKS, url, n_shown=_SHOWN_ROWS)
    return html.Div([table, html.P(not_known, className="quiet")]) if untold else table


_NAMED = 10


def _name_models(names: Sequence[str]) -> str:
    more = [f"and {len(names) - _NAMED:,} more"] if len(names) > _NAMED else []
    return ", ".join([*names[:_NAMED], *more])


def pick_taxed(rows: Sequence[FormatTax]) -> list[FormatTax]:
    """Pick those whose format cost score."""
    return [row for row in rows if row.tax > 0]


def _figure(metric: Metric, read: Callable[[FormatTax], float]) -> SheetColumn[FormatTax]:
    kind = "is-tax" if metric is metrics.FORMAT_TAX else ""
    return SheetColumn(
        field=metric.name,
        heading=metric.label,
        value=read,
        cell=lambda each: number(metrics.score_text(read(each)), kind),
        hint=metric.meaning,
        file_heading=metric.file_heading,
    )


def _link_model(name_of: NameOf, tax: FormatTax) -> Any:
    classes = [tax.class_id] if tax.class_id else []
    return dcc.Link(name_of(tax.llm_id), href=model_link(tax.llm_id, classes=classes))


def _write_found(tax: FormatTax) -> str:
    return ", ".join(f"{way or 'unknown'} {count}x" for way, count in tax.n_by_found.items())
