"""What is wrong with one class or test, told where its name stands already."""

from __future__ import annotations

from poor_bench.models.problem import Problem


def message_about(problem: Problem, of: str) -> str:
    """Return what is wrong with the class or test `of`, without its name."""
    before, _, rest = problem.message.partition(f"`{of}`: ")
    return rest or before
