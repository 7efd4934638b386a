"""A result with values that detectors derive from it, cached."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

from poor_bench.extraction.found import Extracted
from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.thinking import ThinkingSplit, split_thinking
from poor_bench.issues.background import TestFacts
from poor_bench.models.result import Result

T = TypeVar("T")


class Trial:
    """A result as detectors see it.

    Attributes:
        result: The stored record.
        facts: What the test asks for, as far as it is known.
        lost_score: What is missing to a full score, 0.0 to 1.0; a failure loses nothing.
        is_lost: Whether the trial was scored, and not with a full score.
        is_zero: Whether the trial was scored with nothing.
        is_cut_off: Whether the token limit ended the response.
    """

    def __init__(self, result: Result, facts: TestFacts) -> None:
        self.result = result
        self.facts = facts
        self.lost_score = 0.0 if result.score is None else 1.0 - result.score
        self.is_lost = self.lost_score > 0.0
        self.is_zero = result.score == 0.0
        self.is_cut_off = result.finish_reason == "length"
        self._judged: dict[Callable[[Trial], Any], Any] = {}

    def once(self, judge: Callable[[Trial], T]) -> T:
        """Compute `judge(self)` once for all detectors."""
        if judge not in self._judged:
            self._judged[judge] = judge(self)
        verdict: T = self._judged[judge]
        return verdict

    @cached_property
    def split(self) -> ThinkingSplit:
        """Thinking and answer of the raw response."""
        return split_thinking(self.result.response)

    @property
    def answer(self) -> str:
        """The response without thinking."""
        return self.split.answer

    @cached_property
    def json(self) -> Extracted[Any] | None:
        """The JSON value in the answer and how it was found, or None."""
        return extract_json(self.answer, lambda _: True)


def quoted(text: str, limit: int = 80) -> str:
    """Shorten model text to one line, for use as evidence."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
