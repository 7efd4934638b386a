"""Ask an LLM over HTTP in any wire format: the one loop of requests and replies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from poor_bench.errors import ProviderError
from poor_bench.models.completion import ChatRequest, Completion, FinishReason
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM, Timeouts
from poor_bench.ports import CallControl, Reachability
from poor_bench.providers.api_keys import (
    find_key_variable,
    find_known_key,
    hide_keys,
    read_key,
    without_key,
)
from poor_bench.providers.catalog import ProviderServices
from poor_bench.providers.chat_wire import (
    ChatWire,
    Refused,
    ReplyParts,
    ReplyReader,
    read_mappings,
    read_text,
)
from poor_bench.providers.error_reply import (
    ErrorReply,
    hide_key_in_reply,
    join_lines,
    parse_error_reply,
    read_allowance,
    read_error,
)
from poor_bench.providers.failures import Asked, make_refusal_error, make_transport_error
from poor_bench.providers.transport.reply import (
    MalformedJsonError,
    ObjectReader,
    dump_json,
    load_json,
    split_lines,
)
from poor_bench.providers.transport.server import HttpRequest, Reply, Server, TransportError

_LONGEST_START = 200
_LONGEST_FILE = 2**32


class HttpChat:
    """One LLM behind one HTTP server; called from several threads at once."""

    def __init__(
        self,
        llm: LLM,
        services: ProviderServices,
        url: str,
        *,
        model_hint: str,
        start_hint: str = "",
    ) -> None:
        """Connect to nothing yet.

        Args:
            llm: What to ask.
            services: Clock and environment.
            url: Base URL of the server.
            model_hint: How to get the model.
            start_hint: How to start the server, where that is the user's business.
        """
        self._llm = llm
        self._services = services
        self._asked = Asked(
            server=urlsplit(url).netloc,
            start_hint=start_hint,
            model_hint=model_hint,
            key_variable=find_key_variable(llm, services.environ),
        )
        self._server = Server(url, services.environ, services.clock)
        self.refused: Refused = frozenset()
        """Parts of requests that the server refused; they are left out."""

    def complete(self, wire: ChatWire, request: ChatRequest, control: CallControl) -> Completion:
        """Ask the LLM; a refused parameter is left out from then on.

        Raises:
            ProviderError: If no usable reply comes.
            RunCancelledError: If the run was cancelled.
        """
        key = read_key(self._llm, self._services.environ)
        while True:
            refused = self.refused
            body = wire.body(request, refused)
            with self._exchange(wire, body, key, control) as reply:
                if reply.status < 300:
                    return self._read(wire, wire.reader(request, body), reply, refused, key)
                error = parse_error_reply(reply.status, hide_key_in_reply(reply.read(), key))
            without = wire.refusal(error, body) if error.status in {400, 422} else None
            if without is None or without in refused:
                raise self._make_refusal(error, reply.headers, key)
            self.refused |= {without}

    def get(self, wire: ChatWire, path: str, control: CallControl) -> dict[str, Any]:
        """Fetch the JSON object under a path; raises as `complete`."""
        return self._read_json(wire, path, control, None)

    def post(
        self, wire: ChatWire, path: str, control: CallControl, body: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Send `body` and read the JSON object of the answer; raises as `complete`."""
        return self._read_json(wire, path, control, self._dump(body))

    def upload(
        self, wire: ChatWire, path: str, control: CallControl, form: bytes, content_type: str
    ) -> dict[str, Any]:
        """Send a form and read the JSON object of the answer; raises as `complete`."""
        return self._read_json(wire, path, control, form, content_type)

    def lines(self, wire: ChatWire, path: str, control: CallControl) -> Iterator[bytes]:
        """Yield the lines of the text under a path, without the key; raises as `complete`."""
        key = read_key(self._llm, self._services.environ)
        request = HttpRequest(method="GET", path=path, headers=wire.headers(key))
        with self._open_exchange(request, disable_streaming(control)) as reply:
            if reply.status >= 300:
                error = parse_error_reply(reply.status, hide_key_in_reply(reply.read(), key))
                raise self._make_refusal(error, reply.headers, key)
            for line in split_lines(reply.pieces(_LONGEST_FILE)):
                yield hide_key_in_reply(line, key)

    def read_kept(
        self, wire: ChatWire, request: ChatRequest, value: Mapping[str, Any]
    ) -> Completion:
        """Read a whole reply that was fetched earlier, as from a batch; raises as `complete`."""
        key = find_known_key(self._llm, self._services.environ)
        reader = wire.reader(request, {})
        is_complete = reader.feed(value)
        if not (is_complete or reader.close()):
            raise self._make_incomplete_error(reader.parts)
        return without_key(replace(reader.parts.to_completion(0.0, None), via="batch"), key)

    def refusal(self, error: Any, status: int | None = None) -> ProviderError:
        """Make the error for a refusal that stands in a reply.

        Args:
            error: The decoded object that holds it.
            status: HTTP status of the request, where it is known.
        """
        key = find_known_key(self._llm, self._services.environ)
        return self._make_refusal(read_error(hide_key_in_reply(error, key), status), {}, key)

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    def _read_json(
        self,
        wire: ChatWire,
        path: str,
        control: CallControl,
        body: bytes | None,
        content_type: str = "application/json",
    ) -> dict[str, Any]:
        key = read_key(self._llm, self._services.environ)
        headers = {**wire.headers(key), "Content-Type": content_type}
        method = "GET" if body is None else "POST"
        request = HttpRequest(method=method, path=path, headers=headers, body=body)
        with self._open_exchange(request, disable_streaming(control)) as reply:
            content = reply.read()
        if reply.status >= 300:
            hidden = hide_key_in_reply(content, key)
            raise self._make_refusal(parse_error_reply(reply.status, hidden), reply.headers, key)
        try:
            return load_json(content)
        except MalformedJsonError as error:
            raise self._report_malformed(error, key) from error

    def _exchange(
        self, wire: ChatWire, body: Mapping[str, Any], key: str | None, control: CallControl
    ) -> AbstractContextManager[Reply]:
        request = HttpRequest(
            method="POST", path=wire.path, headers=wire.headers(key), body=self._dump(body)
        )
        return self._open_exchange(
            request, control if body.get("stream") else disable_streaming(control)
        )

    def _dump(self, body: Mapping[str, Any]) -> bytes:
        try:
            return dump_json(body)
        except (TypeError, ValueError) as error:
            raise ProviderError(
                f"the parameters of {self._llm.id} cannot be sent as JSON: {error}",
                kind=FailureKind.BAD_REQUEST,
            ) from error

    @contextmanager
    def _open_exchange(self, request: HttpRequest, control: CallControl) -> Iterator[Reply]:
        try:
            with self._server.exchange(request, control) as reply:
                yield reply
        except TransportError as error:
            raise make_transport_error(error, self._asked) from error.cause

    def _read(
        self, wire: ChatWire, reader: ReplyReader, reply: Reply, refused: Refused, key: str | None
    ) -> Completion:
        try:
            is_complete = self._feed(wire, reader, reply, key)
        except MalformedJsonError as error:
            raise self._report_malformed(error, key) from error
        parts = reader.parts
        if not is_complete and parts.repeats_itself:
            parts.finish_reason = FinishReason.LOOP
        elif not is_complete:
            raise self._make_incomplete_error(parts)
        watch = reply.watch
        notes = tuple(wire.note(item) for item in sorted(refused))
        completion = parts.to_completion(watch.measure_ms(), watch.first_text_ms, notes)
        return without_key(replace(completion, allowance=read_allowance(reply.headers)), key)

    def _feed(self, wire: ChatWire, reader: ReplyReader, reply: Reply, key: str | None) -> bool:
        def take(values: Iterable[dict[str, Any]]) -> bool:
            for value in values:
                if error := _find_error(value):
                    hidden = hide_key_in_reply({"error": error}, key)
                    raise self._make_refusal(read_error(hidden), reply.headers, key)
                if reader.feed(value):
                    return True
                if reader.parts.has_begun:
                    reply.watch.note_first_text()
            return False

        objects = ObjectReader(wire.framing)
        if reply.feed(lambda piece: take(objects.feed(piece))):
            return True
        return take(objects.close()) or reader.close()

    def _make_incomplete_error(self, parts: ReplyParts) -> ProviderError:
        if parts.has_begun:
            message = f"{self._asked.server} stopped in the middle of its reply"
            return ProviderError(message, kind=FailureKind.SERVER_ERROR)
        message = f"{self._asked.server} sent a reply without an answer in it"
        return ProviderError(message, kind=FailureKind.MALFORMED_REPLY)

    def _make_refusal(
        self, error: ErrorReply, headers: Mapping[str, str], key: str | None
    ) -> ProviderError:
        now = datetime.fromisoformat(self._services.clock.now_iso())
        return make_refusal_error(error, headers, self._asked, key, now)

    def _report_malformed(self, error: MalformedJsonError, key: str | None) -> ProviderError:
        start = join_lines(hide_keys(error.start.decode("utf-8", "replace"), key))[:_LONGEST_START]
        what = f"with {start!r}" if start else "with nothing"
        return ProviderError(
            f"{self._asked.server} answered {what} where JSON was expected",
            kind=FailureKind.MALFORMED_REPLY,
        )


def disable_streaming(control: CallControl) -> CallControl:
    """Make the limits for a reply that comes as a whole: no first token comes before it."""
    timeouts = control.timeouts
    return replace(control, timeouts=replace(timeouts, first_token_s=timeouts.total_s))


def _find_error(value: Mapping[str, Any]) -> Any:
    choices = read_mappings(value, "choices")
    return value.get("error") or (choices[0].get("error") if choices else None)


CHECKING = CallControl(timeouts=Timeouts(connect_s=3.0, first_token_s=10.0, total_s=10.0))
"""How long finding out may take."""

_NOBODY_THERE = frozenset({FailureKind.CONNECTION, FailureKind.TIMEOUT})


def describe_reachability(model: str, fetch_names: Callable[[], Iterable[str]]) -> Reachability:
    """Check that `model` can be asked; `fetch_names` lists the models of the endpoint."""
    try:
        names = tuple(fetch_names())
    except ProviderError as error:
        message = f"{error} ({error.hint})" if error.hint else str(error)
        answered = error.kind not in _NOBODY_THERE
        return Reachability(reachable=answered, refused=answered, message=message)
    present = model in names or f"{model}:latest" in names if names else None
    message = "" if present in {True, None} else f"the endpoint does not list {model}"
    return Reachability(reachable=True, model_present=present, message=message, models=names)


def read_names(reply: Mapping[str, Any], list_key: str, name_key: str) -> list[str]:
    """Read the names in a server's list of models."""
    names = (read_text(model, name_key) for model in read_mappings(reply, list_key))
    return [name for name in names if name]
