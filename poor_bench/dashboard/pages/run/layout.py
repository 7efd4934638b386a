"""Layout of the page: ids, cards, and the controls as a selection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

import dash_mantine_components as dmc
from dash import Input, State, dcc, html
from dash.development.base_component import Component

from poor_bench.config.load import Workspace
from poor_bench.dashboard.components.blocks import (
    ABSENT,
    AWAITED,
    aria,
    card,
    live_card,
    loading_state,
    page_head,
)
from poor_bench.dashboard.components.controls import (
    StayLinks,
    build_options,
    count_choice,
    file_buttons,
    small_button,
    start_button,
)
from poor_bench.dashboard.pages.run.tuning import build as build_tuning
from poor_bench.dashboard.services.stored_results import FailureGroup
from poor_bench.dashboard.start_form import consent_dialog
from poor_bench.dashboard.url_state import Redo, RunUrl
from poor_bench.errors import ConfigError
from poor_bench.runner.selection import Selection
from poor_bench.runner.trial_states import TrialState


class RunIds(StrEnum):
    """What callbacks of the page refer to."""

    LLMS = "run-llms-select"
    CLASSES = "run-classes-select"
    LEVELS = "run-levels-select"
    TESTS = "run-tests-input"
    TRIALS = "run-trials-input"
    REDO = "run-redo-select"
    SEARCH = "run-search-store"
    ALL = "run-all-button"
    PREVIEW = "run-preview-body"
    START = "run-start-button"
    BATCH = "run-batch-button"
    COLLECT = "run-collect-button"
    SANDBOX = "run-sandbox-banner"
    FAILURES_FRAME = "run-failures-frame"
    FAILURES_HEAD = "run-failures-head"
    FAILURES = "run-failures-body"
    FAILURES_CSV = "run-failures-csv-button"
    PREVIEW_CSV = "run-preview-csv-button"
    DOWNLOAD = "run-file-download"
    RETRY = "run-retry-button"
    FRAME = "run-state-frame"
    HEAD = "run-state-head"
    OTHERS = "run-others-body"
    OTHERS_FRAME = "run-others-frame"
    OTHERS_HEAD = "run-others-head"
    STATE = "run-state-body"
    CLOCK = "run-clock-interval"
    PAUSE = "run-pause-button"
    RESUME = "run-resume-button"
    CANCEL = "run-cancel-button"
    CONSENT = "run-consent-modal"
    CONSENT_PLAN = "run-consent-body"
    CONSENT_START = "run-consent-start-button"
    CONSENT_BACK = "run-consent-back-button"
    ORDER = "run-order-store"
    """Id of the button whose run waits for consent, and the values of `controls` at its click."""


_LIVE = "Start run"
_BATCHES: Mapping[object, str] = {
    RunIds.BATCH: "Submit batch",
    RunIds.COLLECT: "Collect answers",
}
MOST_TRIALS = 100
LINKS = StayLinks(RunIds.SEARCH)


AMONG = {
    Redo.FAILED: frozenset({TrialState.FAILED}),
    Redo.STALE: frozenset({TrialState.STALE_REQUEST, TrialState.STALE_SCORE}),
    Redo.AGAIN: frozenset(TrialState) - {TrialState.PENDING, TrialState.DONE},
}
REDO_LABELS = {
    Redo.PENDING: "Pending",
    Redo.FAILED: "Failed",
    Redo.STALE: "Stale",
    Redo.AGAIN: "Failed or stale",
    Redo.ALL: "All",
}


def read_selection(url: RunUrl) -> Selection:
    """Read the selection of an address; an empty filter selects everything."""
    return Selection(
        llms=url.llm_ids,
        classes=url.classes,
        levels=frozenset(int(level) for level in url.levels if level.isdecimal()),
        tests=url.tests,
        trials=_trials(url.trials),
        force=url.redo is Redo.ALL,
        among=AMONG.get(url.redo, frozenset()),
    )


def select_failed(groups: Iterable[FailureGroup], workspace: Workspace) -> Selection:
    """Choose the trials that failed, as far as their LLMs and tests are still to be run.

    Raises:
        ConfigError: If there is none.
    """
    enabled = {llm.id for llm in workspace.llms if llm.enabled}
    trials = [
        trial
        for group in groups
        if group.llm_id in enabled
        for trial in group.trials
        if trial.test_id in workspace.tests_by_id
    ]
    if not trials:
        raise ConfigError(
            "these trials cannot run again", hint="Enable or restore models and tests."
        )
    return Selection(
        llms=tuple(dict.fromkeys(trial.llm_id for trial in trials)),
        trials=max(trial.number for trial in trials),
        only=frozenset(trials),
    )


def _trials(value: float | str | None) -> int:
    try:
        return min(MOST_TRIALS, max(1, int(value or 1)))
    except ValueError:
        return 1


def controls(kind: type[Input | State]) -> list[Any]:
    """Build the controls of the choice, as inputs or states of a callback."""
    fields = ("LLMS", "CLASSES", "LEVELS", "TESTS", "TRIALS", "REDO")
    return [kind(RunIds[name], "value") for name in fields]


def read_controls(values: Sequence[Any]) -> RunUrl:
    """Read the choice from the values of `controls`.

    Args:
        values: Ids of models; ids of classes; numbers of levels as text; ids or globs of tests,
            separated by white space or commas; trials; which trials.
    """
    llm_ids, classes, levels, tests, trials, redo = values
    return RunUrl(
        llm_ids=tuple(llm_ids or ()),
        classes=tuple(classes or ()),
        levels=tuple(levels or ()),
        tests=tuple(name for name in re.split(r"[\s,]+", tests or "") if name),
        trials=_trials(trials),
        redo=Redo(redo or Redo.PENDING),
    )


def chosen(values: Sequence[Any]) -> Selection:
    """Read the selection that the values of `controls` describe."""
    return read_selection(read_controls(values))


CLOCK_MS = 1000


def layout(url: RunUrl, *, may_run: bool = True) -> Component:
    """Build the page without data, its choice set as the address says.

    Args:
        url: The choice.
        may_run: True if the rest of the page waits for what is told of runs in progress.
    """
    class_name = f"{ABSENT} {AWAITED}" if may_run else ABSENT
    return html.Div(
        [
            page_head("Run", "Runs continue without the browser."),
            html.Div(id=RunIds.SANDBOX),
            _run_frame(class_name),
            _others_frame(class_name),
            card(
                "Selection",
                _choice(url),
                tools=dmc.Button(
                    "Clear", id=RunIds.ALL, variant="default", size="compact-sm", n_clicks=0
                ),
            ),
            card(
                "Plan",
                html.Div(
                    loading_state(3, has_columns=True), id=RunIds.PREVIEW, className="plan-body"
                ),
                tools=[
                    start_button(RunIds.START),
                    _batch_button(RunIds.BATCH),
                    _batch_button(RunIds.COLLECT),
                    file_buttons(RunIds.PREVIEW_CSV),
                ],
            ),
            *build_tuning(),
            _failures_frame(),
            consent_dialog("run", _LIVE),
            dcc.Store(id=RunIds.SEARCH, data=url.search),
            dcc.Store(id=RunIds.ORDER),
            dcc.Download(id=RunIds.DOWNLOAD),
            dcc.Interval(id=RunIds.CLOCK, interval=CLOCK_MS, disabled=True),
        ],
        className="page-body",
    )


def _batch_button(button_id: RunIds) -> Component:
    """Build a button that is there only where it makes sense."""
    button: Component = dmc.Button(
        _BATCHES[button_id],
        id=button_id,
        variant="default",
        size="compact-sm",
        n_clicks=0,
        display="none",
    )
    return button


def name_consent(order: object) -> tuple[str, str]:
    """Name the question before what a button starts, and the button that agrees."""
    action = _BATCHES.get(order, _LIVE)
    return f"{action}?", action


def _choice(url: RunUrl) -> Component:
    return html.Div(
        [
            _select(RunIds.LLMS, "Models", "All enabled", url.llm_ids, "choice-wide"),
            _select(RunIds.CLASSES, "Classes", "All classes", url.classes),
            _select(RunIds.LEVELS, "Levels", "All levels", url.levels),
            dmc.TextInput(
                id=RunIds.TESTS,
                label="Tests",
                placeholder="All, or math_*",
                value=" ".join(url.tests),
                debounce=400,
            ),
            count_choice(
                RunIds.TRIALS, "Trials per test", most=MOST_TRIALS, value=_trials(url.trials)
            ),
            dmc.Select(
                id=RunIds.REDO,
                label="Status",
                data=build_options((redo.value, REDO_LABELS[redo]) for redo in Redo),
                value=url.redo.value,
                allowDeselect=False,
            ),
        ],
        className="choice",
        role="form",
        **aria(label="Selection"),
    )


def _select(
    select_id: RunIds, label: str, placeholder: str, value: Sequence[str], class_name: str = ""
) -> Any:
    return dmc.MultiSelect(
        id=select_id,
        label=label,
        placeholder=placeholder,
        value=list(value),
        data=build_options((each, each) for each in value),
        clearable=True,
        searchable=True,
        hidePickedOptions=True,
        className=class_name,
    )


def _run_frame(class_name: str) -> Component:
    """Build the place of the run, with its buttons."""
    return live_card(
        "Progress",
        frame_id=RunIds.FRAME,
        head_id=RunIds.HEAD,
        body_id=RunIds.STATE,
        tools=[
            small_button("Pause", RunIds.PAUSE, "pause"),
            small_button("Resume", RunIds.RESUME, "play"),
            small_button("Cancel", RunIds.CANCEL, "stop"),
        ],
        class_name=class_name,
    )


def _others_frame(class_name: str) -> Component:
    """Build the place of judged runs, comparisons, suite runs and searches in progress."""
    return live_card(
        "Other runs",
        frame_id=RunIds.OTHERS_FRAME,
        head_id=RunIds.OTHERS_HEAD,
        body_id=RunIds.OTHERS,
        tools=[],
        class_name=class_name,
    )


def _failures_frame() -> Component:
    """Build the place of the failures, with the buttons that try them again and save them.

    It is the last one: failures of many results are known late, and move nothing then.
    """
    retry = small_button("Re-run these", RunIds.RETRY, "refresh")
    return live_card(
        "Failed to run",
        frame_id=RunIds.FAILURES_FRAME,
        head_id=RunIds.FAILURES_HEAD,
        body_id=RunIds.FAILURES,
        tools=[retry, file_buttons(RunIds.FAILURES_CSV)],
    )
