"""Fit evidence into requests, and merge the judgements of its parts; pure.

A judge's reply has room for so many cases, and its context for so much text. What does not fit is
divided into parts of whole cases. Scores by dimension are then means over the parts by their number
of cases, and the overall score is computed from them as ever.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from poor_bench.judge.evidence import JudgedCase, JudgeEvidence
from poor_bench.judge.judgement import Judgement
from poor_bench.judge.prompt import ADVICE
from poor_bench.judge.reply import compute_weighted_mean
from poor_bench.judge.rubric import Rubric
from poor_bench.models.completion import Usage
from poor_bench.models.cost import estimate_tokens, sum_whole

DEFAULT_MAX_TOKENS = 4000


def reply_limit(parameters: Mapping[str, Any]) -> int:
    """Highest number of reply tokens; 4000 by default."""
    limit = parameters.get("max_tokens")
    return limit if isinstance(limit, int) else DEFAULT_MAX_TOKENS


def context_limit(parameters: Mapping[str, Any]) -> int | None:
    """Context length in tokens; None if unknown."""
    context = parameters.get("num_ctx")
    return context if isinstance(context, int) else None


_TOKENS_PER_CASE = 100
"""Typical length of the reply about one case."""


_TOKENS_FOR_ALL = 600
"""Length of the reply about all cases: scores, strengths, weaknesses and so on."""


_TOKENS_OF_FORM = 700
"""Length of the prompt without rubric and evidence."""


_MOST_TEXTS = 50


def most_cases(max_tokens: int) -> int:
    """Number of cases that fit into a reply of `max_tokens` tokens, at least 1.

    Example:
        >>> most_cases(4000)
        34
    """
    return max(1, (max_tokens - _TOKENS_FOR_ALL) // _TOKENS_PER_CASE)


def split_evidence(
    evidence: JudgeEvidence, max_tokens: int, context_tokens: int | None
) -> list[JudgeEvidence]:
    """Split evidence into as few parts as fit, of similar length.

    Args:
        evidence: What is to be judged.
        max_tokens: Most tokens of a reply.
        context_tokens: Tokens of prompt and reply together; None where that is not known.
    """
    n_least = math.ceil(len(evidence.cases) / most_cases(max_tokens)) or 1
    most = math.ceil(len(evidence.cases) / n_least)
    room = math.inf if context_tokens is None else context_tokens - max_tokens - _TOKENS_OF_FORM
    room -= estimate_tokens("".join((evidence.description, evidence.system_prompt, evidence.skill)))
    return [
        replace(evidence, cases=tuple(cases)) for cases in _group_cases(evidence.cases, most, room)
    ]


def split_in_halves(evidence: JudgeEvidence) -> list[JudgeEvidence]:
    """Split evidence of several cases in two."""
    middle = math.ceil(len(evidence.cases) / 2)
    cases = (evidence.cases[:middle], evidence.cases[middle:])
    return [replace(evidence, cases=half) for half in cases]


def merge_judgements(parts: Sequence[Judgement], rubric: Rubric) -> Judgement:
    """Merge the judgements of the parts, in their order."""
    if len(parts) == 1:
        return parts[0]
    first, weights = parts[0], [len(part.test_case_evaluations) for part in parts]
    scores = {
        name: math.fsum(part.scores[name] * n for part, n in zip(parts, weights, strict=True))
        / sum(weights)
        for name in rubric.names
    }
    note = f"judged in {len(parts)} parts of {', '.join(map(str, weights))} cases"
    repairs = _unique((note,), *(part.repairs for part in parts))
    texts = {name: _unique(*(getattr(part, name) for part in parts)) for name in ADVICE}
    return replace(
        add_costs(parts, first),
        overall_score=compute_weighted_mean(scores, rubric),
        scores={name: round(score, 2) for name, score in scores.items()},
        test_case_evaluations=tuple(case for part in parts for case in part.test_case_evaluations),
        repairs=repairs,
        reply="\n\n".join(part.reply for part in parts),
        strengths=texts["strengths"],
        weaknesses=texts["weaknesses"],
        failures=texts["failures"],
        warnings=_unique(texts["warnings"], (note,)),
        recommendations=texts["recommendations"],
    )


def add_costs(parts: Sequence[Judgement], whole: Judgement) -> Judgement:
    """Add up usage and cost of several judgements.

    Requests that were never answered took nothing.
    """
    answered = [part for part in parts if part.time_ms is not None] or parts
    return replace(
        whole,
        usage=sum_usage([part.usage for part in answered]),
        cost_usd=sum_whole([part.cost_usd for part in answered]),
        attempts=sum(part.attempts for part in parts),
        time_ms=math.fsum(part.time_ms or 0.0 for part in parts),
    )


def sum_usage(usages: Sequence[Usage]) -> Usage:
    """Add up the tokens of several requests; a figure is None if one of them is unknown."""

    def total(name: str) -> int | None:
        counts = [getattr(usage, name) for usage in usages]
        return None if None in counts else sum(counts)

    return Usage(**{item.name: total(item.name) for item in fields(Usage)})


def _group_cases(cases: Iterable[JudgedCase], most: int, room: float) -> Iterator[list[JudgedCase]]:
    """Group cases in their order, as many as fit."""
    run: list[JudgedCase] = []
    used = 0
    for case in cases:
        said = (case.name, case.expected_behavior, *(turn.text for turn in case.turns))
        tokens = estimate_tokens("".join(said))
        if run and (len(run) >= most or used + tokens > room):
            yield run
            run, used = [], 0
        run.append(case)
        used += tokens
    yield run


def _unique(*texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for some in texts for text in some))[:_MOST_TEXTS]
