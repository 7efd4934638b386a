"""Follow a playbook from its first step to its last, or to the one that fails."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import Any

from poor_bench.config.file_models import FileModel
from poor_bench.evaluation.agent import AgentOutcome, TrialControl
from poor_bench.evaluation.browser.actions import (
    click,
    fill,
    fill_credential,
    go_back,
    press,
    scroll,
    select,
    text_of,
)
from poor_bench.evaluation.browser.observation import StepLog, acts
from poor_bench.evaluation.browser.opening import open_url
from poor_bench.evaluation.browser.playbook.models import (
    CaptureStep,
    DoneStep,
    ExpectStep,
    ExtractStep,
    ForEachStep,
    Playbook,
    PlaybookAction,
    SelectStep,
    Target,
    TypeStep,
    WaitStep,
    WhenStep,
    filled,
    filled_model,
)
from poor_bench.evaluation.browser.playbook.targets import (
    find,
    in_words,
    is_there,
    matches,
    wait_until_absent,
)
from poor_bench.evaluation.browser.session import ActionError, BrowserSession, OutOfTimeError
from poor_bench.evaluation.data import put
from poor_bench.messages import counted
from poor_bench.ports import Clock


@dataclass
class PlaybookRun:
    """Session that steps act on, and their results."""

    session: BrowserSession
    params: dict[str, str]
    data: dict[str, Any] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    """Extracted data."""
    summary: str = ""
    is_done: bool = False

    def do(self, kind: str, content: FileModel | str | bool) -> str:
        """Carry out one step, whose placeholders are filled; return what came of it, in words.

        Raises:
            ActionError: If the page does not allow it, or is not as it should be.
        """
        if isinstance(content, FileModel):
            return self._do(content)
        return self._do_to_page(kind, str(content))

    def _do_to_page(self, kind: str, content: str) -> str:
        if kind == "open":
            open_url(self.session, content)
            with self.session.errors():
                self.session.settle()
        elif kind == "press":
            press(self.session, content)
        elif kind == "scroll":
            scroll(self.session, content)
        else:
            go_back(self.session)
        return "done"

    @singledispatchmethod
    def _do(self, content: FileModel) -> str:
        """A click: the only step that is a bare target."""
        assert isinstance(content, Target)
        click(self.session, find(self.session, content))
        return "clicked"

    @_do.register
    def _(self, step: TypeStep) -> str:
        element = find(self.session, step)
        if step.credential:
            fill_credential(self.session, element, step.credential, submit=step.submit)
            return f"typed the credential {step.credential}"
        fill(self.session, element, step.value, submit=step.submit)
        return "typed"

    @_do.register
    def _(self, step: SelectStep) -> str:
        select(self.session, find(self.session, step), step.option)
        return "selected"

    @_do.register
    def _(self, step: WaitStep) -> str:
        if step.seconds is not None:
            self.session.wait(step.seconds)
        elif step.absent:
            wait_until_absent(self.session, step)
        else:
            find(self.session, step)
        return "waited"

    @_do.register
    def _(self, step: ExpectStep) -> str:
        with self.session.errors():
            url, title = self.session.page.url, self.session.page.title()
        if step.url_contains is not None and step.url_contains not in url:
            raise ActionError(f"the URL {url} does not contain {step.url_contains!r}")
        if step.title_contains is not None and step.title_contains not in title:
            raise ActionError(f"the title {title!r} does not contain {step.title_contains!r}")
        if _names_element(step):
            wait_until_absent(self.session, step) if step.absent else find(self.session, step)
        return "as expected"

    @_do.register
    def _(self, step: ExtractStep) -> str:
        found = [_first_group(step.pattern, text) for text in self._texts_of(step)]
        put(self.data, step.key, found if step.all else found[0])
        self.texts += found
        return f"kept as {step.key}"

    @_do.register
    def _(self, step: CaptureStep) -> str:
        text = self._text_of(step)
        match = re.search(step.pattern, text)
        if match is None:
            raise ActionError(f"the pattern {step.pattern!r} does not match {text[:200]!r}")
        captured = {name: value or "" for name, value in match.groupdict().items()}
        self.params.update(captured)
        return f"captured {', '.join(captured)}"

    @_do.register
    def _(self, step: WhenStep) -> str:
        return "yes" if is_there(self.session, step) else "no"

    @_do.register
    def _(self, step: DoneStep) -> str:
        self.summary = step.summary
        for path, value in step.data.items():
            put(self.data, path, value)
        self.is_done = True
        return "done"

    def _texts_of(self, step: ExtractStep) -> list[str]:
        if step.all:
            with self.session.errors():
                elements_found = matches(self.session.page, step).all()
            return [text_of(self.session, element) for element in elements_found]
        if step.attribute is None:
            return [self._text_of(step)]
        element = find(self.session, step)
        with self.session.errors():
            value = element.get_attribute(step.attribute)
        return [self.session.redactor.text(value or "")]

    def _text_of(self, step: Target) -> str:
        target = step if _names_element(step) else Target(css="body")
        return text_of(self.session, find(self.session, target))


def _names_element(step: Target) -> bool:
    return any(getattr(step, way) is not None for way in Target.ways)


def _first_group(pattern: str | None, text: str) -> str:
    if pattern is None:
        return text.strip()
    found = re.search(pattern, text)
    if found is None:
        raise ActionError(f"the pattern {pattern!r} does not match {text[:200]!r}")
    return found[1] or "" if found.re.groups else found[0]


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
    run = PlaybookRun(session, playbook.params_with(given))
    follower = _Follower(run, StepLog(session, control, clock, "playbook"), max_actions)
    error = ""
    try:
        follower.do_all(playbook.steps)
    except ActionError as failed:
        error = session.redactor.text(str(failed))
    except OutOfTimeError:
        error = "the time limit is reached"
    return AgentOutcome(
        success=not error,
        summary="" if error else run.summary or f"The playbook {playbook.name!r} was followed.",
        error=error,
        data=run.data,
        extracted_text="\n".join(run.texts),
        actions=follower.n_actions,
        mode="playbook",
    )


class _Follower:
    """Goes through steps and tells each."""

    def __init__(self, run: PlaybookRun, log: StepLog, max_actions: int) -> None:
        self.n_actions = 0
        self._run = run
        self._log = log
        self._max_actions = max_actions
        self._n_steps = 0

    def do_all(self, actions: tuple[PlaybookAction, ...]) -> None:
        for action in actions:
            if self._run.is_done:
                return
            if isinstance(action.content, ForEachStep):
                self._for_each(action, action.content)
            else:
                self._do(action)

    def _for_each(self, action: PlaybookAction, step: ForEachStep) -> None:
        whole = str(filled(step.of, self._run.params))
        for part in whole.split(step.separator):
            if part.strip():
                self._run.params[step.param] = part.strip()
                self.do_all(action.steps)

    def _do(self, action: PlaybookAction) -> None:
        content = _filled(action, self._run.params)
        text = _in_words(action.kind, content)
        where = f"line {action.line}: {text}"
        self._check_budget(where, action.kind)
        self._log.begin()
        result = error = ""
        try:
            result = self._run.do(action.kind, content)
        except ActionError as failed:
            error = str(failed)
        self.n_actions += acts(action.kind)
        self._log.report(_plain(action.kind, content), text, result=result, error=error)
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
