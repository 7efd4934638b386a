"""Responses written for these tests in the manner of real ones, each with its true issues."""

from typing import Any, NamedTuple

from poor_bench.issues.detector import TestFacts
from tests.issues.builders import CODE, LIST_OF_THREE, OBJECT


class Sample(NamedTuple):
    name: str
    issues: tuple[str, ...]
    fields: dict[str, Any]
    facts: TestFacts | None = None


_NOT_FOUND = "Function 'double' not found in the executed code."
_CODE = "```python\ndef double(x):\n    return x + x\n```"
_LONG = "the river runs down to the sea and the wind comes up from the west " * 4

SAMPLES = (
    Sample("wrong-value", (), {"response": '["good", "bad", "bad"]'}, LIST_OF_THREE),
    Sample("wrong-number", (), {"response": '{"answer": 7}'}, OBJECT),
    Sample("partly-right", (), {"response": '["good", "bad"]', "score": 0.5}, LIST_OF_THREE),
    Sample("too-few", ("wrong_count",), {"response": '["good"]'}, LIST_OF_THREE),
    Sample("too-many", ("wrong_count",), {"response": '["a", "b", "c", "d"]'}, LIST_OF_THREE),
    Sample("none", ("wrong_count",), {"response": "[]"}, LIST_OF_THREE),
    Sample(
        "fenced",
        ("wrapped_in_fence",),
        {"response": '```json\n["a", "b", "c"]\n```'},
        LIST_OF_THREE,
    ),
    Sample(
        "doubled-fence",
        ("wrapped_in_fence",),
        {"response": '``````json\n["a", "b", "c"]\n```'},
        LIST_OF_THREE,
    ),
    Sample(
        "in-prose",
        ("wrapped_in_prose",),
        {"response": 'Here you are: ["a", "b", "c"]. Anything else?'},
        LIST_OF_THREE,
    ),
    Sample(
        "fence-that-was-unwrapped",
        (),
        {"response": '```json\n["a", "b", "c"]\n```', "found": "fenced"},
        LIST_OF_THREE,
    ),
    Sample(
        "fence-against-the-rule",
        ("wrapped_in_fence",),
        {"response": "```\n4\n```", "score": 1.0, "strict_score": 0.0, "found": "fenced"},
    ),
    Sample(
        "prose-against-the-rule",
        ("wrapped_in_prose",),
        {"response": "It is 4.", "score": 1.0, "strict_score": 0.0, "found": "in prose"},
    ),
    Sample(
        "repaired-against-the-rule",
        ("almost_json",),
        {"response": "{'answer': 4}", "score": 1.0, "strict_score": 0.0, "found": "repaired"},
        OBJECT,
    ),
    Sample(
        "objects-against-the-rule",
        ("object_for_list",),
        {
            "response": '[{"mood": "a"}, {"mood": "b"}, {"mood": "c"}]',
            "score": 1.0,
            "strict_score": 0.0,
            "found": "bare",
        },
        LIST_OF_THREE,
    ),
    Sample(
        "number-as-text-against-the-rule",
        ("wrong_type",),
        {"response": '{"answer": "4"}', "score": 1.0, "strict_score": 0.0, "found": "bare"},
        OBJECT,
    ),
    Sample(
        "commented-json",
        ("almost_json",),
        {"response": '[\n  "good", // or neutral?\n  "bad",\n  "bad"\n]'},
        LIST_OF_THREE,
    ),
    Sample(
        "bracket-too-many",
        ("almost_json",),
        {"response": '[\n[\n "good",\n "bad",\n "bad"\n]'},
        LIST_OF_THREE,
    ),
    Sample("cut-json", ("almost_json",), {"response": '{"answer": "4'}, OBJECT),
    Sample(
        "objects-for-list",
        ("object_for_list",),
        {"response": '[{"mood": "good"}, {"mood": "bad"}, {"mood": "bad"}]'},
        LIST_OF_THREE,
    ),
    Sample(
        "object-for-list", ("object_for_list",), {"response": '{"moods": ["good"]}'}, LIST_OF_THREE
    ),
    Sample("number-for-object", ("wrong_type",), {"response": "```json\n7\n```"}, OBJECT),
    Sample("nested-list", ("wrong_type",), {"response": '[["a"], ["b"], ["c"]]'}, LIST_OF_THREE),
    Sample(
        "another-name",
        ("invented_function_name",),
        {"response": _CODE.replace("double", "twice"), "details": _NOT_FOUND},
        CODE,
    ),
    Sample(
        "overlooked-code",
        ("code_overlooked",),
        {"response": "```" + _CODE, "details": _NOT_FOUND},
        CODE,
    ),
    Sample(
        "spread-list",
        ("arguments_do_not_fit",),
        {
            "response": _CODE,
            "details": "ERROR - double() takes 1 positional argument but 3 were given",
        },
        CODE,
    ),
    Sample(
        "missing-module",
        ("missing_module",),
        {"response": _CODE, "details": "ModuleNotFoundError: No module named 'numpy'"},
        CODE,
    ),
    Sample(
        "broken-code",
        ("code_does_not_parse",),
        {"response": "def double(x:", "details": "Syntax error in line 1: '(' was never closed"},
        CODE,
    ),
    Sample(
        "endless-code",
        ("code_is_slow",),
        {"response": _CODE, "details": "Case 2 timed out after 5 s"},
        CODE,
    ),
    Sample(
        "crashing-code",
        ("code_crashes",),
        {"response": _CODE, "score": 0.5, "details": "Case 2 raised ZeroDivisionError"},
        CODE,
    ),
    Sample(
        "wrong-code",
        (),
        {"response": _CODE, "score": 0.5, "details": "Case 2: expected 4, got 5"},
        CODE,
    ),
    Sample(
        "nothing-to-score", ("answer_not_found",), {"response": "Well, hm.", "found": "missing"}
    ),
    Sample(
        "wrong-and-in-prose",
        ("wrapped_in_prose",),
        {"response": "It is 5.", "strict_score": 0.0, "found": "in prose"},
        OBJECT,
    ),
    Sample(
        "cut-off-and-not-found",
        ("truncated",),
        {"response": '{"ans', "finish_reason": "length", "found": "missing"},
        OBJECT,
    ),
    Sample(
        "cut-off-in-prose",
        ("truncated",),
        {"response": "It is 4", "finish_reason": "length", "found": "stated", "strict_score": 0.0},
    ),
    Sample("empty", ("no_answer",), {"response": " \n"}),
    Sample("thinking-only", ("no_answer", "thinking_leaked"), {"response": "<think>so</think>"}),
    Sample(
        "cut-off",
        ("truncated",),
        {"response": "First, the river", "finish_reason": "length", "marks": ("truncated",)},
    ),
    Sample(
        "thought-too-long",
        ("thinking_ate_budget", "truncated", "unclosed_thinking", "no_answer"),
        {"response": "<think>Well, the", "finish_reason": "length", "completion_tokens": 512},
    ),
    Sample(
        "thought-too-long-apart",
        ("thinking_ate_budget", "truncated", "no_answer"),
        {"response": "", "thinking": "Well, the", "finish_reason": "length"},
    ),
    Sample("never-ending-thought", ("unclosed_thinking", "no_answer"), {"response": "<think>Well"}),
    Sample(
        "cut-off-after-the-answer",
        (),
        {"response": "4 because", "score": 1.0, "finish_reason": "length"},
    ),
    Sample(
        "cut-prompt",
        ("prompt_truncated",),
        {"marks": ("prompt_truncated",), "prompt_tokens": 2050},
    ),
    Sample("refusal", ("refusal",), {"response": "I'm sorry, but I can't help with that."}),
    Sample("polite-refusal", ("refusal",), {"response": "Unfortunately, I am unable to assist."}),
    Sample("reported-refusal", ("refusal",), {"response": "No.", "marks": ("refusal",)}),
    Sample("sorry-story", (), {"response": "I'm sorry to hear that the shop was closed."}),
    Sample("loop", ("repetition_loop",), {"response": "Well: " + "no, wait. " * 60}),
    Sample("thinking-loop", ("repetition_loop",), {"thinking": "Hmm. " * 90}),
    Sample("stopped-loop", ("repetition_loop",), {"marks": ("loop",)}),
    Sample("long-answer", (), {"response": _LONG + "and ends."}),
    Sample(
        "another-script",
        ("wrong_language",),
        {"prompt": "Sum this up.", "response": "\u8fd9\u6761\u6cb3\u6d41\u5411\u5927\u6d77" * 5},
    ),
    Sample(
        "script-of-the-prompt",
        (),
        {
            "prompt": "Translate: \u042d\u0442\u043e \u0440\u0435\u043a\u0430",
            "response": "\u042d\u0442\u043e \u043e\u0447\u0435\u043d\u044c \u0434\u043b\u0438\u043d"
            "\u043d\u0430\u044f \u0440\u0435\u043a\u0430",
        },
    ),
    Sample(
        "foreign-word", (), {"prompt": "Sum this up.", "response": "It says \u6cb3, that is river."}
    ),
    Sample(
        "thinking-in-the-answer",
        ("thinking_leaked",),
        {"response": "<think>2 and 2</think>5"},
    ),
    Sample("thinking-aloud", ("thinking_leaked",), {"response": "Okay, let me see. " + _LONG}),
    Sample("loaded", ("cold_load",), {"load_ms": 8000.0, "score": 1.0}),
    Sample("all-is-well", (), {"score": 1.0}),
)
