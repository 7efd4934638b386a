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
    CSV = "llms-csv-button"
    DOWNLOAD = "llms-file-download"
    EDITOR = "llms-editor-modal"


SWITCH = "llms-enabled-button"
"""Type of the ids of the buttons that switch an LLM on and off; their index is its id."""
ADD_FOUND = "llms-add-found-button"
"""Type of the ids of the buttons that add a found model; their index is its name."""


EDIT = "llms-edit-button"
"""Type of the ids of the buttons that open the form of an LLM; their index is its id."""


class EditIds(StrEnum):
    """Types of the ids of that form, which is there only while it is open."""

    FIELD = "llms-edit-field-input"
    SAVE = "llms-edit-save-button"
    RESULT = "llms-edit-result-body"


def switch_id(llm_id: str) -> dict[str, str]:
    """Return the id of the button that switches an LLM on or off."""
    return {"type": SWITCH, "index": llm_id}


def add_found_id(name: str) -> dict[str, str]:
    """Return the id of the button that adds a found model."""
    return {"type": ADD_FOUND, "index": name}


def edit_id(llm_id: str) -> dict[str, str]:
    """Return the id of the button that opens the form of an LLM."""
    return {"type": EDIT, "index": llm_id}


def form_id(kind: EditIds, llm_id: str) -> dict[str, str]:
    """Return the id of a part of the form of an LLM."""
    return {"type": kind, "index": llm_id}


def field_id(llm_id: str, field: str) -> dict[str, str]:
    """Return the id of a field of the form of an LLM."""
    return {"type": EditIds.FIELD, "index": llm_id, "field": field}
