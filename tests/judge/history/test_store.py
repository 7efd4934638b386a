from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest

from poor_bench.errors import ConfigError
from poor_bench.judge.report_text import run_cost_text
from poor_bench.judge.storage import JudgementStore
from poor_bench.models.failure import Failure, FailureKind
from tests.judge.run_builders import conversation_of, fallback, header_of, judgement_of, run_of


@pytest.fixture
def store(tmp_path: Path) -> JudgementStore:
    return JudgementStore(tmp_path)


def write(store: JudgementStore, run_id: str = "20261122T010000-aa", **fields: str) -> None:
    with store.writing(header_of(run_id, **fields)) as writer:
        writer.add_conversation(conversation_of("hello", "Hi", "Hello"))
        writer.add_judgement(judgement_of(7, cases={"hello": 6}))
        writer.end("2026-11-22T01:01:00Z")


def test_run_is_read_as_it_was_written(store: JudgementStore) -> None:
    write(store)
    assert store.runs() == [run_of(judgement_of(7, cases={"hello": 6}))]
    assert not store.is_under_way("20261122T010000-aa")


def test_each_thing_is_there_the_moment_it_exists(store: JudgementStore) -> None:
    with store.writing(header_of()) as writer:
        assert store.runs()[0].conversations == ()
        writer.add_conversation(conversation_of("hello", "Hi", "Hello"))
        assert len(store.runs()[0].conversations) == 1
        assert store.is_under_way("20261122T010000-aa")
    assert store.runs()[0].ended == ""


def test_torn_line_costs_nothing_but_itself(store: JudgementStore) -> None:
    write(store)
    path = store.history.path("20261122T010000-aa")
    path.write_bytes(path.read_bytes() + b'{"judgement": {"overall')
    assert len(store.runs()[0].judgements) == 1


def test_unreadable_line_is_left_out_and_told(
    store: JudgementStore, caplog: pytest.LogCaptureFixture
) -> None:
    write(store)
    path = store.history.path("20261122T010000-aa")
    path.write_bytes(path.read_bytes() + b'{"judgement": {"nonsense": 1}}\n')
    store.history.path("20261122T020000-bb").write_text('{"run": {"run_id": 1}}\n')
    with caplog.at_level(logging.WARNING):
        assert len(store.runs()[0].judgements) == 1
    assert "a line is skipped" in caplog.text
    assert "20261122T020000-bb.jsonl is skipped" in caplog.text


def test_lone_halves_of_characters_can_be_stored(store: JudgementStore) -> None:
    with store.writing(header_of()) as writer:
        writer.add_conversation(conversation_of("hello", "Hi", "\ud800"))
    assert store.runs()[0].conversations[0].turns[1].text == "\\ud800"


def test_runs_of_several_writers_do_not_mix(store: JudgementStore) -> None:
    ready = threading.Barrier(2)

    def run(run_id: str) -> None:
        with store.writing(header_of(run_id, agent_id=run_id)) as writer:
            ready.wait()
            for number in range(50):
                writer.add_conversation(conversation_of(f"{run_id}-{number}", "Hi"))

    threads = [threading.Thread(target=run, args=(name,)) for name in ("run-1", "run-2")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for run_id in ("run-1", "run-2"):
        [found] = store.runs(run_id)
        assert len(found.conversations) == 50
        assert {item.case_id.rpartition("-")[0] for item in found.conversations} == {run_id}


def test_run_is_found_by_last_agent_and_beginning(store: JudgementStore) -> None:
    write(store, "20261122T010000-aa")
    write(store, "20261122T020000-bb")
    write(store, "20261122T030000-cc", agent_id="support")
    found = [store.find(name).run_id[-2:] for name in ("last", "sales", "20261122T01")]
    assert found == ["cc", "bb", "aa"]


def test_newest_of_two_runs_of_one_second_is_told_by_its_start(store: JudgementStore) -> None:
    write(store, "20261122T010000-bb", started="2026-11-22T01:00:00.100Z")
    write(store, "20261122T010000-aa", started="2026-11-22T01:00:00.900Z")
    assert store.find("last").run_id == "20261122T010000-aa"


def test_unknown_run_is_an_error_that_names_the_newest(store: JudgementStore) -> None:
    with pytest.raises(ConfigError) as nothing:
        store.find("last")
    assert "judge run AGENT" in nothing.value.hint
    write(store)
    with pytest.raises(ConfigError, match="is not a judged run") as unknown:
        store.find("marketing")
    assert "20261122T010000-aa (sales)" in unknown.value.hint
    write(store, "20261122T010000-bb")
    with pytest.raises(ConfigError, match="several runs"):
        store.find("20261122")


def test_fingerprint_changes_with_every_line(store: JudgementStore) -> None:
    before = store.history.fingerprint()
    with store.writing(header_of()) as writer:
        opened = store.history.fingerprint()
        writer.add_judgement(judgement_of(7))
    assert len({before, opened, store.history.fingerprint()}) == 3


def test_run_is_complete_once_every_judge_has_spoken_of_every_case() -> None:
    failure = Failure(kind=FailureKind.TIMEOUT, message="late")
    assert run_of(judgement_of(7)).is_complete
    assert not run_of(fallback()).is_complete
    assert not run_of(judgement_of(7), judges=("a", "b")).is_complete
    assert not run_of(judgement_of(7), repeat=2).is_complete
    broken = (conversation_of("hello", "Hi", failure=failure),)
    assert not run_of(judgement_of(7), conversations=broken).is_complete
    assert not run_of(judgement_of(7), n_cases=2).is_complete


def test_cost_is_known_where_all_of_it_is() -> None:
    talk = conversation_of("hello", "Hi", cost_usd=0.25)
    assert run_of(judgement_of(7, cost_usd=0.5), conversations=(talk,)).cost_usd == 0.75
    assert run_of(judgement_of(7, cost_usd=0.5), conversations=(talk,)).is_cost_whole


def test_cost_of_llms_without_prices_is_left_out_and_told() -> None:
    local, priced = conversation_of("hello", "Hi"), judgement_of(7, cost_usd=0.5)
    run = run_of(priced, conversations=(local,))
    assert (run.cost_usd, run.is_cost_whole) == (0.5, False)
    assert run_cost_text(run) == "$0.50, without models that have no prices"
    free = run_of(judgement_of(7), conversations=(local,))
    assert (free.cost_usd, run_cost_text(free)) == (None, "")
