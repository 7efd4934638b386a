"""The brief form, for LLMs too small to write an action: they choose one from a list; pure.

The grammar of the reply holds the whole text of every choice, such as `click button "Search"`, so
that what a small model has read on the page and what it may answer are the same words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from poor_bench.evaluation.browser.llm_agent.actions import Click, Done, PageAction, Type
from poor_bench.evaluation.browser.llm_agent.full_form import (
    AgentPrompt,
    BadReplyError,
    Decision,
)
from poor_bench.evaluation.browser.observation import PageView, described, refs_in
from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.thinking import split_thinking
from poor_bench.models.completion import Message

_CLICKED = frozenset(
    [
        "button",
        "checkbox",
        "combobox",
        "gridcell",
        "link",
        "menuitem",
        "menuitemcheckbox",
        "menuitemradio",
        "option",
        "radio",
        "slider",
        "spinbutton",
        "switch",
        "tab",
        "treeitem",
    ]
)
_TYPED = frozenset({"textbox", "searchbox", "spinbutton"})
_DONE = "done"
_MOST_CHOICES = 60
_LONGEST_PHRASE = 80
_LONGEST_TEXT = 60
_MOST_PAGE = 600
_HISTORY = 4
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that can be done to the page, in words."""

    phrase: str
    ref: str = ""
    takes_text: bool = False


def choices_on(seen: PageView, *, may_be_done: bool) -> list[Choice]:
    """Choices, in the order of the page.

    Args:
        seen: The page.
        may_be_done: Whether the task may be over.
    """
    elements = [
        (element, ref)
        for ref in refs_in(seen.tree)
        if (element := described(seen.tree, ref)) and element.split()[0] in _CLICKED | _TYPED
    ]
    n_alike = Counter(element for element, _ in elements)
    place: Counter[str] = Counter()
    found = []
    for element, ref in elements[:_MOST_CHOICES]:
        place[element] += 1
        name = f"{element} {place[element]}" if n_alike[element] > 1 else element
        found += _choices_of(_shown(name), ref, element.split()[0])
    return [*found, Choice(_DONE)] if may_be_done or not found else found


def _choices_of(name: str, ref: str, role: str) -> list[Choice]:
    typed = [Choice(f"type into {name}", ref, takes_text=True)] if role in _TYPED else []
    return [Choice(f"click {name}", ref), *typed]


def _shown(name: str) -> str:
    return _BLANKS.sub(" ", name)[:_LONGEST_PHRASE]


def brief_message(
    directive: str, seen: PageView, choices: Sequence[Choice], history: Sequence[str]
) -> Message:
    """Question to the model."""
    parts = [
        f"Page:\n{seen.text.strip()[:_MOST_PAGE]}",
        "Choices:\n" + "\n".join(f"- {choice.phrase}" for choice in choices),
        "\n".join(["Done so far:", *history[-_HISTORY:]]) if history else "",
        f"Task: {directive}",
        "Which choice comes next?",
    ]
    return Message("user", "\n\n".join(part for part in parts if part))


def brief_schema(choices: Sequence[Choice]) -> dict[str, Any]:
    """The JSON Schema of a reply."""
    plain = [choice.phrase for choice in choices if not choice.takes_text]
    typed = [choice.phrase for choice in choices if choice.takes_text]
    text = {"text": {"type": "string", "maxLength": _LONGEST_TEXT}}
    forms = [_form(plain, {})] if plain else []
    forms += [_form(typed, text)] if typed else []
    return forms[0] if len(forms) == 1 else {"anyOf": forms}


def _form(phrases: Sequence[str], more: dict[str, Any]) -> dict[str, Any]:
    properties = {"choice": {"type": "string", "enum": list(phrases)}, **more}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def parse_brief_reply(text: str, choices: Sequence[Choice]) -> Decision:
    """The selected action.

    Raises:
        BadReplyError: If it is not one of the choices.
    """
    extracted = extract_json(split_thinking(text).answer, lambda value: isinstance(value, dict))
    value = extracted.value if extracted is not None else {}
    wanted = value.get("choice")
    chosen = next((choice for choice in choices if choice.phrase == wanted), None)
    if chosen is None:
        raise BadReplyError("it is not one of the choices")
    return Decision(_action(chosen, str(value.get("text", ""))), thought="")


def _action(chosen: Choice, text: str) -> PageAction | Done:
    if not chosen.ref:
        return Done(action="done", summary="Chose to be done.")
    if chosen.takes_text:
        return Type(action="type", ref=chosen.ref, text=text)
    return Click(action="click", ref=chosen.ref)


@dataclass(frozen=True, slots=True)
class BriefForm:
    """One of the choices that the page offers."""

    conversation: AgentPrompt

    def messages(
        self, seen: PageView, _n_left: int, _complaint: str, _most_characters: int
    ) -> tuple[Message, ...]:
        """See `Form`."""
        told = self.conversation
        return (brief_message(told.directive, seen, self._choices(seen), told.history),)

    def schema(self, seen: PageView) -> dict[str, Any]:
        """See `Form`."""
        return brief_schema(self._choices(seen))

    def parse(self, text: str, seen: PageView) -> Decision:
        """See `Form`."""
        return parse_brief_reply(text, self._choices(seen))

    def _choices(self, seen: PageView) -> list[Choice]:
        return choices_on(seen, may_be_done=bool(self.conversation.history))
