from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.dashboard.visible_texts import CONSOLE, DASHBOARD, Screen, collect, fold, order, write

MOST_WORDS = 1_511
RENEW = "texts changed: python -m tests.dashboard.visible_texts, then read what is new"
_OLD_WORDS = re.compile(
    r"(?-i:\bLLMs?\b)|\bTok/s\b|not established|\btie letter|\bthin line|\binterval\b|\bno more\b"
    r"|any more\b|\bdo(es)? not do\b|There is no\b|knows? of none|nobody|leave out|\bmend",
    re.IGNORECASE,
)
"""Words that the project replaced by those of its field."""
_CONSOLE = frozenset(
    {
        "judge run AGENT --judge LLM",
        "Find out how good an LLM is at your tasks, on your machine, and why it fails.",
        "Show how much of each confidence interval comes from tests, trials and the judge.",
    }
)
"""Commands, as the console has them, and what the project says of itself."""


@pytest.fixture(scope="module")
def texts() -> dict[str, list[str]]:
    return collect(DASHBOARD)


@pytest.mark.slow(reason="draws every page")
@pytest.mark.parametrize("screen", [DASHBOARD, CONSOLE], ids=["dashboard", "console"])
def test_the_list_of_texts_is_current(screen: Screen) -> None:
    assert write(collect(screen)) == screen.texts.read_text(encoding="utf-8"), RENEW


def test_texts_of_the_console_use_the_words_of_the_field_and_have_its_help() -> None:
    told = [text for part in collect(CONSOLE).values() for text in part if text not in _CONSOLE]
    assert [text for text in told if _OLD_WORDS.search(text)] == []
    assert "List judged runs, newest last." in told


def test_each_wording_is_listed_once_and_none_is_missing(texts: dict[str, list[str]]) -> None:
    listed = [fold(text) for part in order(texts).values() for text in part]
    assert len(set(listed)) == len(listed)
    assert set(listed) == {fold(text) for part in texts.values() for text in part}


def test_texts_that_differ_in_words_are_different_wordings() -> None:
    assert fold("Level …") == fold("…, level …") != fold("Levels")
    assert fold("Rate 1") != fold("Rate 0")


def test_single_lower_case_words_are_listed_where_they_are_surely_shown(tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text(
        """
def show(state, legend="only left"):
    name = {"kind": "hidden"}[state]
    raise ConfigError("@FILE: console only")
    return html.Div([quiet("none" if state == "other" else "some"), "word"], id="body", role="row")

dmc.Select(label=f"Show {'raw' if name else 'rendered'}", placeholder="default", value="chosen")
"""
    )
    assert list(collect(Screen(tmp_path, tmp_path))["page"]) == [
        "only left", "@FILE: console only", "none", "some", "word", "Show …", "raw", "rendered",
        "default",
    ]  # fmt: skip


def test_the_list_stays_short() -> None:
    listed = DASHBOARD.texts.read_text(encoding="utf-8").split()
    words = [word for word in listed if re.search("[A-Za-z]", word)]
    assert len(words) <= MOST_WORDS


def test_texts_use_the_words_of_the_field(texts: dict[str, list[str]]) -> None:
    shown = [(part, text) for part, each in texts.items() for text in each if text not in _CONSOLE]
    assert [each for each in shown if _OLD_WORDS.search(each[1])] == []


def test_texts_are_found_in_pages_and_scripts_but_not_ids(texts: dict[str, list[str]]) -> None:
    assert "Model comparison" in texts["overview"]
    assert "Save view" in texts["assets"]
    assert not any("llms-add-button" in each for each in texts["llms"])
