from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from typing import Any

import pytest

from poor_bench.errors import CostLimitError, ProviderError, RunCancelledError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.pool.control import RunControl
from poor_bench.pool.events import JobDone, LLMFinished, LLMUnavailable, ModelLoaded
from poor_bench.pool.pool import SPARE_SLOTS, Do, JobResult, Pool, ThreadExecutor
from poor_bench.pool.queues import MOST_LOST_IN_A_ROW, Work, group_by_endpoint
from poor_bench.ports import CallControl
from tests.providers.fake_clock import FakeClock
from tests.providers.idle_provider import IdleProvider


def local(name: str, llm_id: str = "", **fields: Any) -> LLM:
    return LLM(id=llm_id or f"mine:{name}", provider="mine", name=name, **fields)


def hosted(name: str) -> LLM:
    endpoint = "https://api.example.com/v1"
    return LLM(id=f"openai:{name}", provider="openai", name=name, endpoint=endpoint)


class LoggedProvider(IdleProvider):
    def __init__(self, llm: LLM, log: list[str]) -> None:
        self.llm = llm
        self.log = log

    def preload(self, _control: CallControl) -> float | None:
        self.log.append(f"load {self.llm.name}")
        return 7.0

    def unload(self) -> None:
        self.log.append(f"unload {self.llm.name}")


def manager_with(log: list[str]) -> LLMManager:
    own = {"mine": lambda llm: LoggedProvider(llm, log)}
    return LLMManager(clock=FakeClock(), own_providers=own)


def work(llm: LLM | None, items: Iterable[Any], **fields: Any) -> Work[Any]:
    items = list(items)
    return Work(llm=llm, items=items, n_items=len(items), **fields)


def events_of(
    works: Sequence[Work[Any]],
    do: Do[Any, Any] = JobResult,
    *,
    control: RunControl | None = None,
    log: list[str] | None = None,
    **options: Any,
) -> list[Any]:
    pool = Pool(manager_with([] if log is None else log), control or RunControl(), **options)
    with closing(pool.run(works, do)) as events:
        return list(events)


def values(events: Iterable[Any]) -> list[Any]:
    return [event.value for event in events if isinstance(event, JobDone)]


def lost(kind: FailureKind = FailureKind.SERVER_ERROR) -> JobResult[str]:
    return JobResult("lost", ProviderError("lost", kind=kind))


def test_every_job_is_done_once_with_more_jobs_than_slots() -> None:
    events = events_of([work(local("a"), range(200)), work(hosted("b"), range(200, 300))])
    assert sorted(values(events)) == list(range(300))


def test_models_of_one_endpoint_are_loaded_one_after_the_other_and_each_once() -> None:
    log: list[str] = []
    works = [work(local("a"), "12"), work(local("b"), "3"), work(local("a", "mine:a hot"), "4")]

    def do(item: str) -> JobResult[str]:
        log.append(f"job {item}")
        return JobResult(item)

    events = events_of(works, do, log=log)
    assert [event.llm_id for event in events if isinstance(event, LLMFinished)] == [
        "mine:a",
        "mine:a hot",
        "mine:b",
    ]
    assert [line for line in log if "a" in line] == ["load a", "load a", "unload a", "load b"][:4]
    assert log.index("unload a") > log.index("job 4")
    assert [event.load_ms for event in events if isinstance(event, ModelLoaded)] == [7.0] * 3


def test_later_work_frees_the_memory_of_earlier_models() -> None:
    log: list[str] = []
    pool = Pool(manager_with(log), RunControl())
    for name in "ab":
        list(pool.run([work(local(name), "1")], JobResult))
    assert log == ["load a", "unload a", "load b"]


def test_no_model_is_loaded_without_jobs() -> None:
    log: list[str] = []
    assert events_of([work(local("a"), []), work(local("b"), "1")], log=log)
    assert log == ["load b"]


def test_local_models_share_a_queue_and_hosted_ones_do_not() -> None:
    works = [work(llm, "") for llm in (hosted("x"), local("a"), hosted("y"), local("b"))]
    groups = group_by_endpoint(works, manager_with([]))
    names = [[each.llm.name for each in group if each.llm] for group in groups]
    assert names == [["x"], ["a", "b"], ["y"]]


@pytest.mark.parametrize(
    ("fields", "llm_limit", "at_once"),
    [({}, 3, 3 + SPARE_SLOTS), ({"concurrency": 3}, 1, 3)],
    ids=["endpoint", "exact"],
)
def test_as_many_jobs_at_once_as_there_are_slots(
    fields: dict[str, int], llm_limit: int, at_once: int
) -> None:
    everyone = threading.Barrier(at_once, timeout=20)
    lock, inside, most = threading.Lock(), 0, 0

    def do(item: int) -> JobResult[int]:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        everyone.wait()
        with lock:
            inside -= 1
        return JobResult(item)

    llm = local("a", concurrency=llm_limit)
    assert len(values(events_of([work(llm, range(4 * at_once), **fields)], do))) == 4 * at_once
    assert most == at_once


def test_a_job_that_waits_to_ask_again_holds_no_slot() -> None:
    manager = manager_with([])
    others_are_done = threading.Event()
    n_waiting = 0
    manager.n_waiting = lambda _llm: n_waiting  # type: ignore[method-assign]

    def do(item: int) -> JobResult[int]:
        nonlocal n_waiting
        if item == 0:
            n_waiting = 1
            assert others_are_done.wait(timeout=20)
            n_waiting = 0
        if item == 5:
            others_are_done.set()
        return JobResult(item)

    pool = Pool(manager, RunControl())
    done = values(pool.run([work(local("a"), range(6), concurrency=1)], do))
    assert done[-1] == 0
    assert len(done) == 6


def test_a_hopeless_model_is_given_up_after_some_jobs_and_the_rest_is_skipped() -> None:
    llm = local("a", concurrency=1)
    events = events_of([work(llm, range(50), concurrency=1)], lambda _item: lost())
    [told] = [event for event in events if isinstance(event, LLMUnavailable)]
    assert len(values(events)) == MOST_LOST_IN_A_ROW
    assert told.n_skipped == 50 - MOST_LOST_IN_A_ROW


def test_of_the_failures_of_a_dead_endpoint_the_first_counts() -> None:
    everyone = threading.Barrier(4, timeout=20)

    def do(_item: int) -> JobResult[str]:
        everyone.wait()
        return lost(FailureKind.AUTH)

    events = events_of([work(local("a"), range(4), concurrency=4)], do)
    [told] = [event for event in events if isinstance(event, LLMUnavailable)]
    assert (values(events), told.n_skipped) == (["lost"], 3)


def test_every_job_is_tried_where_nothing_is_given_up() -> None:
    do = lambda _item: lost(FailureKind.AUTH)  # noqa: E731
    assert len(values(events_of([work(local("a"), range(9))], do, gives_up=False))) == 9


def test_one_slot_less_is_used_after_each_job_that_the_budget_is_too_small_for() -> None:
    tried: list[int] = []

    def do(item: int) -> JobResult[int]:
        tried.append(item)
        if item >= 2:
            raise CostLimitError("too much")
        return JobResult(item)

    assert values(events_of([work(None, range(50), concurrency=2)], do)) == [0, 1]
    assert len(tried) == 4


def test_cancelling_starts_nothing_more_and_keeps_what_is_done() -> None:
    control = RunControl()

    def do(item: int) -> JobResult[int]:
        if item == 3:
            control.cancel()
            raise RunCancelledError("stopped")
        return JobResult(item)

    assert values(events_of([work(None, range(50))], do, control=control)) == [0, 1, 2]
    assert control.wait_until_idle(0)


def test_an_error_of_a_job_is_raised_once_all_others_have_ended() -> None:
    both = threading.Barrier(2, timeout=20)
    ended: list[int] = []

    def do(item: int) -> JobResult[int]:
        both.wait()
        if item == 0:
            raise ValueError("a bug")
        ended.append(item)
        return JobResult(item)

    with pytest.raises(ValueError, match="a bug"):
        events_of([work(None, range(2), concurrency=2)], do)
    assert ended == [1]


def test_leaving_early_cancels_the_jobs_under_way_and_waits_for_them() -> None:
    control, ended = RunControl(), threading.Event()

    def do(item: int) -> JobResult[int]:
        while item and not control.cancelled():
            threading.Event().wait(0.001)
        if item:
            ended.set()
        return JobResult(item)

    pool = Pool(manager_with([]), control)
    with closing(pool.run([work(None, range(2), concurrency=2)], do)) as events:
        next(events)
    assert ended.is_set()
    assert control.wait_until_idle(0)


def test_ctrl_c_between_counting_a_job_and_starting_it_ends_the_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ThreadExecutor, "submit", interrupt)
    control = RunControl()
    with pytest.raises(KeyboardInterrupt):
        events_of([work(None, range(3))], control=control)
    assert control.cancelled()


def test_threads_are_used_again() -> None:
    executor, done = ThreadExecutor(), threading.Event()
    idents: set[int] = set()

    def report(ident: int) -> None:
        idents.add(ident)
        done.set()

    for _ in range(20):
        done.clear()
        executor.submit(threading.get_ident, report)
        assert done.wait(timeout=20)
    executor.close()
    assert len(idents) == 1


def test_what_a_job_yields_is_told_piece_by_piece() -> None:
    heard: list[str] = []
    both_are_told = threading.Event()

    def do(item: str) -> Generator[JobResult[str], None, None]:
        yield JobResult(f"{item} 1")
        both_are_told.wait(10)  # ends only if the first piece is heard before
        yield JobResult(f"{item} 2")

    pool = Pool(manager_with([]), RunControl())
    with closing(pool.run([work(None, ["a"])], do)) as events:
        for event in events:
            if isinstance(event, JobDone):
                heard.append(event.value)
                both_are_told.set()
    assert heard == ["a 1", "a 2"]


def test_a_model_that_is_given_up_ends_a_job_that_yields() -> None:
    ended = []

    def do(_item: int) -> Generator[JobResult[str], None, None]:
        try:
            while True:
                yield lost()
        finally:
            ended.append(True)

    events = events_of([work(local("a"), range(1), concurrency=1)], do)
    assert ended == [True]
    [told] = [event for event in events if isinstance(event, LLMUnavailable)]
    assert told.failure.message == "lost"
    assert len(values(events)) == MOST_LOST_IN_A_ROW
