from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.providers.ollama_wire import prompt_was_truncated


@pytest.mark.parametrize(
    ("prompt_tokens", "num_ctx"),
    [(2050, 4096), (2051, 4096), (16387, 32768), (32770, 65536), (4096, 4096)],
)
def test_counts_that_users_reported_are_recognised(prompt_tokens: int, num_ctx: int) -> None:
    assert prompt_was_truncated(prompt_tokens, 1_000_000, num_ctx)
    assert prompt_was_truncated(prompt_tokens, 1_000_000, None)


def test_the_same_count_in_another_context_is_none() -> None:
    assert not prompt_was_truncated(2050, 1_000_000, 8192)


def test_a_prompt_that_cannot_have_been_longer_than_the_context_was_not_cut() -> None:
    assert not prompt_was_truncated(2050, 4096, 4096)


def test_without_a_count_nothing_is_claimed() -> None:
    assert not prompt_was_truncated(None, 1_000_000, 4096)


@given(st.integers(512, 262_144), st.integers(0, 64), st.booleans(), st.integers(1, 100_000))
def test_what_the_server_does_to_a_long_prompt_is_always_found(
    num_ctx: int, num_keep: int, adds_bos: bool, tokens_over: int
) -> None:
    keep = num_keep + adds_bos
    left = num_ctx - max((num_ctx - keep) // 2, 1)
    prompt_bytes = num_ctx + tokens_over
    assert prompt_was_truncated(left, prompt_bytes, num_ctx, num_keep)


@given(st.integers(512, 262_144), st.data())
def test_a_prompt_that_fits_is_hardly_ever_accused(num_ctx: int, data: st.DataObject) -> None:
    tokens = data.draw(st.integers(1, num_ctx - 1))
    accused = prompt_was_truncated(tokens, tokens * 4, num_ctx)
    assert not accused or abs(tokens - num_ctx // 2) <= 3
