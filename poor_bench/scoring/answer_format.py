"""The formats that an evaluator can want from a model; a closed set."""

from __future__ import annotations

from enum import StrEnum


class AnswerFormat(StrEnum):
    """What a prompt should ask for, so that the evaluator finds the answer."""

    JSON_OBJECT = "json_object"
    JSON_LIST = "json_list"
    JSON = "json"
    """Any JSON value."""
    NUMBER = "number"
    CHOICE = "choice"
    """The label of one of several given choices."""
    LIST = "list"
    """Several items, in whatever notation."""
    CODE = "code"
    DIFF = "diff"
    """A unified diff."""
    EXPRESSION = "expression"
    """A mathematical expression, plain or LaTeX."""
    TEXT = "text"
    """Nothing in particular."""
