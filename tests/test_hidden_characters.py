"""Characters that hide, reorder or command, made visible."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.messages import harmless

UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
NEEDED = set("\u200c\u200d\ufe0e\ufe0f")
PREPENDED = set(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
"""Format characters of Unicode that are drawn."""
TEXTS = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=["Cf", "Cc", "Cs", "Mn"]),
        st.sampled_from("a1#\u0634\u0915\u200c\u200d\ufe0f\u202e\u2066\U0001f469\u2640\u20e3\r\n"),
    )
)


@given(TEXTS)
def test_nothing_that_cannot_be_seen_is_left(text: str) -> None:
    shown = harmless(text)
    left = {each for each in shown if unicodedata.category(each) in UNSEEN} - {"\n", "\t"}
    assert left <= NEEDED | PREPENDED


@given(TEXTS)
def test_twice_is_the_same_as_once(text: str) -> None:
    assert harmless(harmless(text)) == harmless(text)


@given(st.text(st.characters(categories=["L", "Nd", "Po", "Sm", "Zs"], max_codepoint=0x10F)))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    ordinary = "".join(each for each in text if each.isprintable())
    assert harmless(ordinary) == ordinary


@given(TEXTS, st.sampled_from("\u202e\u2066\u200b\u2060\ufeff\u00ad\u3164\U000e0041"), TEXTS)
def test_each_attack_has_its_name_in_the_text(before: str, unseen: str, behind: str) -> None:
    assert f"⟨U+{ord(unseen):04X}⟩" in harmless(before + unseen + behind)


@pytest.mark.parametrize(
    "text",
    ["\U0001f469\u200d\U0001f680", "\u2764\ufe0f", "1\ufe0f\u20e3", "\u0645\u06cc\u200c\u0634",
     "\u0915\u094d\u200d\u0937", "\U0001f3f3\ufe0f\u200d\U0001f308", "\u05e9\u05dc\u05d5\u05dd"],
)  # fmt: skip
def test_emoji_and_scripts_keep_the_joiners_they_need(text: str) -> None:
    assert harmless(text) == text


@pytest.mark.parametrize(
    "text", ["pay\u200dpal", "\u0430\u200d\u0431", "\u200d", "a\ufe0f", "\u0634\u200d\u200d\u0634"]
)
def test_joiners_elsewhere_are_named(text: str) -> None:
    assert "⟨U+" in harmless(text)


def test_line_ends_of_windows_are_line_ends() -> None:
    assert harmless("a\r\nb\rc") == "a\nb\u240dc"
