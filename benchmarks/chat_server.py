"""A server that speaks just enough of OpenAI's chat completions, in a process of its own.

`python benchmarks/chat_server.py LATENCY_MS [faults] [limit=N]` prints its port, then serves until
it is killed. It answers with a stream of three pieces where the request asks for one. With
`faults`, every tenth request gets a 429 (Retry-After: 1) and every fiftieth a 500. With `limit=N`,
every request beyond N in the second before gets a 429 without a word on when to come back, and each
second the server prints how many it took and refused.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
from collections import deque

_USAGE = b'"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}'
_WHOLE = (
    b'{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop",'
    b'"message":{"role":"assistant","content":"{\\"answer\\": 4}"}}],' + _USAGE + b"}"
)


def _event(delta: bytes, finish: bytes) -> bytes:
    return (
        b'data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,'
        b'"delta":{' + delta + b'},"finish_reason":' + finish + b"}]}\n\n"
    )


_STREAM = (
    _event(b'"role":"assistant","content":"{\\"answer\\""', b"null")
    + _event(b'"content":": 4}"', b"null")
    + _event(b"", b'"stop"')
    + b'data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[],'
    + _USAGE
    + b"}\n\ndata: [DONE]\n\n"
)


def _reply(kind: bytes, body: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (kind, len(body))
    return head + body


_REPLIES = {
    True: _reply(b"text/event-stream", _STREAM),
    False: _reply(b"application/json", _WHOLE),
}


_BUSY = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"
_BROKEN = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"
_TOO_MANY = b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n"
_numbers = itertools.count(1)


class Limit:
    """At most so many requests in any second."""

    def __init__(self, per_second: int) -> None:
        self._per_second = per_second
        self._taken: deque[float] = deque()
        self._n_taken = self._n_refused = 0

    def admits(self) -> bool:
        now = time.monotonic()
        while self._taken and self._taken[0] <= now - 1:
            self._taken.popleft()
        is_free = len(self._taken) < self._per_second
        if is_free:
            self._taken.append(now)
        self._n_taken += is_free
        self._n_refused += not is_free
        return is_free

    async def tell(self) -> None:
        while True:
            await asyncio.sleep(1)
            print(self._n_taken, self._n_refused, flush=True)
            self._n_taken = self._n_refused = 0


def _answer(body: bytes, with_faults: bool) -> bytes:
    number = next(_numbers)
    if with_faults and number % 50 == 0:
        return _BROKEN
    if with_faults and number % 10 == 0:
        return _BUSY
    return _REPLIES[b'"stream":true' in body.replace(b" ", b"")]


async def _serve(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    latency_s: float,
    with_faults: bool,
    limit: Limit | None,
) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length:")
            )
            body = await reader.readexactly(length)
            if limit is not None and not limit.admits():
                writer.write(_TOO_MANY)
                continue
            if latency_s:
                await asyncio.sleep(latency_s)
            writer.write(_answer(body, with_faults))
    except (asyncio.IncompleteReadError, ConnectionError, StopIteration):
        writer.close()


async def main() -> None:
    latency_s = float(sys.argv[1]) / 1000
    with_faults = "faults" in sys.argv[2:]
    limits = [Limit(int(text[6:])) for text in sys.argv[2:] if text.startswith("limit=")]
    limit = limits[0] if limits else None
    server = await asyncio.start_server(
        lambda reader, writer: _serve(reader, writer, latency_s, with_faults, limit), "127.0.0.1", 0
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    telling = asyncio.create_task(limit.tell()) if limit else None
    await server.serve_forever()
    del telling


if __name__ == "__main__":
    asyncio.run(main())
