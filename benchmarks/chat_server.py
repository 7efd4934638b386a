"""A server that speaks just enough of OpenAI's chat completions, in a process of its own.

`python benchmarks/chat_server.py LATENCY_MS` prints its port, then serves until it is killed. It
answers with a stream of three pieces where the request asks for one.
"""

from __future__ import annotations

import asyncio
import sys

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


async def _serve(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, latency_s: float
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
            if latency_s:
                await asyncio.sleep(latency_s)
            writer.write(_REPLIES[b'"stream":true' in body.replace(b" ", b"")])
    except (asyncio.IncompleteReadError, ConnectionError, StopIteration):
        writer.close()


async def main() -> None:
    latency_s = float(sys.argv[1]) / 1000
    server = await asyncio.start_server(
        lambda reader, writer: _serve(reader, writer, latency_s), "127.0.0.1", 0
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
