"""Cases and attempts of prompt tuning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Protocol

from poor_bench.models.failure import Failure
from poor_bench.models.llm import LLM


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to try a prompt on: a test of a class, or a test case of an agent."""

    id: str
    level: int = 1
    """Declared difficulty; the parts of a split get the same mix of levels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One prompt tried on one case."""

    case_id: str
    score: float
    """0.0 to 1.0."""
    given: str
    """Input beside the prompt."""
    answer: str
    feedback: str
    """Feedback of the evaluator or judge."""
    cost_usd: float | None = None
    time_ms: float | None = None
    n_calls: int | None = None
    """Calls of LLMs that it took; None where that is as many as the subject says."""

    def as_record(self) -> dict[str, Any]:
        """Convert the attempt to its record in a file."""
        return asdict(self)


def attempt_of(record: Mapping[str, Any]) -> Attempt:
    """Read an attempt from its record."""
    return Attempt(**{name: record[name] for name in Attempt.__slots__ if name in record})


class Solved(NamedTuple):
    """A case with an answer that gets full marks."""

    case_id: str
    given: str
    answer: str


class Idea(NamedTuple):
    """A text that is worth a try, and where it comes from."""

    text: str
    made_by: str
    """Such as `writer` or `example`."""


class Ideas(Protocol):
    """Has ideas for better texts."""

    def propose(self, text: str, attempts: Sequence[Attempt]) -> Idea | None:
        """Propose another text, or None.

        Args:
            text: The text to be made better.
            attempts: How it did on the training cases that the new one is tried on next.

        Raises:
            SearchStoppedError: If the limits do not allow it, or an LLM cannot be asked.
            RunCancelledError: If the user stopped it.
        """


class CaseFailedError(Exception):
    """A case failed to run; this is not a score of the prompt.

    Attributes:
        case_id: Which case.
        failure: Why.
    """

    def __init__(self, case_id: str, failure: Failure) -> None:
        super().__init__(f"{case_id}: {failure.message}")
        self.case_id = case_id
        self.failure = failure


class Subject(Protocol):
    """A prompt text, and the cases that score it."""

    name: str
    """Such as `prompt template of class math_problems`."""
    what: str
    """Such as `prompt template`."""
    reference: Mapping[str, str]
    """Kind and names that identify the subject."""
    base_text: str
    """The current text of the workspace."""
    placeholders: tuple[str, ...]
    """Names that must stay in the text in braces; empty where braces mean nothing in it."""
    cases: Sequence[Case]
    llms: Sequence[LLM]
    """Everybody whom an attempt asks."""
    n_calls_per_case: int
    """Calls of LLMs that one attempt takes at most."""

    def estimated_cost_usd(self) -> float:
        """Estimate the cost of an attempt without requests; 0 without prices."""

    @property
    def fingerprint(self) -> str:
        """Hash of models, parameters and scoring, without the text."""

    def solved(self, case_id: str, answers: Sequence[str]) -> Solved | None:
        """Find a correct answer to a case, or None.

        Nobody is asked.

        Args:
            case_id: Which case.
            answers: What LLMs answered, the best first.
        """

    def attempt(self, text: str, case_id: str, cancelled: Callable[[], bool]) -> Attempt:
        """Try a text on a case.

        Raises:
            CaseFailedError: If it could not be tried or scored.
            RunCancelledError: If `cancelled()` turned true.
        """
