from __future__ import annotations

import pytest

from poor_bench.providers.error_reply import ErrorReply, find_refused_parameter

CANDIDATES = ("top_k", "top_p", "temperature", "max_tokens", "stream_options")


@pytest.mark.parametrize(
    ("message", "parameter", "expected"),
    [
        ("Unsupported parameter: 'temperature'", "temperature", "temperature"),
        (
            "property 'stream_options' is unsupported",
            "stream_options.include_usage",
            "stream_options",
        ),
        ("Unrecognized request argument supplied: top_k", "", "top_k"),
        ("unknown field top_k", "", "top_k"),
        ("temperature and top_p cannot both be set", "", "top_p"),
        ("temperature must be at most 2", "temperature", None),
        ("Unsupported parameter: 'messages'", "messages", None),
        ("max_tokens_to_sample is not supported", "", None),
        ("not supported", "", None),
    ],
)
def test_only_what_is_not_taken_at_all_is_a_refusal(
    message: str, parameter: str, expected: str | None
) -> None:
    error = ErrorReply(status=400, message=message, parameter=parameter)
    assert find_refused_parameter(error, CANDIDATES) == expected


def test_a_code_is_enough() -> None:
    codes = frozenset({"unsupported_value"})
    error = ErrorReply(status=400, message="no", codes=codes, parameter="temperature")
    assert find_refused_parameter(error, CANDIDATES) == "temperature"
