from __future__ import annotations

from typing import Any

import pytest

from poor_bench.errors import ProviderError
from poor_bench.models.failure import FailureKind
from poor_bench.providers.embedded import build_request_body, choose_context_tokens, raise_refusal
from tests.providers.asking import make_llm, make_request

SCHEMA = {"type": "object", "properties": {"answer": {"type": "number"}}}


def body(**parameters: Any) -> dict[str, Any]:
    return build_request_body(make_llm("embedded"), make_request(**parameters))


def test_replies_repeat_and_end_by_default() -> None:
    asked = body()

    assert asked["temperature"] == 0
    assert asked["max_tokens"] == 512
    assert asked["cache_prompt"] is False


def test_set_parameters_count_more_than_defaults() -> None:
    asked = body(temperature=0.7, max_tokens=9, top_k=5, min_p=0.1, seed=3, repeat_penalty=1.1)

    assert {"temperature": 0.7, "max_tokens": 9, "top_k": 5}.items() <= asked.items()
    assert {"min_p": 0.1, "seed": 3, "repeat_penalty": 1.1}.items() <= asked.items()


def test_schema_is_passed_on() -> None:
    asked = body(response_format={"type": "json_schema", "schema": SCHEMA})

    assert asked["response_format"]["json_schema"]["schema"] == SCHEMA


def test_reply_always_comes_in_pieces() -> None:
    assert body(stream=False)["stream"] is True


@pytest.mark.parametrize(("parameters", "tokens"), [({}, 4096), ({"num_ctx": 512}, 512)])
def test_context_is_the_parameter_or_4096(parameters: dict[str, Any], tokens: int) -> None:
    assert choose_context_tokens(make_llm("embedded", parameters=parameters)) == tokens


@pytest.mark.parametrize("num_ctx", ["many", 0, True, 1.5, None])
def test_context_that_is_no_number_is_refused(num_ctx: object) -> None:
    with pytest.raises(ProviderError, match="num_ctx must be a number"):
        choose_context_tokens(make_llm("embedded", parameters={"num_ctx": num_ctx}))


def test_piece_with_an_error_says_what_kind_it_is() -> None:
    error = {"code": 400, "message": "too long", "type": "exceed_context_size_error"}

    with pytest.raises(ProviderError) as caught:
        raise_refusal({"error": error})

    assert caught.value.kind is FailureKind.CONTEXT_OVERFLOW
    assert "num_ctx" in caught.value.hint


def test_piece_of_text_is_no_refusal() -> None:
    raise_refusal({"choices": [{"delta": {"content": "error"}}]})
