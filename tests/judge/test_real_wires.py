"""Judging for real: the embedded model behind llama.cpp's Anthropic and OpenAI endpoints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from poor_bench.config.judge_settings import JudgeSettings
from poor_bench.judge.judge import Judge
from poor_bench.judge.judgement import Judgement
from poor_bench.judge.registry import JudgeOptions, judge_llm
from poor_bench.judge.reply import compute_weighted_mean
from poor_bench.judge.rubric import Dimension, Rubric
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.providers.embedded_engine import require_library
from tests.judge.judging import subject
from tests.providers.embedded_file import real_model

pytestmark = pytest.mark.embedded
KEY = "sk-local-0123456789"
RUBRIC = Rubric("short", (Dimension("tone", 60.0, "Polite."), Dimension("help", 40.0, "Helps.")))


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Address of a llama.cpp server with the embedded model."""
    xllamacpp = require_library()
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(real_model())
    parameters.n_ctx = 4096
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.warmup = False
    parameters.verbosity = -1
    parameters.api_keys = [KEY]
    server = xllamacpp.Server(parameters)
    server.handle_completions({"prompt": "a", "max_tokens": 1})
    yield server.listening_address
    del server


def judged(llm: LLM, environ: dict[str, str], **more: Any) -> Judgement:
    manager = LLMManager(environ=environ)
    try:
        return Judge(llm, manager, RUBRIC, **more).judge(
            subject("Good morning! How can I help you?")
        )
    finally:
        manager.close()


def test_anthropics_wire_brings_a_reply_and_its_usage(address: str) -> None:
    environ = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": address}
    options = JudgeOptions(max_tokens=24, temperature=0.0)
    llm = judge_llm(options, JudgeSettings(), (), environ)
    judgement = judged(llm, environ, advice=())
    assert judgement.reply
    assert judgement.usage.prompt_tokens is not None
    assert judgement.usage.prompt_tokens > 200
    assert judgement.usage.completion_tokens is not None
    assert judgement.usage.completion_tokens <= 24 * judgement.attempts
    assert judgement.is_fallback == bool(judgement.error)
    assert not (judgement.is_fallback and judgement.is_approved)


def test_a_key_that_the_server_refuses_is_the_fallback(address: str) -> None:
    environ = {"ANTHROPIC_API_KEY": "sk-wrong-0123456789", "ANTHROPIC_BASE_URL": address}
    judgement = judged(judge_llm(JudgeOptions(), JudgeSettings(), (), environ), environ)
    assert judgement.is_fallback
    assert judgement.attempts == 1
    assert "sk-wrong" not in judgement.error


def test_openais_wire_brings_a_judgement_of_the_right_form(address: str) -> None:
    llm = LLM(
        id="openai:local",
        provider="openai",
        name="local",
        endpoint=f"{address}/v1",
        api_key_env="LOCAL_KEY",
        parameters={"temperature": 0, "max_tokens": 140},
    )
    check(judged(llm, {"LOCAL_KEY": KEY}))


def test_the_embedded_llm_judges() -> None:
    parameters = {"model_path": str(real_model()), "max_tokens": 220}
    llm = LLM(id="embedded:own", provider="embedded", name="own", parameters=parameters)
    check(judged(llm, {}, advice=()))


def check(judgement: Judgement) -> None:
    assert not judgement.is_fallback, judgement.error
    assert set(judgement.scores) == {"tone", "help"}
    assert all(0 <= score <= 10 for score in judgement.scores.values())
    assert judgement.overall_score == compute_weighted_mean(judgement.scores, RUBRIC)
    assert len(judgement.test_case_evaluations) == 1
    assert judgement.usage.completion_tokens
