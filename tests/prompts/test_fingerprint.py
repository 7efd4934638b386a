from __future__ import annotations

from dataclasses import replace

from poor_bench.models.completion import ChatRequest, Message, Usage
from poor_bench.models.cost import cost_usd
from poor_bench.models.llm import LLM, Prices
from poor_bench.models.test import EvaluatorSpec
from poor_bench.prompts.fingerprint import (
    evaluator_fingerprint,
    llm_fingerprint,
    request_fingerprint,
)

LLM_A = LLM(id="p:m", provider="p", name="m", parameters={"temperature": 0, "stop": ["x"]})
PROMPT = (Message("user", "hello \ud800"),)


def asked(llm: LLM, messages: tuple[Message, ...] = PROMPT) -> str:
    return request_fingerprint(llm, ChatRequest(messages=messages, parameters=llm.parameters))


def test_request_fingerprint_follows_what_is_asked() -> None:
    known = asked(LLM_A)
    assert len(known) == 16
    assert asked(replace(LLM_A, name="n")) != known
    assert asked(replace(LLM_A, parameters={"temperature": 1})) != known
    assert asked(LLM_A, (Message("system", "be brief"), *PROMPT)) != known


def test_request_fingerprint_follows_the_parameters_that_are_sent() -> None:
    other = ChatRequest(messages=PROMPT, parameters={**LLM_A.parameters, "max_tokens": 9})
    assert request_fingerprint(LLM_A, other) != asked(LLM_A)


def test_request_fingerprint_ignores_names_places_and_transport() -> None:
    known = asked(LLM_A)
    moved = replace(LLM_A, id="other", label="x", endpoint="http://127.0.0.1:1", size=3.0)
    assert asked(moved) == known
    reordered = {"stop": ["x"], "stream": False, "temperature": 0, "keep_alive": "1h"}
    assert asked(replace(LLM_A, parameters=reordered)) == known


def test_llm_fingerprint_follows_model_and_parameters_alone() -> None:
    known = llm_fingerprint(LLM_A)
    assert llm_fingerprint(replace(LLM_A, base_system_prompt="be brief", label="x")) == known
    assert llm_fingerprint(replace(LLM_A, name="n")) != known
    assert llm_fingerprint(replace(LLM_A, parameters={"temperature": 1})) != known


def test_evaluator_fingerprint_follows_name_parameters_and_code() -> None:
    spec = EvaluatorSpec("math", {"precision": 2})
    known = evaluator_fingerprint(spec, "code")
    assert evaluator_fingerprint(EvaluatorSpec("math", {"precision": 3}), "code") != known
    assert evaluator_fingerprint(EvaluatorSpec("other", {"precision": 2}), "code") != known
    assert evaluator_fingerprint(spec, "changed") != known


def test_cached_tokens_have_their_own_price() -> None:
    usage = Usage(prompt_tokens=1_000_000, completion_tokens=0, cached_tokens=500_000)
    assert cost_usd(usage, Prices(input=2, output=8, cached_input=0.5)) == 1.25
    assert cost_usd(usage, Prices(input=2, output=8)) == 2.0
    assert cost_usd(usage, Prices()) is None
    assert cost_usd(Usage(), Prices(input=2, output=8)) is None


def test_a_cache_of_prompts_changes_no_answer() -> None:
    llm = LLM(id="x:a", provider="x", name="a")
    plain = ChatRequest(messages=(Message("user", "2+2?"),))
    cached = ChatRequest(messages=(Message("user", "2+2?", 2),), parameters={"prompt_cache": True})
    assert request_fingerprint(llm, cached) == request_fingerprint(llm, plain)
