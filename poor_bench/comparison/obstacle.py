"""Why the scores of a test on both sides do not compare like with like."""

from __future__ import annotations

from enum import StrEnum


class Obstacle(StrEnum):
    """Why the scores of a test on both sides do not compare like with like."""

    PROMPT_CHANGED = "prompt"
    """The LLM was asked something else."""
    PARAMETERS_CHANGED = "parameters"
    """The LLM was asked with other parameters, or another model stands under its id."""
    MODEL_MOVED = "model"
    """The server ran something else under the same name."""
    EVALUATOR_CHANGED = "evaluator"
    """The answer was scored in another way."""
    TEST_GONE = "test_gone"
    """The test is not in the workspace any more."""
    ONLY_BEFORE = "only_before"
    """There is no result after."""
    ONLY_AFTER = "only_after"
    """There is no result before."""
    FAILED_BEFORE = "failed_before"
    """It failed to run before."""
    FAILED_AFTER = "failed_after"
    """It failed to run after."""

    @property
    def text(self) -> str:
        """What screens say."""
        return _TEXTS[self]


CHANGES = (
    Obstacle.PROMPT_CHANGED,
    Obstacle.PARAMETERS_CHANGED,
    Obstacle.MODEL_MOVED,
    Obstacle.EVALUATOR_CHANGED,
)
"""What can be allowed when a comparison is asked for."""

MEASURED_CHANGES = frozenset(CHANGES) - {Obstacle.EVALUATOR_CHANGED}
"""Changes whose effect a comparison shows; that of an evaluator only on the same answers."""

_TEXTS = {
    Obstacle.PROMPT_CHANGED: "prompt changed",
    Obstacle.PARAMETERS_CHANGED: "parameters changed",
    Obstacle.MODEL_MOVED: "model moved (another digest under the same name)",
    Obstacle.EVALUATOR_CHANGED: "evaluator changed",
    Obstacle.TEST_GONE: "test gone from the workspace",
    Obstacle.ONLY_BEFORE: "no result after",
    Obstacle.ONLY_AFTER: "no result before",
    Obstacle.FAILED_BEFORE: "failed to run before",
    Obstacle.FAILED_AFTER: "failed to run after",
}
