"""One trial step by step, with screenshots; the server serves those and no other file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import quote

from dash import html
from dash.development.base_component import Component
from flask import Flask, Response

from poor_bench.dashboard.components.blocks import aria, card, empty_state
from poor_bench.dashboard.components.controls import chip_row
from poor_bench.dashboard.pages.suites.layout import LINKS, SuiteUrl
from poor_bench.dashboard.pages.suites.tables import verdict
from poor_bench.dashboard.services.suite_runs import SuiteRuns
from poor_bench.dashboard.text.formatting import milliseconds_text
from poor_bench.evaluation.agent import Step
from poor_bench.evaluation.models import EvalCaseResult, EvalTrialResult
from poor_bench.messages import harmless

_MOST_TRIAL_CHIPS = 50


def replay_card(
    run_id: str,
    case: EvalCaseResult,
    trial: EvalTrialResult | None,
    directive: str,
    steps: Sequence[Step],
    url: SuiteUrl,
) -> Component:
    """A case with one of its trials, step by step.

    Args:
        run_id: Id of the run.
        case: Result of the case.
        trial: The trial that is shown; None where the run was stopped before the first.
        directive: Task of the agent.
        steps: Steps of the agent.
        url: Current state of the page.
    """
    return card(
        case.id,
        html.P(directive, className="suite-directive") if directive else None,
        _checks(case),
        _trial_chips(run_id, case, trial, url),
        *([] if trial is None else _trial(run_id, case.id, trial, steps)),
        tools=verdict(case.status.value),
        class_name="suite-replay",
        tabIndex=-1,  # a case that was chosen takes the focus, and keeps it when it is drawn anew
    )


def _checks(case: EvalCaseResult) -> Component | None:
    reasons = (*case.reasons, *case.read_errors)
    if not reasons:
        return None
    return html.Ul([html.Li(reason) for reason in reasons], className="suite-checks")


def _trial_chips(
    run_id: str, case: EvalCaseResult, shown: EvalTrialResult | None, url: SuiteUrl
) -> Component | None:
    if len(case.trial_results) < 2 or shown is None:
        return None
    chips = [
        LINKS.chip(
            f"{trial.trial} {_word(trial)}",
            url.change(run=run_id, case=case.id, trial=trial.trial).search,
            is_active=trial.trial == shown.trial,
        )
        for trial in case.trial_results[:_MOST_TRIAL_CHIPS]
    ]
    return chip_row("Trial", chips)


def _word(trial: EvalTrialResult) -> str:
    if trial.failure is not None:
        return "not run"
    return "passed" if trial.passed else "failed"


def _trial(
    run_id: str, case_id: str, trial: EvalTrialResult, steps: Sequence[Step]
) -> list[Component]:
    facts = [
        ("Summary", trial.summary),
        ("Error", trial.error),
        ("Traceback", trial.traceback),
        ("Data", json.dumps(trial.data, indent=2, ensure_ascii=False) if trial.data else ""),
        ("Extracted text", trial.extracted_text),
        ("Model", trial.llm_id if trial.mode != "playbook" else ""),
        (
            "Tokens",
            f"{trial.input_tokens} in, {trial.output_tokens} out"
            if trial.input_tokens or trial.output_tokens
            else "",
        ),
    ]
    shown = [
        part
        for name, text in facts
        if text
        for part in (html.Dt(name), html.Dd(html.Pre(harmless(text))))
    ]
    parts: list[Component] = [html.Dl(shown, className="suite-facts")] if shown else []
    if not steps:
        return [
            *parts,
            empty_state("No steps"),
        ]
    items = [_step(run_id, case_id, trial.trial, step) for step in steps]
    return [
        *parts,
        html.Ol(items, className="suite-steps", tabIndex=0, **aria(label="Steps")),
    ]


def _step(run_id: str, case_id: str, trial: int, step: Step) -> Component:
    return html.Li(
        [
            html.Div(
                [
                    html.Div(
                        [
                            html.Strong(step.text),
                            html.Span(
                                f"{step.part}, {milliseconds_text(step.duration_ms)}",
                                className="quiet",
                            ),
                        ],
                        className="suite-step-head",
                    ),
                    html.P(step.thought, className="quiet") if step.thought else None,
                    html.P(step.result) if step.result else None,
                    html.P(step.error, className="suite-step-error") if step.error else None,
                    html.Code(step.url) if step.url else None,
                ],
                className="suite-step-text",
            ),
            _picture(run_id, case_id, trial, step),
        ],
        className="suite-step",
    )


def _picture(run_id: str, case_id: str, trial: int, step: Step) -> Component | None:
    if not step.screenshot:
        return None
    address = screenshot_address(run_id, case_id, trial, step.screenshot)
    image = html.Img(src=address, alt=f"Page, step {step.number}")
    return html.A(image, href=address, target="_blank", className="suite-picture")


_PATH = "/suite-screenshots"


def screenshot_address(run_id: str, case_id: str, trial: int, name: str) -> str:
    """Write where a screenshot is served.

    Example:
        >>> screenshot_address("20261122T025424-3a7b0f", "search", 1, "step 1.png")
        '/suite-screenshots/20261122T025424-3a7b0f/search/1/step%201.png'
    """
    return "/".join((_PATH, quote(run_id, ""), quote(case_id, ""), str(trial), quote(name, "")))


def serve_screenshots(server: Flask, runs: SuiteRuns) -> None:
    """Give a server the addresses of `screenshot_address`; images only, whatever a file holds."""
    from flask import Response, abort

    @server.get(f"{_PATH}/<run_id>/<case_id>/<int:trial>/<name>")
    def screenshot(run_id: str, case_id: str, trial: int, name: str) -> Response:
        image = runs.screenshot(run_id, case_id, trial, name)
        if image is None:
            abort(404)
        return Response(image.data, mimetype=image.content_type)
