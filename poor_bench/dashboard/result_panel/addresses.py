"""Texts of a result at addresses of their own: whole texts, and its request as a curl command."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flask import Flask, Response

from poor_bench.dashboard.services.panel_results import PanelResults, TextPart
from poor_bench.dashboard.text.formatting import error_text
from poor_bench.dashboard.url_state import write_query
from poor_bench.errors import PoorBenchError
from poor_bench.messages import harmless
from poor_bench.models.result import Result
from poor_bench.results.table import TrialKey

_TEXT, _CURL = "/result/text", "/result/curl"


def text_address(result: Result, part: TextPart) -> str:
    """Write the address of one text of a result.

    Example:
        >>> text_address(Result(llm_id="a:b", test_id="t", score=1.0), TextPart.ANSWER)
        '/result/text?part=answer&llm=a%3Ab&test=t&trial=1'
    """
    return f"{_TEXT}{write_query([('part', part.value), *_name(result)])}"


def curl_address(result: Result) -> str:
    """Write the address of the request of a result as a curl command."""
    return f"{_CURL}{write_query(_name(result))}"


def _name(result: Result) -> list[tuple[str, str]]:
    trial, failed = str(result.trial), "1" if result.failure is not None else ""
    return [("llm", result.llm_id), ("test", result.test_id), ("trial", trial), ("failed", failed)]


def serve_texts(server: Flask, panel: PanelResults) -> None:
    """Give a server these addresses; whatever a text holds, it is sent as plain text."""
    from flask import request

    @server.get(_TEXT)
    def text() -> Response:
        return _answer(lambda: read_text(panel, request.args))

    @server.get(_CURL)
    def curl() -> Response:
        return _answer(lambda: panel.curl(*_read_name(request.args)))


def read_text(panel: PanelResults, query: Mapping[str, str]) -> str:
    """Read the text that an address names, from its `start` on.

    Raises:
        KeyError: If the address names no text that is there.
    """
    text = panel.text(*_read_name(query), TextPart(query.get("part", "")))
    if text is None:
        raise KeyError("result")
    return harmless(text[max(0, int(query.get("start", "0"))) :])


def _read_name(query: Mapping[str, str]) -> tuple[str, TrialKey]:
    key = TrialKey(query["test"], int(query.get("trial", "1")), "failed" in query)
    return query["llm"], key


def _answer(read: Callable[[], str]) -> Response:
    from flask import Response

    try:
        text, status = read(), 200
    except PoorBenchError as error:
        text, status = harmless(error_text(error)), 409
    except (KeyError, ValueError):
        text, status = "Unknown result", 404
    return Response(text, status, mimetype="text/plain")
