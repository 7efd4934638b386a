"""What the tests of the judge share: verdicts, subjects, and judges that follow a script."""

from __future__ import annotations

import json
from typing import Any

from poor_bench.judge.judge import Judge
from poor_bench.judge.prompt import JudgedCase, JudgeEvidence, Turn
from poor_bench.judge.rubric import Dimension, Rubric
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from tests.providers.fake_clock import FakeClock

TWO = Rubric("two", (Dimension("tone", 75.0, "Polite."), Dimension("facts", 25.0, "True.")))
LISTS = ("strengths", "weaknesses", "failures", "warnings", "recommendations")


def verdict(tone: Any = 8, facts: Any = 4, **more: Any) -> dict[str, Any]:
    case = {"test_name": "greeting", "score": 7, "passed": True, "feedback": "fine"}
    whole = {"scores": {"tone": tone, "facts": facts}, "test_case_evaluations": [case]}
    return whole | {name: [] for name in LISTS} | more


def as_json(**more: Any) -> str:
    return json.dumps(verdict(**more))


def subject(response: str = "Good morning!", **more: Any) -> JudgeEvidence:
    turns = (Turn("user", "Hello"), Turn("agent", response))
    case = JudgedCase(name="greeting", turns=turns, expected_behavior="greets")
    return JudgeEvidence(cases=(case,), **more)


def scripted_llm(responses: Any, **more: Any) -> LLM:
    parameters = {"responses": responses} | more.pop("parameters", {})
    return LLM(id="scripted:j", provider="scripted", name="j", parameters=parameters, **more)


def scripted_judge(responses: Any, rubric: Rubric = TWO, **more: Any) -> Judge:
    llm = scripted_llm(responses, **more)
    return Judge(llm, LLMManager(clock=FakeClock()), rubric)
