"""Which models the overview shows, in which groups, and which ones stand together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.dashboard.pages.overview.layout import OverviewUrl, compare_button
from poor_bench.dashboard.pages.overview.models import (
    GROUPINGS,
    TOPS,
    find_models,
    show_models,
)
from poor_bench.models.llm import LLM
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.scores import average_scores

NAMES = ("qwen3:8b-q4_K_M", "gemma3:1b", "qwen3:8b-fp16", "granite3.3:2b")
LLMS = {
    f"ollama:{name}": LLM(id=f"ollama:{name}", provider="ollama", name=name, size=size)
    for name, size in zip(NAMES, (8.0, 1.0, 8.0, None), strict=True)
}


def test_variants_of_a_base_model_stand_together_in_the_order_of_their_best() -> None:
    shown = show_models(list(LLMS), "base", "", LLMS)
    assert [(name, len(found)) for name, found in shown.groups] == [
        ("qwen3:8b", 2),
        ("gemma3:1b", 1),
        ("granite3.3:2b", 1),
    ]


def test_sizes_and_providers_are_groups_also_of_removed_models() -> None:
    shown = show_models([*LLMS, "openai:gone"], "size", "", LLMS)
    assert shown.group_of["openai:gone"] == "size unknown"
    assert shown.group_of["ollama:gemma3:1b"] == "1 to 4 B"
    by_provider = show_models([*LLMS, "openai:gone"], "provider", "", LLMS)
    assert [name for name, _ in by_provider.groups] == ["ollama", "openai"]


def test_many_models_leave_others_and_one_never_does() -> None:
    many = [f"a:{number}" for number in range(30)]
    assert len(show_models(many, "", "", {}).others) == 10
    assert len(show_models(many, "", "10", {}).others) == 20
    assert show_models(many, "", "all", {}).others == ()
    assert show_models(many[:21], "", "", {}).others == ()


@given(
    st.lists(st.text(max_size=8), unique=True, max_size=40),
    st.sampled_from([*GROUPINGS, "x"]),
    st.sampled_from([*TOPS, "-3", "x"]),
)
def test_every_model_is_shown_once_or_among_the_others(
    llm_ids: list[str], grouping: str, top: str
) -> None:
    shown = show_models(llm_ids, grouping, top, LLMS)
    assert sorted([*shown.llm_ids, *shown.others]) == sorted(llm_ids)


@pytest.mark.parametrize(
    ("text", "n"), [("", 4), ("QWEN3", 2), ("8b fp16", 1), ("ollama", 4), ("nothing", 0)]
)
def test_models_are_found_by_words_of_their_names(text: str, n: int) -> None:
    assert len(find_models(list(LLMS), text, str)) == n


def test_others_have_a_mean_over_those_with_a_score() -> None:
    scores = [Estimate(value=value, low=0.0, high=1.0, n=5) for value in (0.2, 0.6)]
    found = average_scores(scores)
    assert found is not None
    assert (round(found.mean, 6), found.n, found.lowest, found.highest) == (0.4, 2, 0.2, 0.6)
    assert average_scores([]) is None


def test_two_ticked_models_can_be_compared() -> None:
    assert getattr(compare_button(["a:b"]), "href", None) is None
    assert compare_button(["a:b", "c:d"]).href == "/compare?llm=a%3Ab&llm=c%3Ad"


def test_another_filter_begins_at_the_first_columns() -> None:
    url = OverviewUrl.read("?class-page=3&group=size")
    assert url.column_page == 3
    assert url.change(text="x").column_page == 1
    assert url.change(column_page=4).column_page == 4
