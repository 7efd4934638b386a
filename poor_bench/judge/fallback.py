"""Fallback for a judge that cannot be reached or read; pure.

Every score is 5.0, and `is_fallback` is set: such a judgement approves nothing and belongs into no
mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from poor_bench.judge.judgement import CaseEvaluation, Judgement
from poor_bench.judge.subject import JudgedCase

FALLBACK_SCORE = 5.0


def fallback_judgement(
    so_far: Judgement, dimensions: Iterable[str], cases: Iterable[JudgedCase], error: str
) -> Judgement:
    """Build the fallback.

    Args:
        so_far: Who was to judge what, and what the attempts took.
        dimensions: Names of the rubric's dimensions.
        cases: What was to be judged.
        error: Why there is no judgement.
    """
    return replace(
        so_far,
        overall_score=FALLBACK_SCORE,
        scores=dict.fromkeys(dimensions, FALLBACK_SCORE),
        test_case_evaluations=tuple(
            CaseEvaluation(
                test_name=case.name, score=FALLBACK_SCORE, passed=False, feedback="not judged"
            )
            for case in cases
        ),
        failures=(error,),
        is_fallback=True,
        error=error,
    )
