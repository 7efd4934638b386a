"""Ids of the page."""

from __future__ import annotations

from enum import StrEnum


class LLMsIds(StrEnum):
    """What callbacks of the page refer to."""

    NOTE = "llms-note-text"
    LISTED = "llms-listed-body"
    CHECK = "llms-check-button"
    WAIT = "llms-wait-interval"
    ENDPOINT = "llms-endpoint-input"
    LOOK = "llms-look-button"
    FOUND = "llms-found-body"
    PROVIDER = "llms-provider-select"
    NAME = "llms-name-input"
    ADD_ENDPOINT = "llms-add-endpoint-input"
    KEY = "llms-key-input"
    SIZE = "llms-size-input"
    PARAMETERS = "llms-parameters-input"
    ADD = "llms-add-button"
    ADD_RESULT = "llms-add-result-body"
    ASKED = "llms-asked-select"
    PROMPT = "llms-prompt-input"
    ASK = "llms-ask-button"
    ANSWER = "llms-answer-body"


SWITCH = "llms-enabled-button"
"""Type of the ids of the buttons that switch an LLM on and off; their index is its id."""
ADD_FOUND = "llms-add-found-button"
"""Type of the ids of the buttons that add a found model; their index is its name."""


def switch_id(llm_id: str) -> dict[str, str]:
    """Return the id of the button that switches an LLM on or off."""
    return {"type": SWITCH, "index": llm_id}


def add_found_id(name: str) -> dict[str, str]:
    """Return the id of the button that adds a found model."""
    return {"type": ADD_FOUND, "index": name}
