"""The brief form, for LLMs too small to write an action: they choose one from a list; pure.

The grammar of the reply holds the whole text of every choice, such as `click button "Search"`, so
that what a small model has read on the page and what it may answer are the same words.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from poor_bench.evaluation.browser.llm_agent.actions import Click, Done, PageAction, Type
from poor_bench.evaluation.browser.llm_agent.full_form import (
    BadReplyError,
    Decision,
    make_object_schema,
)
from poor_bench.evaluation.browser.observation import PageView, describe_element, find_refs
from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.thinking import split_thinking
from poor_bench.models.completion import Message

_CLICKED = frozenset(
    {
        "button", "checkbox", "combobox", "gridcell", "link", "menuitem", "menuitemcheckbox",
        "menuitemradio", "option", "radio", "slider", "spinbutton", "switch", "tab", "treeitem",
    }
)  # fmt: skip
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

    def to_action(self, text: str) -> PageAction | Done:
        """Convert to an action, with the text that is typed."""
        if not self.ref:
            return Done(action="done", summary="Chose to be done.")
        if self.takes_text:
            return Type(action="type", ref=self.ref, text=text)
        return Click(action="click", ref=self.ref)


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefForm:
    """How very small LLMs are asked: the page offers choices, and they name one of them."""

    directive: str
    history: list[str] = field(default_factory=list)

    def messages(
        self, seen: PageView, _n_left: int, _complaint: str, _most_characters: int
    ) -> tuple[Message, ...]:
        """See `Form`."""
        parts = [
            f"Page:\n{seen.text.strip()[:_MOST_PAGE]}",
            "Choices:\n" + "\n".join(f"- {choice.phrase}" for choice in self.find_choices(seen)),
            "\n".join(["Done so far:", *self.history[-_HISTORY:]]) if self.history else "",
            f"Task: {self.directive}",
            "Which choice comes next?",
        ]
        return (Message("user", "\n\n".join(part for part in parts if part)),)

    def schema(self, seen: PageView) -> dict[str, Any]:
        """See `Form`."""
        choices = self.find_choices(seen)
        text = {"text": {"type": "string", "maxLength": _LONGEST_TEXT}}
        forms = []
        for takes_text, more in ((False, {}), (True, text)):
            phrases = [each.phrase for each in choices if each.takes_text is takes_text]
            if phrases:
                forms.append(
                    make_object_schema({"choice": {"type": "string", "enum": phrases}, **more})
                )
        return forms[0] if len(forms) == 1 else {"anyOf": forms}

    def parse(self, text: str, seen: PageView) -> Decision:
        """See `Form`."""
        extracted = extract_json(split_thinking(text).answer, lambda value: isinstance(value, dict))
        value = extracted.value if extracted is not None else {}
        for choice in self.find_choices(seen):
            if choice.phrase == value.get("choice"):
                return Decision(choice.to_action(str(value.get("text", ""))), thought="")
        raise BadReplyError("it is not one of the choices")

    def find_choices(self, seen: PageView) -> list[Choice]:
        """List the choices, in the order of the page; being done is one after the first step."""
        elements = [
            (element, ref)
            for ref in find_refs(seen.tree)
            if (element := describe_element(seen.tree, ref))
            and element.split()[0] in _CLICKED | _TYPED
        ]
        n_alike = Counter(element for element, _ in elements)
        place: Counter[str] = Counter()
        found = []
        for element, ref in elements[:_MOST_CHOICES]:
            place[element] += 1
            numbered = f"{element} {place[element]}" if n_alike[element] > 1 else element
            name = _BLANKS.sub(" ", numbered)[:_LONGEST_PHRASE]
            found.append(Choice(f"click {name}", ref))
            if element.split()[0] in _TYPED:
                found.append(Choice(f"type into {name}", ref, takes_text=True))
        return [*found, Choice(_DONE)] if self.history or not found else found
