"""Scores an answer by the rules of the task's family in the library reasoning-gym.

Use it for tasks with many correct answers, such as puzzles. The library runs in the sandbox, with
limits on time and memory. The library gives wrong answers up to 0.05; this counts as 0. Some rules
evaluate the answer as Python code. For these rules, only answers in a safe notation are accepted,
so that an answer cannot set its own score.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from poor_bench.extraction.expression import make_safe_expression
from poor_bench.extraction.fences import find_fenced_blocks
from poor_bench.extraction.found import Found
from poor_bench.extraction.thinking import without_thinking
from poor_bench.sandbox import CaseEnd, Limits, LoadEnd, Program, run_cases
from poor_bench.scoring import Verdict
from poor_bench.scoring.verdict import MAX_SHOWN, AnswerFormat, apply_format_rule

_SOURCE = """
from reasoning_gym.factory import create_dataset


def score(family, answer, entry):
    return float(create_dataset(family, seed=0, size=1).score_answer(answer, entry))
"""
_EXPRESSIONS = frozenset(
    {"countdown", "intermediate_integration", "polynomial_multiplication", "puzzle24",
     "simple_integration"}
)  # fmt: skip
"""Families whose rules read an answer with SymPy, which evaluates it as Python."""
_GIVEN_NUMBERS = frozenset({"puzzle24"})
"""Families whose rules (version 0.1.25) forget that the given numbers are to be used."""
_BOARDS = frozenset({"n_queens"})
"""Families whose rules may evaluate an answer as Python, and need none of its names."""
_BOARD = re.compile(r"[_Q\s\[\]'\",]*")
_CONSOLATION = 0.05
"""What the library gives, to encourage learners, for answers that are wrong but readable."""
_IMPORT_S = 30.0
_MEMORY_BYTES = 2 * 1024**3


class Parameters(BaseModel):
    """Parameters of `reasoning_gym_scorer`, as `tests generate` writes them."""

    model_config = ConfigDict(extra="forbid")

    family: str = Field(min_length=1, description="Name of the family in the library.")
    example: str = Field(description="A correct answer, verified by the library.")
    answer: Any = Field(default=None, description="Answer of the library's entry, if it has one.")
    metadata: dict[str, Any] = Field(description="Data for the rules of the family.")
    timeout_s: float = Field(
        default=10.0, gt=0, le=60, description="Time limit of scoring, in seconds."
    )
    strict: bool = Field(default=False, description="Reject a code block around the answer.")

    @model_validator(mode="after")
    def _can_be_scored(self) -> Self:
        if find_spec("reasoning_gym") is None:
            raise ValueError(
                "scoring requires the library reasoning-gym: pip install reasoning-gym"
            )
        return self


def evaluate(response: str, parameters: Mapping[str, Any]) -> Verdict:
    """Compute the score that the library gives, from 0.0 to 1.0."""
    wanted = Parameters.model_validate(parameters)
    answer, found = _find_answer(without_thinking(response))
    score, details = _score_answer(answer, wanted)
    return apply_format_rule(
        score,
        details,
        broken=found.wrapping,
        strict=wanted.strict,
        found=found,
        extracted=answer,
        expected=wanted.example[:MAX_SHOWN],
        got=answer,
    )


def wants(_parameters: Mapping[str, Any]) -> AnswerFormat:
    """Describe the format that the prompt should ask for."""
    return AnswerFormat.TEXT


def reference(parameters: Mapping[str, Any]) -> str:
    """Give the right answer that is known."""
    return Parameters.model_validate(parameters).example


def _find_answer(text: str) -> tuple[str, Found]:
    blocks = find_fenced_blocks(text)
    if len(blocks) == 1:
        return blocks[0].body.strip(), Found.FENCED
    return text.strip(), Found.BARE if text.strip() else Found.MISSING


def _score_answer(answer: str, wanted: Parameters) -> tuple[float, str]:
    if answer == wanted.example:
        return 1.0, "the known right answer"
    readable = _prepare_answer(answer, wanted.family)
    if readable is None:
        return 0.0, f"not in the notation of such answers: {answer!r:.200}"
    given = wanted.metadata.get("numbers", [])
    if wanted.family in _GIVEN_NUMBERS and _list_integers(readable) != sorted(map(str, given)):
        return 0.0, f"does not use the numbers {given!r:.100}: {answer!r:.200}"
    limits = Limits(
        case_s=wanted.timeout_s,
        load_s=_IMPORT_S,
        total_s=_IMPORT_S + wanted.timeout_s,
        memory_bytes=_MEMORY_BYTES,
    )
    program = Program(source=_SOURCE, function="score", limits=limits)
    entry = {"question": "", "answer": wanted.answer, "metadata": wanted.metadata}
    outcome = run_cases(program, [[wanted.family, readable, entry]])
    if outcome.load.end is not LoadEnd.LOADED:
        reason = outcome.load.error.message if outcome.load.error else outcome.load.cause
        raise RuntimeError(f"the library reasoning-gym cannot be loaded: {reason}")
    [case] = outcome.cases
    if case.end is CaseEnd.RETURNED and isinstance(case.value, float):
        score = min(1.0, case.value) if case.value > _CONSOLATION else 0.0
        return score, f"by the rules of {wanted.family}: {score:g} for {answer!r:.200}"
    reason = case.error.message if case.error else str(case.end)
    return 0.0, f"the rules of {wanted.family} cannot read {answer!r:.200}: {reason:.200}"


def _list_integers(text: str) -> list[str]:
    return sorted(re.findall(r"\d+", text))


def _prepare_answer(answer: str, family: str) -> str | None:
    """Prepare the answer as the library may see it; None where it may not."""
    if family in _EXPRESSIONS:
        return make_safe_expression(answer)
    if family in _BOARDS and not _BOARD.fullmatch(answer):
        return None
    return answer
