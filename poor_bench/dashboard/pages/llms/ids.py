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
    SWITCHED = "llms-switched-store"
    """Id of the LLM to switch on or off."""
    EDITED = "llms-edited-store"
    """Id of the LLM whose form is to be opened."""
    TAKEN = "llms-taken-store"
    """Name of the found model to add."""


class EditIds(StrEnum):
    """Types of the ids of that form, which is there only while it is open."""

    FIELD = "llms-edit-field-input"
    SAVE = "llms-edit-save-button"
    RESULT = "llms-edit-result-body"
    CONSENT = "llms-edit-consent-input"
    """Stands in both forms once a key would go to a server that is new."""


def form_id(kind: EditIds, llm_id: str) -> dict[str, str]:
    """Return the id of a part of the form of an LLM."""
    return {"type": kind, "index": llm_id}


def field_id(llm_id: str, field: str) -> dict[str, str]:
    """Return the id of a field of the form of an LLM."""
    return {"type": EditIds.FIELD, "index": llm_id, "field": field}
