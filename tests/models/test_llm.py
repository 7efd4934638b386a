from __future__ import annotations

from typing import Any

import pytest

from poor_bench.models.llm import LLM, resolve_llm_id, split_think_suffix


def make_llm(llm_id: str, name: str, **parameters: Any) -> LLM:
    return LLM(id=llm_id, provider="ollama", name=name, parameters=parameters)


GEMMA = make_llm("ollama:gemma3:1b-it-qat", "gemma3:1b-it-qat")
GRANITE = make_llm("ollama:granite3.3:8b", "granite3.3:8b")
GRANITE_FAST = make_llm("ollama:granite3.3:8b:false", "granite3.3:8b", think=False)
QWEN_FAST = make_llm("ollama:qwen3:8b:false", "qwen3:8b", think=False)
QWEN_DEEP = make_llm("ollama:qwen3:8b:true", "qwen3:8b", think=True)
PHI_FAST = make_llm("quick", "phi4", think=False)
LLMS = [GEMMA, GRANITE, GRANITE_FAST, QWEN_FAST, QWEN_DEEP, PHI_FAST]


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("ollama:gemma3:1b-it-qat", GEMMA.id),
        ("ollama:gemma3:1b-it-qat:false", GEMMA.id),
        ("ollama:granite3.3:8b", GRANITE.id),
        ("ollama:granite3.3:8b:false", GRANITE_FAST.id),
        ("ollama:granite3.3:8b:true", GRANITE.id),
        ("ollama:qwen3:8b:true", QWEN_DEEP.id),
        ("ollama:phi4:false", PHI_FAST.id),
        ("ollama:phi4", PHI_FAST.id),
        ("quick", PHI_FAST.id),
    ],
)
def test_result_keys_find_their_llm(key: str, found: str) -> None:
    assert resolve_llm_id(key, LLMS) == found


@pytest.mark.parametrize(
    "key", ["ollama:qwen3:8b", "ollama:phi4:true", "ollama:unknown", "openai:gemma3:1b-it-qat", ""]
)
def test_keys_without_a_single_agreeing_llm_find_none(key: str) -> None:
    assert resolve_llm_id(key, LLMS) is None


def test_a_model_named_like_a_suffix_keeps_its_name() -> None:
    assert split_think_suffix("ollama:true") == ("ollama:true", "")
