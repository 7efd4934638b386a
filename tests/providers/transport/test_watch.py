from __future__ import annotations

import pytest

from poor_bench.errors import PoorBenchError, ProviderError, RunCancelledError
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import Timeouts
from poor_bench.ports import CallControl
from poor_bench.providers.transport.watch import CallWatch
from tests.providers.fake_clock import FakeClock

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
