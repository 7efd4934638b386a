from __future__ import annotations

import hashlib
import json

from poor_bench.judge.prompt import (
    PROMPT_VERSION,
    JudgedCase,
    JudgeEvidence,
    Turn,
    judge_messages,
    repair_message,
)
from tests.judge.judging import TWO

HASH_OF_VERSION = {"2": "aae5d4da17c02646"}
NONCE = "0123456789abcdef"
CASES = (
    JudgedCase(name="a", turns=(Turn("user", "hi"), Turn("agent", "ho")), expected_behavior="x"),
    JudgedCase(name="", turns=(Turn("agent", "alone"),)),
)
SUBJECT = JudgeEvidence(cases=CASES, description="d", system_prompt="s", skill="k")


def test_a_changed_prompt_has_another_version() -> None:
    messages = (*judge_messages(SUBJECT, TWO, NONCE), repair_message("it is odd", NONCE))
    told = json.dumps([(message.role, message.content) for message in messages])
    assert hashlib.sha256(told.encode()).hexdigest()[:16] == HASH_OF_VERSION[PROMPT_VERSION]


def test_every_dimension_is_told_with_its_weight_and_description() -> None:
    told = judge_messages(SUBJECT, TWO, NONCE)[1].content
    assert "- tone (75 %): Polite." in told
    assert "- facts (25 %): True." in told
    assert '"scores": {"tone": <0 to 10>, "facts": <0 to 10>}' in told


def test_cases_are_numbered() -> None:
    told = judge_messages(SUBJECT, TWO, NONCE)[1].content
    assert told.index("# Case 1") < told.index("ho") < told.index("# Case 2") < told.index("alone")


def test_advice_is_only_asked_for_where_it_is_wanted() -> None:
    asked, spared = (
        judge_messages(SUBJECT, TWO, NONCE, advice)[1].content for advice in (("strengths",), ())
    )
    assert '"strengths": [' in asked
    assert "strengths" not in spared
    assert "weaknesses" not in asked


def test_what_is_not_there_is_left_out() -> None:
    told = judge_messages(JudgeEvidence(cases=CASES[1:]), TWO, NONCE)[1].content
    for tag in ("description", "instructions", "skill", "name", "expected", "user"):
        assert f"<{tag}-" not in told
