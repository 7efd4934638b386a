"""How a value was found in a response: what tells ability and format apart."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

T = TypeVar("T")


class Found(StrEnum):
    """How a value was found, from the best-kept format to none."""

    BARE = "bare"
    """The answer is nothing but the value."""
    FENCED = "fenced"
    """In a fenced code block."""
    BOXED = "boxed"
    r"""In LaTeX's `\boxed{}`."""
    ANNOUNCED = "announced"
    """After words that announce it, such as "the answer is"."""
    STATED = "stated"
    """Alone on the first line, or what the last sentence comes to."""
    IN_PROSE = "in prose"
    """Somewhere in other text."""
    ENVELOPED = "enveloped"
    """In an object or list around it, such as `{"result": ...}`, or as a JSON text within JSON."""
    REPAIRED = "repaired"
    """Only readable after its syntax was repaired."""
    MISSING = "missing"
    """Not found."""

    @property
    def wrapping(self) -> str:
        """What stood around the value, in words; empty where nothing did."""
        return _WRAPPINGS.get(self, "")


_WRAPPINGS = {
    Found.FENCED: "in a code block",
    Found.BOXED: "in a LaTeX box",
    Found.ANNOUNCED: "after words that announce it",
    Found.STATED: "stated among other text",
    Found.IN_PROSE: "within other text",
    Found.ENVELOPED: "in another JSON value",
    Found.REPAIRED: "in broken syntax",
}


@dataclass(frozen=True, slots=True)
class Extracted(Generic[T]):
    """A value, how it was found, and the piece of the response that it was read from."""

    value: T
    found: Found
    text: str
