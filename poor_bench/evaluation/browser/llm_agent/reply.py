"""From the text of a reply to an action; pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from poor_bench.evaluation.browser.actions.models import ACTION, Done, PageAction
from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.thinking import split_thinking

_LONGEST_THOUGHT = 1000
_MOST_FAULTS = 5


class BadReplyError(Exception):
    """A reply holds no action; the message tells the LLM what is wrong."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Decision of an LLM."""

    action: PageAction | Done
    thought: str


def parse_reply(text: str) -> Reply:
    """The action of a reply: bare, in a fence, or in prose.

    Raises:
        BadReplyError: If there is none, or it is not one of ours.
    """
    extracted = extract_json(split_thinking(text).answer, _looks_like_reply)
    if extracted is None:
        raise BadReplyError('it does not contain a JSON object with the key "action"')
    value = extracted.value
    inner = value["action"]
    raw = inner if isinstance(inner, dict) else _without_thought(value)
    thought = str(value.get("thought", ""))[:_LONGEST_THOUGHT]
    try:
        return Reply(ACTION.validate_python(raw), thought)
    except ValidationError as error:
        raise BadReplyError(_in_words(error)) from error


def _looks_like_reply(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("action"), dict | str)


def _without_thought(value: dict[str, Any]) -> dict[str, Any]:
    return {key: part for key, part in value.items() if key != "thought"}


def _in_words(error: ValidationError) -> str:
    faults = [
        f"{'.'.join(map(str, fault['loc'][1:])) or 'action'}: {fault['msg']}"
        for fault in error.errors(include_url=False)[:_MOST_FAULTS]
    ]
    return "; ".join(faults)
