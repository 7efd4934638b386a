"""Follow a playbook from its first step to its last, or to the one that fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poor_bench.config.file_models import FileModel
from poor_bench.evaluation.agent import AgentOutcome, TrialControl
from poor_bench.evaluation.browser.playbook.locate import in_words
from poor_bench.evaluation.browser.playbook.models import ForEachStep, Target, WhenStep
from poor_bench.evaluation.browser.playbook.placeholders import filled, filled_model
from poor_bench.evaluation.browser.playbook.playbook import Playbook, PlaybookAction
from poor_bench.evaluation.browser.playbook.steps import Stage
from poor_bench.evaluation.browser.session.errors import ActionError, OutOfTimeError
from poor_bench.evaluation.browser.session.session import BrowserSession
from poor_bench.evaluation.browser.step_log import Done, StepLog, acts
from poor_bench.messages import counted
from poor_bench.ports import Clock

_MOST_STEPS = 1000
"""Of any kind: a page that a loop goes over may be as long as it likes."""


def follow(
    playbook: Playbook,
    given: Mapping[str, Any],
    session: BrowserSession,
    control: TrialControl,
    clock: Clock,
    max_actions: int,
) -> AgentOutcome:
    """Do what a playbook says.

    Args:
        playbook: The steps.
        given: Parameters of the case.
        session: A live browser; left as the last step left it.
        control: Watches.
        clock: Tells the time.
        max_actions: Most steps that do something to the page.

    Returns:
        Success if every step could be done; else the error says which could not, and why.

    Raises:
        ConfigError: If parameters are missing.
        AgentError: If the browser is gone.
        RunCancelledError: If the run was stopped.
    """
    stage = Stage(session, playbook.params_with(given))
    follower = _Follower(stage, StepLog(session, control, clock, "playbook"), max_actions)
    error = ""
    try:
        follower.do_all(playbook.steps)
    except ActionError as failed:
        error = session.redactor.text(str(failed))
    except OutOfTimeError:
        error = "the time limit is reached"
    return AgentOutcome(
        success=not error,
        summary="" if error else stage.summary or f"The playbook {playbook.name!r} was followed.",
        error=error,
        data=stage.data,
        extracted_text="\n".join(stage.texts),
        actions=follower.n_actions,
        mode="playbook",
    )


class _Follower:
    """Goes through steps and tells each."""

    def __init__(self, stage: Stage, log: StepLog, max_actions: int) -> None:
        self.n_actions = 0
        self._stage = stage
        self._log = log
        self._max_actions = max_actions
        self._n_steps = 0

    def do_all(self, actions: tuple[PlaybookAction, ...]) -> None:
        for action in actions:
            if self._stage.is_done:
                return
            if isinstance(action.content, ForEachStep):
                self._for_each(action, action.content)
            else:
                self._do(action)

    def _for_each(self, action: PlaybookAction, step: ForEachStep) -> None:
        whole = str(filled(step.of, self._stage.params))
        for part in whole.split(step.separator):
            if part.strip():
                self._stage.params[step.param] = part.strip()
                self.do_all(action.steps)

    def _do(self, action: PlaybookAction) -> None:
        content = _filled(action, self._stage.params)
        text = _in_words(action.kind, content)
        where = f"line {action.line}: {text}"
        self._check_budget(where, action.kind)
        self._log.begin()
        result = error = ""
        try:
            result = self._stage.do(action.kind, content)
        except ActionError as failed:
            error = str(failed)
        self.n_actions += acts(action.kind)
        self._log.tell(
            Done(action=_plain(action.kind, content), text=text, result=result, error=error)
        )
        if error:
            raise ActionError(f"{where}: {error}")
        if isinstance(content, WhenStep) and result == "yes":
            self.do_all(action.steps)

    def _check_budget(self, where: str, kind: str) -> None:
        self._n_steps += 1
        if self.n_actions >= self._max_actions and acts(kind):
            n_actions = counted(self.n_actions, "action")
            raise ActionError(f"{where}: stopped after {n_actions}; raise `max_steps`")
        if self._n_steps > _MOST_STEPS:
            raise ActionError(f"{where}: stopped after {_MOST_STEPS} steps")


def _filled(action: PlaybookAction, params: Mapping[str, str]) -> FileModel | str | bool:
    content = action.content
    if isinstance(content, FileModel):
        return filled_model(content, params)
    return str(filled(content, params)) if isinstance(content, str) else content


def _plain(kind: str, content: FileModel | str | bool) -> dict[str, Any]:
    if isinstance(content, FileModel):
        return {"action": kind, **content.model_dump(exclude_unset=True, exclude={"steps"})}
    return {"action": kind, "value": content}


def _in_words(kind: str, content: FileModel | str | bool) -> str:
    if isinstance(content, Target):
        return f"{kind} {in_words(content)}"
    return kind if isinstance(content, FileModel | bool) else f"{kind} {content}"
