"""Judgements and conversations, of which a test names what matters to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poor_bench.judge.conversation import Conversation
from poor_bench.judge.judged_run import JudgeRun, RunHeader
from poor_bench.judge.judgement import CaseEvaluation, Judgement
from poor_bench.judge.prompt import Turn


def judgement_of(
    overall: float, *, judge: str = "a", cases: Mapping[str, float] | None = None, **fields: Any
) -> Judgement:
    evaluations = tuple(
        CaseEvaluation(test_name=name, score=score, passed=score >= 5, feedback=f"{score:g}!")
        for name, score in (cases or {}).items()
    )
    scores = fields.pop("scores", {"tone": overall})
    return Judgement(
        overall_score=overall,
        scores=scores,
        test_case_evaluations=evaluations,
        judge=judge,
        **fields,
    )


def fallback(judge: str = "a", **fields: Any) -> Judgement:
    return judgement_of(5.0, judge=judge, is_fallback=True, error="no connection", **fields)


def conversation_of(case_id: str = "hello", *said: str, **fields: Any) -> Conversation:
    turns = [Turn("agent" if index % 2 else "user", text) for index, text in enumerate(said)]
    return Conversation(case_id=case_id, turns=tuple(turns), **fields)


def header_of(run_id: str = "20261122T010000-aa", **fields: Any) -> RunHeader:
    given = {
        "started": "2026-11-22T01:00:00Z",
        "agent_id": "sales",
        "llm_id": "seller",
        "threshold": 8.0,
        "rubric_hash": "r1",
        "weights": {"tone": 100.0},
        "judges": ("a",),
    }
    return RunHeader(run_id=run_id, **given | fields)


def run_of(*judgements: Judgement, **fields: Any) -> JudgeRun:
    conversations = fields.pop("conversations", (conversation_of("hello", "Hi", "Hello"),))
    ended = fields.pop("ended", "2026-11-22T01:01:00Z")
    return JudgeRun(
        header=header_of(**fields),
        conversations=conversations,
        judgements=judgements,
        ended=ended,
    )
