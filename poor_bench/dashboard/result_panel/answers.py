"""The answer of a result, rendered or raw, its thinking, and other answers to the same test."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dash import dcc, html
from dash.development.base_component import Component

from poor_bench.dashboard.components.badges import score_badge
from poor_bench.dashboard.components.blocks import data
from poor_bench.dashboard.components.texts import answer_difference, build_folded, plain_text
from poor_bench.dashboard.result_panel.addresses import text_address
from poor_bench.dashboard.services.panel_results import OtherAnswer, PanelResult, TextPart
from poor_bench.dashboard.services.trial_search import ResultDetails
from poor_bench.dashboard.text.rendering import MOST_RENDERED, build_rendered
from poor_bench.dashboard.url_state import result_link
from poor_bench.extraction.thinking import split_thinking
from poor_bench.messages import write_count
from poor_bench.metrics.trust import list_trial_notes
from poor_bench.models.result import Result


def build_answer(details: ResultDetails) -> Component | None:
    """Show the answer without its thinking; one that is more than text can be read rendered."""
    if not details.answer.strip():
        text = "empty answer" if details.result.failure is None else None
        return html.Section([html.H3("Answer"), html.P(text, className="quiet")]) if text else None
    whole = text_address(details.result, TextPart.ANSWER)
    raw = plain_text(details.answer, details.answer_span, whole=whole)
    rendered = build_rendered(details.answer)
    if rendered is None:
        note = f" ({len(details.answer):,} characters)"
        is_long = len(details.answer) > MOST_RENDERED
        return html.Section([html.H3(f"Answer{note if is_long else ''}"), raw])
    return html.Section(
        [
            html.H3(["Answer", *_build_switch()]),
            html.Div(rendered, className="answer-rendered"),
            html.Div(raw, className="answer-raw"),
        ]
    )


def _build_switch() -> list[Component]:
    """Build a button for either form; styles show the one that leads to the other form."""
    return [
        html.Button(
            f"Show {form}",
            type="button",
            className=f"quiet-button to-{form}",
            **data(answer_form=form),
        )
        for form in ("raw", "rendered")
    ]


def build_thinking(details: ResultDetails) -> Component | None:
    """Show the thinking, folded; None without any."""
    thinking = details.thinking
    if not thinking:
        return None
    n_words = len(thinking.split())
    whole = text_address(details.result, TextPart.THINKING)
    return build_folded(
        f"Thinking ({write_count(n_words, 'word')})", plain_text(thinking, whole=whole)
    )


_LINE = 120
_MOST_LISTED = 60
_MOST_COMPARED = 20_000


def build_others(panel: PanelResult, name_of: Callable[[str], str]) -> Component | None:
    """List the answers of other models and of other trials; None without any."""
    if not panel.others and not panel.trials:
        return None
    own = panel.details.answer
    n_others = len({each.llm_id for each in panel.others})
    lists = [
        html.Div([html.H4(title), *_build_list(answers, name, own)])
        for title, answers, name in (
            ("Other trials", panel.trials, lambda each: f"trial {each.key.trial}"),
            ("Other models", panel.others, lambda each: _name(each, name_of)),
        )
        if answers
    ]
    counts = write_count(n_others, "model") if n_others else write_count(len(panel.trials), "trial")
    return build_folded(f"Other answers ({counts})", *lists, is_open=True)


def _name(answer: OtherAnswer, name_of: Callable[[str], str]) -> str:
    trial = answer.key.trial
    return name_of(answer.llm_id) + (f", trial {trial}" if trial > 1 else "")


def _build_list(
    answers: Sequence[OtherAnswer], name: Callable[[OtherAnswer], str], own: str
) -> list[Component | None]:
    rest = len(answers) - _MOST_LISTED
    return [
        *(_build_answer(each, name(each), own) for each in answers[:_MOST_LISTED]),
        html.P(f"and {rest:,} more", className="quiet") if rest > 0 else None,
    ]


def _build_answer(answer: OtherAnswer, name: str, own: str) -> Component:
    key = answer.key
    href = result_link(answer.llm_id, key.test_id, trial=key.trial, is_failure=key.is_failure)
    return html.Details(
        [
            html.Summary(
                [
                    score_badge(answer.score, answer.notes),
                    html.Span(name, className="line-name", title=answer.llm_id),
                    html.Span(_first_line(answer.excerpt, own), className="line-answers"),
                ]
            ),
            plain_text(answer.excerpt),
            dcc.Link("Open", href=href),
        ],
        className="other-answer",
        key=href,
    )


def _first_line(text: str, own: str) -> str:
    if text and text == own.strip():
        return "same answer"
    line = " ".join(text[: 4 * _LINE].split())
    return line[:_LINE] or "empty answer"


def build_earlier(
    results: Sequence[Result], now: Result, trials: Sequence[OtherAnswer] = ()
) -> Component:
    """List the earlier results of a model for a test, with what differs from the open one.

    A response that was scored again with the same score is listed once.

    Args:
        results: All that are stored, newest first.
        now: The open one.
        trials: Those of other trials that count today: they stand in the list above.
    """
    current = {(each.key.trial, each.timestamp, each.score) for each in trials}
    earlier = {
        _tell_apart(each): each
        for each in reversed(results)
        if (each.trial, each.timestamp, each.score) not in current
    }
    earlier.pop(_tell_apart(now), None)
    if not earlier:
        return html.P("No result", className="quiet")
    listed = [_build_earlier(each, now) for each in reversed(earlier.values())]
    return html.Div(listed, key=text_address(now, TextPart.ANSWER))


def _tell_apart(result: Result) -> tuple[object, ...]:
    is_scored = result.failure is None
    return result.trial, result.timestamp, result.score, result.response, is_scored


def _build_earlier(result: Result, now: Result) -> Component:
    answer, own = (split_thinking(each.response).answer.strip() for each in (result, now))
    failure = result.failure.message if result.failure else ""
    when = result.timestamp[:16].replace("T", " ") or result.run_id
    trial = f", trial {result.trial}" if result.trial > 1 else ""
    is_long = len(answer) + len(own) > _MOST_COMPARED
    text = plain_text(answer)
    body = (
        text
        if is_long or failure
        else answer_difference(answer, own, legend=("only earlier", "only now"), if_unlike=text)
    )
    return html.Details(
        [
            html.Summary(
                [
                    score_badge(result.score, list_trial_notes(result.failure, None)),
                    html.Span(when + trial, className="line-name"),
                    html.Span(failure or _first_line(answer, own), className="line-answers"),
                ]
            ),
            body,
            html.P(f"Run {result.run_id}", className="quiet") if result.run_id else None,
        ],
        className="other-answer",
        key=f"{result.trial} {when} {result.score}",
    )
