from __future__ import annotations

import selectors
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from poor_bench.errors import PoorBenchError, ProviderError, RunCancelledError
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import Timeouts
from poor_bench.ports import CallControl
from poor_bench.providers.transport.watch import CallWatch, StreamThread, _WatchedStream
from tests.providers.fake_clock import FakeClock
from tests.waiting import wait_for

LIMITS = Timeouts(connect_s=1, first_token_s=3, total_s=10)


class FakeLine:
    def __init__(self) -> None:
        self.watch: CallWatch | None = None
        self.is_up = True

    def hang_up(self) -> None:
        self.is_up = False


def end_of(watch: CallWatch) -> PoorBenchError | None:
    try:
        watch.raise_if_over()
    except PoorBenchError as error:
        return error
    return None


@pytest.mark.parametrize(
    ("after_s", "talked", "message"),
    [
        (2.9, False, None),
        (3.0, False, "no first token within 3 s"),
        (9.9, True, None),
        (10.0, True, "no complete reply within 10 s"),
        (10.0, False, "no complete reply within 10 s"),
    ],
)
def test_deadlines_count_from_the_start(after_s: float, talked: bool, message: str | None) -> None:
    clock = FakeClock()
    watch = CallWatch(CallControl(timeouts=LIMITS), clock)
    if talked:
        watch.note_first_text()
    clock.seconds = after_s
    error = end_of(watch)
    assert (error and str(error)) == message
    assert error is None or (isinstance(error, ProviderError) and error.kind is FailureKind.TIMEOUT)


def test_a_cancelled_run_ends_the_call() -> None:
    watch = CallWatch(CallControl(timeouts=LIMITS, cancelled=lambda: True), FakeClock())
    assert isinstance(end_of(watch), RunCancelledError)


def test_times_are_measured_from_the_start() -> None:
    clock = FakeClock()
    watch = CallWatch(CallControl(timeouts=LIMITS), clock)
    assert watch.first_text_ms is None
    clock.seconds = 0.25
    watch.note_first_text()
    clock.seconds = 2.0
    watch.note_first_text()
    assert (watch.first_text_ms, watch.measure_ms()) == (250, 2000)


def test_the_connection_is_hung_up_when_the_call_is_over() -> None:
    clock, line = FakeClock(), FakeLine()
    watch = CallWatch(CallControl(timeouts=LIMITS), clock)
    watch.use(line)
    watch.hang_up_if_over()
    assert line.is_up
    clock.seconds = 11
    watch.hang_up_if_over()
    assert not line.is_up


def test_a_connection_that_serves_another_call_by_now_is_left_alone() -> None:
    clock, line = FakeClock(), FakeLine()
    first, second = (CallWatch(CallControl(timeouts=LIMITS), clock) for _ in range(2))
    first.use(line)
    second.use(line)
    clock.seconds = 11
    first.hang_up_if_over()
    assert line.is_up


@contextmanager
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@contextmanager
def stream_thread() -> Iterator[StreamThread]:
    thread = StreamThread()
    try:
        yield thread
    finally:
        close(thread)


def close(thread: StreamThread) -> None:
    thread.close()
    wait_for(lambda: not any(item.name == "poor-bench-streams" for item in _alive()))


def _alive() -> list[threading.Thread]:
    return threading.enumerate()


def test_what_arrives_is_passed_on_until_there_is_enough() -> None:
    with stream_thread() as streams, pair() as (ours, theirs):
        got: list[bytes] = []
        theirs.sendall(b"abc")

        def take(data: bytes) -> bool:
            got.append(data)
            if len(got) == 1:
                theirs.sendall(b"def")
            return len(got) == 2

        ours.settimeout(7)
        streams.read(ours, take)
        assert got == [b"abc", b"def"]
        assert ours.gettimeout() == 7


def test_the_end_of_a_connection_is_passed_on_as_nothing() -> None:
    with stream_thread() as streams, pair() as (ours, theirs):
        theirs.close()
        streams.read(ours, lambda data: data == b"")


def test_what_the_taker_raises_reaches_its_caller_only() -> None:
    with stream_thread() as streams, pair() as (first, to_first), pair() as (second, to_second):
        raised: list[str] = []

        def refuse(_data: bytes) -> bool:
            raise ValueError("not like this")

        def read_first() -> None:
            with pytest.raises(ValueError, match="not like this"):
                streams.read(first, refuse)
            raised.append("first")
            to_second.sendall(b"x")

        reader = threading.Thread(target=read_first)
        reader.start()
        to_first.sendall(b"x")
        streams.read(second, lambda data: data == b"x")
        reader.join()
        assert raised == ["first"]


def test_many_streams_at_once_share_one_thread() -> None:
    with stream_thread() as streams:
        pairs = [socket.socketpair() for _ in range(30)]
        seen: set[str] = set()

        def take(data: bytes) -> bool:
            seen.add(threading.current_thread().name)
            return data.endswith(b"!")

        readers = [threading.Thread(target=streams.read, args=(ours, take)) for ours, _ in pairs]
        for reader in readers:
            reader.start()
        for piece in (b"a", b"b", b"!"):
            for _, theirs in pairs:
                theirs.sendall(piece)
        for reader in readers:
            reader.join()
        for ours, theirs in pairs:
            ours.close()
            theirs.close()
        assert seen == {"poor-bench-streams"}


def test_a_thread_that_cannot_start_is_tried_again_by_the_next_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with stream_thread() as streams, pair() as (first, _), pair() as (second, to_second):
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refuse)
            with pytest.raises(RuntimeError, match="new thread"):
                streams.read(first, lambda _data: True)
        to_second.sendall(b"x")
        reader = threading.Thread(target=streams.read, args=(second, lambda _data: True))
        reader.daemon = True
        reader.start()
        wait_for(lambda: not reader.is_alive())


def test_a_socket_that_the_system_cannot_watch_ends_its_own_stream_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watch = selectors.DefaultSelector.register

    def refuse_data(
        selector: selectors.BaseSelector, sock: object, events: int, data: object = None
    ) -> object:
        if getattr(data, "sock", None) is first:
            raise OSError("no space for another watch")
        return watch(selector, sock, events, data)

    with stream_thread() as streams, pair() as (first, _), pair() as (second, to_second):
        monkeypatch.setattr(selectors.DefaultSelector, "register", refuse_data)
        raised: list[str] = []

        def read_first() -> None:
            with pytest.raises(OSError, match="no space"):
                streams.read(first, lambda _data: True)
            raised.append("first")

        readers = [
            threading.Thread(target=read_first, daemon=True),
            threading.Thread(target=streams.read, args=(second, bool), daemon=True),
        ]
        for reader in readers:
            reader.start()
        wait_for(lambda: bool(raised))
        to_second.sendall(b"x")
        wait_for(lambda: not readers[1].is_alive())


@pytest.mark.skipif(sys.platform == "win32", reason="a thread cannot be signalled there")
def test_ctrl_c_ends_the_stream_that_the_main_thread_waits_for() -> None:
    with stream_thread() as streams, pair() as (ours, theirs):
        ended: list[bytes] = []

        def take(data: bytes) -> bool:
            if data:
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            else:
                ended.append(data)
            return not data

        theirs.sendall(b"x")
        with pytest.raises(KeyboardInterrupt):
            streams.read(ours, take)
        assert ended == [b""]


class InterruptedBell(StreamThread):
    """Ctrl+C arrives while a stream is being added, right before or after the thread knows it."""

    def __init__(self, knows: threading.Event | None) -> None:
        super().__init__()
        self._knows = knows

    def _add(self, stream: _WatchedStream) -> None:
        if self._knows is not None:
            super()._add(stream)
            assert self._knows.wait(60)
        raise KeyboardInterrupt


def test_ctrl_c_while_a_stream_is_added_ends_it_before_its_socket_is_closed() -> None:
    with pair() as (ours, theirs):
        knows, ended = threading.Event(), list[bytes]()

        def take(data: bytes) -> bool:
            if not data:
                ended.append(data)
            knows.set()
            return not data

        theirs.sendall(b"x")
        streams = InterruptedBell(knows)
        with pytest.raises(KeyboardInterrupt):
            streams.read(ours, take)
        assert ended == [b""]
        close(streams)


def test_ctrl_c_before_a_stream_is_added_waits_for_no_one() -> None:
    with pair() as (ours, _), pytest.raises(KeyboardInterrupt):
        InterruptedBell(None).read(ours, bool)


def test_a_stream_that_nobody_has_taken_up_is_not_watched_after_ctrl_c(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(_thread: StreamThread) -> None:
        raise KeyboardInterrupt

    with stream_thread() as streams, pair() as (first, to_first), pair() as (second, to_second):
        taken: list[bytes] = []
        with monkeypatch.context() as patch:
            patch.setattr(StreamThread, "_ring", interrupt)
            with pytest.raises(KeyboardInterrupt):
                streams.read(first, lambda data: bool(taken.append(data)))
        to_first.close()
        to_second.sendall(b"x")
        streams.read(second, lambda data: data == b"x")
        assert taken == []
