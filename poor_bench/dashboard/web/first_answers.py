"""The first answers of a page in one response: of a document before it has scripts, or of a link.

Dash draws a page in rounds: layout and callbacks, the page of the address, then each of its parts
and the rows of its tables. What will be asked is known from the address, so it is answered here as
if it had been asked, by the same callbacks. `assets/first_answers.js` hands an answer out where the
very same is asked; what differs, or is missing here, is asked of the server as always. Those of a
link begin with the first paint of the page, which a document has in itself.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import orjson
from flask import Response, request

from poor_bench.dashboard.page import ShellIds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from dash import Dash
    from flask import Flask

    from poor_bench.dashboard.page import Page

FIRST_PATH = "/_first"
_CALLBACKS = "/_dash-update-component"
_OF_DASH = ("/_dash-layout", "/_dash-dependencies")
_SHELL = (ShellIds.PAGE, ShellIds.PROBLEMS)
_ROWS = "getRowsRequest"
"""Property by which a table of any size asks for rows, as soon as it is drawn."""
_ROWS_AT_ONCE = 50
_HANDED_ON = ("Host", "Cookie", "Authorization")
_KEPT = frozenset({200, 204})
Values = dict[tuple[str, str], Any]
"""Id and property of an element to its value."""
Answer = tuple[str, int, str]
"""What was asked, as the script writes it; status, and text of the response."""


def write_preload(path: str, search: str) -> str:
    """Write the tag that asks for the first answers of the page at an address."""
    query = urlencode({"path": path, "search": search})
    return f'<link rel="preload" as="fetch" crossorigin href="{FIRST_PATH}?{query}">'.replace(
        "&", "&amp;"
    )


def serve_first_answers(
    app: Dash, page_at: Callable[[str], Page | None], write_paint: Callable[[str, str], str]
) -> None:
    """Answer requests for the first answers.

    Args:
        app: An application whose callbacks are all registered.
        page_at: Finds the page at a path; None if it does not exist.
        write_paint: Writes the first paint of the page at a path and query; may be empty.
    """
    server: Flask = app.server

    @server.get(FIRST_PATH)
    def _serve_first() -> Response:
        path, search = request.args.get("path", "/"), request.args.get("search", "")
        page = page_at(path)
        version = request.args.get("version")
        asking = _Asking(app, {"path": path, "search": search}, version)
        paint = _paint(write_paint, path, search) if version else ()
        lines = chain(paint, asking.lines(page.first if page else ()))
        return Response(lines, mimetype="application/x-ndjson")


def _paint(write: Callable[[str, str], str], path: str, search: str) -> Iterator[bytes]:
    """Yield a line with the first paint as its only text."""
    yield orjson.dumps(write(path, search)) + b"\n"


class _Asking:
    """Asks what the browser is going to ask, and keeps what it would then know."""

    def __init__(self, app: Dash, address: Mapping[str, str], version: str | None) -> None:
        """Prepare to ask.

        Args:
            app: The application.
            address: Path and search of the page.
            version: The version that the browser knows; None for a new document.
        """
        untyped: Any = app
        self._callbacks: Sequence[Mapping[str, Any]] = untyped._callback_list
        self._client = app.server.test_client(use_cookies=False)
        self._client.environ_base["REMOTE_ADDR"] = (
            request.remote_addr or ""
        )  # passwords count there
        self._headers = {name: value for name, value in request.headers if name in _HANDED_ON}
        self._address = address
        self._is_new = version is None
        self._values: Values = {(ShellIds.VERSION, "data"): version}

    def lines(self, of_page: Sequence[str]) -> Iterator[bytes]:
        """Yield lines of JSON: the names of what is going to come, then each answer at once."""
        shell = (ShellIds.VERSION, *_SHELL) if self._is_new else _SHELL
        callbacks = list(self._find_callbacks((*shell, *of_page)))
        documents = _OF_DASH if self._is_new else ()
        names = [*documents, *(callback["output"] for callback in callbacks)]
        yield orjson.dumps(names) + b"\n"
        for answer in self._answers(documents, callbacks):
            yield orjson.dumps(answer) + b"\n"

    def _answers(
        self, documents: Sequence[str], callbacks: Sequence[Mapping[str, Any]]
    ) -> Iterator[Answer]:
        for path in documents:
            response = self._client.get(path, headers=self._headers)
            if path.endswith("layout"):
                self._values |= find_values(response.get_json())
            yield path, response.status_code, response.get_data(as_text=True)
        self._values[ShellIds.ADDRESS, "data"] = self._address
        for callback in callbacks:
            body = write_body(callback, self._values)
            response = self._client.post(_CALLBACKS, json=body, headers=self._headers)
            if response.status_code in _KEPT:
                text = response.get_data(as_text=True)
                self._note(text)
                yield write_key(body), response.status_code, text

    def _find_callbacks(self, parts: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        opening = [
            callback
            for callback in self._callbacks
            if not callback["clientside_function"]
            and (not callback["prevent_initial_call"] or callback["inputs"][0]["property"] == _ROWS)
        ]
        for part in parts:
            yield from (each for each in opening if part == name_outputs(each["output"])[0][0])

    def _note(self, text: str) -> None:
        for element, changed in (orjson.loads(text)["response"] if text else {}).items():
            for name, value in changed.items():
                self._values[element, name] = value
                self._values |= find_values(value)


def name_outputs(output: str) -> list[tuple[str, str]]:
    """Split the name of a callback, such as `..a.children...b.data..`, into ids and properties."""
    names = output.strip(".").split("...")
    return [(element, name) for element, _, name in (each.rpartition(".") for each in names)]


def find_values(tree: Any) -> Values:
    """Find the properties of all elements with an id."""
    found: Values = {}
    left = [tree]
    while left:
        one = left.pop()
        if isinstance(one, list):
            left += one
        elif isinstance(one, dict):
            left += one.values()
            props = one.get("props")
            if isinstance(props, dict) and isinstance(props.get("id"), str):
                found |= {(props["id"], name): value for name, value in props.items()}
                if props.get("rowModelType") == "infinite":
                    found[props["id"], _ROWS] = ask_first_rows(props["columnDefs"])
    return found


def ask_first_rows(columns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Write what a table asks for when it is drawn, as AG Grid does."""
    sorted_by = sorted(
        (each for each in columns if each.get("sort")), key=lambda each: each.get("sortIndex", 0)
    )
    return {
        "startRow": 0,
        "endRow": _ROWS_AT_ONCE,
        "sortModel": [
            {"sort": each["sort"], "type": "default", "colId": each["field"]} for each in sorted_by
        ],
        "filterModel": {},
        "api": {},
    }


def write_body(callback: Mapping[str, Any], values: Values) -> dict[str, Any]:
    """Write what a browser sends when a page opens."""

    def fill(arguments: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
        return [
            {"id": each["id"], "property": each["property"]}
            | {"value": values.get((each["id"], each["property"]))}
            for each in arguments
        ]

    outputs = [
        {"id": element, "property": name} for element, name in name_outputs(callback["output"])
    ]
    inputs = fill(callback["inputs"])
    return {
        "output": callback["output"],
        "outputs": outputs if callback["output"].startswith("..") else outputs[0],
        "inputs": inputs,
        "state": fill(callback["state"]),
        "changedPropIds": [
            f"{each['id']}.{each['property']}" for each in inputs if each["value"] is not None
        ],
    }


def write_key(body: Mapping[str, Any]) -> str:
    """Write what a body asks, as the script does: output, inputs and states."""
    parts = [
        body["output"],
        *([each["value"] for each in body[kind]] for kind in ("inputs", "state")),
    ]
    return orjson.dumps(parts).decode()
