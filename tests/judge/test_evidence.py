from __future__ import annotations

from poor_bench.judge.prompt import JudgeEvidence, Turn, build_case, build_turns


def test_a_test_result_is_a_case_of_two_turns() -> None:
    case = build_case(
        {
            "test_name": "greeting",
            "input": "Hello",
            "agent_response": "Good morning",
            "expected_behavior": "greets",
            "passed": True,
            "execution_time": 1.5,
        }
    )
    assert case.turns == (Turn("user", "Hello"), Turn("agent", "Good morning"))
    assert (case.name, case.expected_behavior, case.passed) == ("greeting", "greets", True)


def test_lists_are_turns_in_alternation() -> None:
    turns = build_turns(["a", "b"], ["A", "B"])
    assert [(turn.speaker, turn.text) for turn in turns] == [
        ("user", "a"), ("agent", "A"), ("user", "b"), ("agent", "B"),
    ]  # fmt: skip


def test_the_longer_side_speaks_last() -> None:
    assert [turn.text for turn in build_turns(["a", "b"], ["A"])] == ["a", "A", "b"]
    assert [turn.text for turn in build_turns("a", ["A", "B"])] == ["a", "A", "B"]


def test_what_is_missing_is_empty() -> None:
    case = build_case({"agent_response": None})
    assert [turn.text for turn in case.turns] == ["", ""]
    assert case.passed is None


def test_texts_are_all_that_is_shown() -> None:
    case = build_case({"test_name": "n", "input": "i", "agent_response": "r"})
    subject = JudgeEvidence(cases=(case,), description="d", system_prompt="s", written_by="secret")
    assert set(subject.texts()) == {"d", "s", "", "n", "i", "r"}
