"""Hypothesis strategies for what LLMs and attackers write."""

from __future__ import annotations

from hypothesis import strategies as st

_PIECES = [
    *"{}[]\"'`,:;.-+=/\\#$%@*_()<>|\n\t 0123456789",
    "```", "~~~", "```json\n", "<think>", "</think>", "[THINK]", '{"answer": ', '"answer"',
    "answer is ", "Answer: ", "\\boxed{", "\\frac{1}{2}", "####", "1,234.5", "1e9", "1e999", "NaN",
    "Infinity", "true", "null", "positive", "- ", "1. ", "(B)", "A", "C) ", "--- a\n", "+++ b\n",
    "@@ -1,2 +1,2 @@\n", "\n+x", "\n-x", "\ud800", "\x00", "\u202e", "½", "\ufeff", "é", "٣",
    "\N{MINUS SIGN}", "\N{EN DASH}",
]  # fmt: skip

surrogates = st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF)
hostile_text = st.one_of(
    st.text(),
    st.text(alphabet=st.characters() | surrogates),
    st.lists(st.sampled_from(_PIECES), max_size=60).map("".join),
)
json_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
)
json_values = st.recursive(
    json_scalars,
    lambda values: st.lists(values, max_size=4) | st.dictionaries(st.text(), values, max_size=4),
    max_leaves=12,
)
