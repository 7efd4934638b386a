from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any
from urllib.request import urlopen

import pytest

from poor_bench.errors import ConfigError
from poor_bench.evaluation.factories import make_up_credentials, serve_application
from poor_bench.evaluation.models import EvalSuite
from tests.evaluation.builders import make_case


def telling(environ: Mapping[str, str]) -> Callable[..., list[bytes]]:
    """Return an application that tells what it was given."""

    def application(_request: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        start_response("200 OK", [])
        return [environ["PW"].encode()]

    return application


def test_application_is_served_and_given_its_credentials(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "own_server", sys.modules[__name__])
    with (
        serve_application("own_server:telling", {"PW": "open"}) as address,
        urlopen(address) as reply,
    ):
        assert reply.read() == b"open"


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("no_such_module:app", "cannot import"),
        ("tests.evaluation.agents:no_such", "does not have a function"),
        ("tests.evaluation.agents:no_server", "is not a WSGI application"),
        ("tests.evaluation.agents:echo", "raised TypeError"),
    ],
)
def test_server_that_cannot_be_made_says_why(written: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words), serve_application(written, {}):
        pass


def test_credentials_of_the_own_server_are_made_up_where_they_are_not_set() -> None:
    credentials = {"OWN": "{server}", "SET": "{server}/", "OTHER": "https://shop.example"}
    suite = EvalSuite(name="x", cases=(make_case(credentials=credentials),))
    first = make_up_credentials(suite, {"SET": "given"})
    second = make_up_credentials(suite, {"SET": "given"})
    assert set(first) == {"OWN"}
    assert len(first["OWN"]) >= 12
    assert first != second
