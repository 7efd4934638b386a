"""A server that streams in HTTP chunks, one piece at a time, in a process of its own.

`python benchmarks/stream_server.py PIECES PER_SECOND FIRST_MS` prints its port, then serves until
it is killed. Replies have `PIECES` server-sent events of OpenAI's chat completions in the mean,
each in a chunk and a packet of its own; the first one comes after `FIRST_MS`. It is the text of the
milliseconds that the server really took to send it, the last one likewise, so that the times of a
client can be compared. Replies are 220 words long in the mean, however many pieces they come in.
One thread and bare sockets: it must cost less than what it measures.
"""

from __future__ import annotations

import heapq
import itertools
import selectors
import socket
import sys
import time

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(content: bytes, finish: bytes = b"null") -> bytes:
    return chunk(
        b'data: {"id":"chatcmpl-8f2b1c","object":"chat.completion.chunk","created":1764000000,'
        b'"model":"m","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":'
        b'{"content":"' + content + b'"},"logprobs":null,"finish_reason":' + finish + b"}]}\n\n"
    )


_END = (
    event(b"", b'"stop"')
    + chunk(
        b'data: {"id":"chatcmpl-8f2b1c","object":"chat.completion.chunk","model":"m","choices":[],'
        b'"usage":{"prompt_tokens":12,"completion_tokens":200,"total_tokens":212}}\n\n'
    )
    + chunk(b"data: [DONE]\n\n")
    + b"0\r\n\r\n"
)
_WORDS_OF_A_REPLY = 220


def length_of(number: int, n_pieces: int) -> int:
    """Pieces of a reply: half to one and a half times `n_pieces`, so that replies do not march."""
    return round(n_pieces * (0.5 + number % 8 / 7))


class Stream:
    """One connection; sends one reply after the other."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._received = b""
        self._asked_at = 0.0
        self._n_sent = 0
        self._n_pieces = 0

    def hear(self) -> bool | None:
        """Read; True if a request is complete, None if the client hung up."""
        try:
            data = self.connection.recv(65536)
        except ConnectionError:
            return None
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
        is_whole = bool(end) and len(body) >= length
        if is_whole:
            self._received, self._asked_at, self._n_sent = b"", time.monotonic(), 0
        return is_whole if data else None

    def begin(self, n_pieces: int) -> None:
        self._n_pieces = n_pieces

    def send(self, words: list[bytes]) -> bool:
        """Send one piece; return True if another one follows."""
        number, self._n_sent = self._n_sent, self._n_sent + 1
        waited = b"%.2f" % ((time.monotonic() - self._asked_at) * 1000)
        if number == 0:
            data = _HEAD + event(waited)
        elif number < self._n_pieces:
            data = words[number % len(words)]
        else:
            data = event(b" " + waited) + _END
        try:
            self.connection.sendall(data)
        except OSError:
            return False
        return number < self._n_pieces


class StreamServer:
    """Sends what is due, then looks for requests, for ever."""

    def __init__(self, n_pieces: int, gap_s: float, first_s: float) -> None:
        self._n_pieces, self._gap_s, self._first_s = n_pieces, gap_s, first_s
        n_words = round(_WORDS_OF_A_REPLY / n_pieces)
        self._words = [event(b" word%d" % number * n_words) for number in range(64)]
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._due: list[tuple[float, int, Stream]] = []
        self._order = itertools.count()
        self._numbers = itertools.count()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def serve(self) -> None:
        while True:
            self._hear(self._send_due())

    def _send_due(self) -> float | None:
        """Send what is due; return the seconds until something is."""
        now = time.monotonic()
        while self._due and self._due[0][0] <= now:
            due_at, _, stream = heapq.heappop(self._due)
            if stream.send(self._words):
                self._plan(due_at + self._gap_s, stream)
        return max(0.0, self._due[0][0] - time.monotonic()) if self._due else None

    def _plan(self, due_at: float, stream: Stream) -> None:
        heapq.heappush(self._due, (due_at, next(self._order), stream))

    def _hear(self, longest_s: float | None) -> None:
        for key, _ in self._selector.select(longest_s):
            if key.data is None:
                connection, _ = self._listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._selector.register(connection, selectors.EVENT_READ, Stream(connection))
                continue
            heard = key.data.hear()
            if heard is None:
                self._selector.unregister(key.data.connection)
            elif heard:
                key.data.begin(length_of(next(self._numbers), self._n_pieces))
                self._plan(time.monotonic() + self._first_s, key.data)


def main() -> None:
    n_pieces, per_second, first_ms = map(float, sys.argv[1:])
    server = StreamServer(int(n_pieces), 1 / per_second, first_ms / 1000)
    print(server.port, flush=True)
    server.serve()


if __name__ == "__main__":
    main()
