from __future__ import annotations

import errno
import os
import sys

import pytest

from poor_bench.sandbox.linux.system_calls import PreparedCalls, SystemCall

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="system calls of Linux")
NEVER_OPEN = 1_000_000


def test_calls_are_made_in_order_and_as_often_as_asked() -> None:
    first, second = os.pipe()
    calls = PreparedCalls([SystemCall("close", (first,)), SystemCall("close", (second,))])
    calls.make()
    with pytest.raises(OSError, match="close") as failure:
        calls.make()
    assert failure.value.errno == errno.EBADF


def test_calls_after_a_failed_one_are_not_made() -> None:
    reading, writing = os.pipe()
    calls = [SystemCall("close", (NEVER_OPEN,)), SystemCall("close", (reading,))]
    with pytest.raises(OSError, match="close: "):
        PreparedCalls(calls).make()
    os.close(reading)
    os.close(writing)


def test_unknown_call_is_refused_when_it_is_prepared() -> None:
    with pytest.raises(OSError, match="make_coffee"):
        PreparedCalls([SystemCall("make_coffee", ())])


def test_calls_without_effect_leave_everything_as_it_is_until_they_have_one_again() -> None:
    reading, writing = os.pipe()
    calls = PreparedCalls([SystemCall("close", (reading,))])
    with calls.without_effect():
        calls.make()
        calls.make()
    os.fstat(reading)
    calls.make()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(reading)
    os.close(writing)
