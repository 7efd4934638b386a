from __future__ import annotations

import re

import pytest

from tests.dashboard.visible_texts import LIST, collect, write

RENEW = "texts changed: python -m tests.dashboard.visible_texts, then read what is new"
_OLD_WORDS = re.compile(
    r"(?-i:\bLLMs?\b)|\bTok/s\b|not established|\btie letter|\bthin line|\binterval\b|\bno more\b"
    r"|any more\b|\bdo(es)? not do\b|There is no\b|knows? of none|nobody|leave out|\bmend",
    re.IGNORECASE,
)
"""Words that the project replaced by those of its field."""
_CONSOLE = frozenset({"judge run AGENT --judge LLM"})
"""Commands, as the console has them."""


def test_the_list_of_texts_is_current() -> None:
    assert write(collect()) == LIST.read_text(encoding="utf-8"), RENEW


def test_no_text_is_listed_twice() -> None:
    texts = [text for part in collect().values() for text in part]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("part", collect())
def test_texts_use_the_words_of_the_field(part: str) -> None:
    texts = [text for text in collect()[part] if text not in _CONSOLE]
    assert [text for text in texts if _OLD_WORDS.search(text)] == []


def test_texts_are_found_in_pages_and_scripts_but_not_ids() -> None:
    texts = collect()
    assert "Model comparison" in texts["page overview"]
    assert "Shown columns" in texts["assets"]
    assert not any("llms-add-button" in each for each in texts["page llms"])
