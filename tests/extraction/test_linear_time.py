from __future__ import annotations

import pytest

from poor_bench.extraction.answer_number import extract_number
from poor_bench.extraction.choice import extract_choice
from poor_bench.extraction.fences import find_fenced_blocks
from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.list_value import extract_list
from poor_bench.extraction.thinking import split_thinking
from poor_bench.extraction.unified_diff import extract_diff
from tests.extraction.growth import assert_linear

pytestmark = pytest.mark.slow(reason="measures how time grows with length")


def choose(text):
    return extract_choice(text, ["A", "B"], ["one", "other one"])


PATTERNS = {
    find_fenced_blocks: ["```\n", "~~~~\n```\n", "```a`\n", "````\n```\n"],
    split_thinking: ["<think>", "</think>", "<think ", "<think></think>", "```\n<think>\n", "<"],
    extract_json: ["[", "{", "{}", '{"a":', "{x}", '{"', "\\", "{]", "[{}", "{'a': 1}", "'", '"'],
    extract_number: ["1", "1,", "1/", "1 1/1", "-", "$", "10^", "answer ", "\\boxed{", "\\frac{"],
    extract_list: ["- a\n", "-", "a,", "1. ", "\n\n"],
    choose: ["answer is ", "A", "(A) ", "B)\n", "answer", "A is ", "one ", "answer ((((((("],
    extract_diff: ["@@\n+a\n", "--- a\n+++ b\n@@\n-a\n", "\n+a", "@@ -1 +1 @@\n"],
}
CASES = [(function, pattern) for function, patterns in PATTERNS.items() for pattern in patterns]
IDS = [f"{function.__name__}-{pattern!r}" for function, pattern in CASES]


@pytest.mark.parametrize(("function", "pattern"), CASES, ids=IDS)
def test_time_grows_with_the_length_of_the_text(function, pattern):
    assert_linear(function, pattern)


def test_deep_nesting_is_read_in_reasonable_time():
    assert extract_json("[" * 50_000 + "]" * 50_000) is None
