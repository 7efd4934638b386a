"""The controls of the page as a selection of LLMs and tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from poor_bench.config.workspace import Workspace
from poor_bench.dashboard.services.failures import FailureGroup
from poor_bench.errors import ConfigError
from poor_bench.runner.selection import Selection

MOST_TRIALS = 100


def selection_of(
    llms: Sequence[str] | None,
    classes: Sequence[str] | None,
    levels: Sequence[str] | None,
    tests: str | None,
    trials: float | str | None,
    *,
    force: bool,
) -> Selection:
    """Return what the controls choose; an empty control lets everything through.

    Args:
        llms: Ids; none stands for all that are enabled.
        classes: Ids.
        levels: Numbers as text.
        tests: Ids or globs, separated by white space or commas.
        trials: Trials of every test; 1 where it is empty or no number.
        force: Re-run completed tests.
    """
    return Selection(
        llms=tuple(llms or ()),
        classes=tuple(classes or ()),
        levels=frozenset(int(level) for level in levels or () if level.isdecimal()),
        tests=tuple(name for name in re.split(r"[\s,]+", tests or "") if name),
        trials=_trials(trials),
        force=force,
    )


def retry_of(groups: Iterable[FailureGroup], workspace: Workspace) -> Selection:
    """Return the trials that failed, as far as their LLMs and tests are still to be run.

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
            "none of these trials can be run again",
            hint="Their models are disabled, or models or tests were removed. "
            "Enable them on the page Models, or restore them in llms.json and tests.json.",
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
