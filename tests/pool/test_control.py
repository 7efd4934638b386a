from __future__ import annotations

import threading

from poor_bench.pool.control import RunControl


def test_idle_is_told_at_once_when_no_job_is_under_way() -> None:
    assert RunControl().wait_until_idle(0)


def test_job_under_way_is_waited_for_no_longer_than_allowed() -> None:
    control = RunControl()
    control.begin_job()
    assert not control.wait_until_idle(0)
    control.end_job()
    assert control.wait_until_idle(0)


def test_waiting_ends_when_the_last_job_does() -> None:
    control = RunControl()
    started, may_end = threading.Event(), threading.Event()

    def work() -> None:
        control.begin_job()
        started.set()
        may_end.wait()
        control.end_job()

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    may_end.set()
    assert control.wait_until_idle(60)
    thread.join()
