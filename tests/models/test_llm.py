from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.models.llm import LLM, cut_model_name, resolve_llm_id, split_think_suffix


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


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("qwen2.5-coder:7b-instruct-q4_K_M", "qwen2.5-coder:7b"),
        ("qwen2.5-coder-32b-instruct", "qwen2.5-coder:32b"),
        ("Qwen/Qwen2.5-7B-Instruct-GGUF", "qwen2.5:7b"),
        ("/models/Qwen2.5-7B-Instruct-Q4_K_M.gguf", "qwen2.5:7b"),
        ("C:\\models\\Llama-3.2-1B-Instruct-IQ2_XS.gguf", "llama-3.2:1b"),
        ("unsloth/Qwen3-30B-A3B-Instruct-2507-UD-Q4_K_XL", "qwen3-2507:30b-a3b"),
        ("qwen3:0.6b-fp16", "qwen3:0.6b"),
        ("qwen3:0.6b", "qwen3:0.6b"),
        ("gemma3:1b-it-qat", "gemma3:1b"),
        ("gemma3n:e4b-it-q8_0", "gemma3n:e4b"),
        ("mixtral:8x7b-instruct-v0.1-q4_0", "mixtral-v0.1:8x7b"),
        ("smollm2-135m", "smollm2:135m"),
        ("granite3.3:2b", "granite3.3:2b"),
        ("magistral:24b-small-2506-q8_0", "magistral-small-2506:24b"),
        ("deepseek-r1:8b-0528-qwen3-fp16", "deepseek-r1-0528-qwen3:8b"),
        ("deepseek/deepseek-r1-0528-qwen3-8b:free", "deepseek-r1-0528-qwen3:8b"),
        ("mistral-small-3.1-24b-instruct-2503", "mistral-small-3.1-2503:24b"),
        ("gpt-4.1-nano-2025-04-14", "gpt-4.1-nano"),
        ("claude-3-5-sonnet-20241022", "claude-3-5-sonnet"),
        ("claude-3-5-haiku@20241022", "claude-3-5-haiku"),
        ("gpt-oss:20b", "gpt-oss:20b"),
        ("gpt-oss-20b-mxfp4", "gpt-oss:20b"),
        ("llama3.2:latest", "llama3.2"),
        ("o3-mini", "o3-mini"),
        ("phi-4-mini-instruct-4bit", "phi-4-mini"),
    ],
)
def test_variants_have_one_base(name: str, base: str) -> None:
    assert cut_model_name(name) == base


@pytest.mark.parametrize(("one", "other"), [
    ("qwen3:8b", "qwen3:14b"), ("qwen2.5:7b", "qwen2.5-coder:7b"), ("o1", "o3"),
    ("gpt-4.1", "gpt-4.1-nano"), ("deepseek-r1:8b-0528-qwen3-fp16", "deepseek-r1:8b"),
])  # fmt: skip
def test_other_models_keep_apart(one: str, other: str) -> None:
    assert cut_model_name(one) != cut_model_name(other)


@given(st.text(min_size=1, max_size=60))
def test_any_name_has_a_base_that_is_its_own_base(name: str) -> None:
    base = cut_model_name(name)
    assert base
    assert cut_model_name(cut_model_name(base)) == cut_model_name(base)
