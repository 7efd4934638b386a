"""Find out what changed between the results of one test on both sides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from poor_bench.comparison.obstacle import Obstacle
from poor_bench.models.result import Result


class Changes(NamedTuple):
    """What is different between both sides of a test that both have scored."""

    obstacles: tuple[Obstacle, ...]
    is_verified: bool
    """Whether both sides tell all that is needed; older results do not."""


def changes_between(
    before: Sequence[Result],
    after: Sequence[Result],
    *,
    same_llm: bool,
    llm_fingerprint_of: Callable[[Result], str] = lambda _result: "",
) -> Changes:
    """Return what changed between the scored trials of one test.

    Between different LLMs, model and parameters are what is compared, so only prompt and
    evaluator count.

    Args:
        before: At least one scored trial.
        after: At least one scored trial.
        same_llm: Whether both sides are of one LLM.
        llm_fingerprint_of: Hash of the model and parameters that a result was made with; empty
            where it is not known.
    """
    obstacles = []
    if same_llm:
        obstacles += _request_changes(before, after, llm_fingerprint_of)
        if _differ(before, after, lambda result: result.model_digest or ""):
            obstacles.append(Obstacle.MODEL_MOVED)
    elif _differ(before, after, _prompt_of):
        obstacles.append(Obstacle.PROMPT_CHANGED)
    if _differ(before, after, lambda result: result.evaluator_fingerprint):
        obstacles.append(Obstacle.EVALUATOR_CHANGED)
    return Changes(tuple(obstacles), _is_verified(before, after, same_llm))


def _request_changes(
    before: Sequence[Result], after: Sequence[Result], llm_fingerprint_of: Callable[[Result], str]
) -> list[Obstacle]:
    if not _differ(before, after, lambda result: result.request_fingerprint):
        return []
    prompt_differs = _differ(before, after, _prompt_of)
    found = [Obstacle.PROMPT_CHANGED] if prompt_differs else []
    if not prompt_differs or _differ(before, after, llm_fingerprint_of):
        found.append(Obstacle.PARAMETERS_CHANGED)
    return found


def _differ(
    before: Sequence[Result], after: Sequence[Result], fact_of: Callable[[Result], str]
) -> bool:
    """Return whether both sides tell a fact, and tell different ones."""
    facts_before = {fact for result in before if (fact := fact_of(result))}
    facts_after = {fact for result in after if (fact := fact_of(result))}
    return bool(facts_before and facts_after) and facts_before != facts_after


def _prompt_of(result: Result) -> str:
    return f"{result.system_prompt}\0{result.prompt}" if result.prompt else ""


def _is_verified(before: Sequence[Result], after: Sequence[Result], same_llm: bool) -> bool:
    return all(
        result.evaluator_fingerprint and (result.request_fingerprint if same_llm else result.prompt)
        for result in (*before, *after)
    )
