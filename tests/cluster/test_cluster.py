"""Runs on a real cluster of dask, in threads of this process or in processes that get killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from poor_bench.calls.budget import Budget
from poor_bench.cli.main import main
from poor_bench.cluster import trials, work
from poor_bench.cluster.cluster import Cluster, open_cluster
from poor_bench.cluster.session import WorkerLostError
from poor_bench.errors import ConfigError
from poor_bench.pool.control import RunControl
from poor_bench.pool.events import LLMUnavailable
from poor_bench.rescoring import Rescoring
from poor_bench.runner.events import RunFinished, TrialFinished
from poor_bench.runner.selection import Selection
from poor_bench.sandbox import Level
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner
from tests.cluster.conftest import start_cluster
from tests.conftest import WorkspaceFiles
from tests.providers.servers.fake_server import FakeServer, json_answer, serving
from tests.providers.servers.ollama_format import DIGEST, TAGS, ollama, reply
from tests.runner.running import RecordingListener, run_all
from tests.waiting import wait_for

pytestmark = pytest.mark.slow(reason="starts a cluster")

ROOT = Path(__file__).parents[2]


@contextmanager
def on_cluster(
    cluster: Any, folder: Path, told: list[str] | None = None, lowest: Level = Level.ISOLATED
) -> Iterator[tuple[WorkspaceRunner, Cluster]]:
    config = WorkspaceFolder(folder)
    sentences = [] if told is None else told
    opened = open_cluster(
        cluster.scheduler_address, config.workspace, lowest, tell=sentences.append, patience_s=3.0
    )
    with opened as machines, closing(WorkspaceRunner(config, cluster=machines)) as runner:
        yield runner, machines


def run(
    runner: WorkspaceRunner, listener: Any = lambda _event: None, control: RunControl | None = None
) -> RunFinished:
    return runner.run(runner.plan(Selection()), listener, control)


def stored(folder: Path) -> dict[tuple[str, str, int], tuple[float | None, str]]:
    results = WorkspaceFolder(folder).load_results()
    return {result.key: (result.score, result.request_fingerprint) for result in results}


def test_run_on_a_cluster_stores_what_a_local_run_stores(
    cluster: Any, workspace_files: WorkspaceFiles, tmp_path: Path
) -> None:
    workspace_files.add_tests(12)
    workspace_files.add_llm("quick", ["4", "5"], concurrency=4)
    folder = workspace_files.write()
    with on_cluster(cluster, folder) as (runner, _):
        finished = run(runner)
    assert (finished.n_scored, finished.n_failed, finished.n_skipped) == (12, 0, 0)
    [journal] = (folder / "runs").glob("*.jsonl")
    header = json.loads(journal.read_text().splitlines()[0])["run"]
    [(machine, facts)] = header["machines"].items()
    assert facts["cpu"] == header["machine"]["cpu"]
    assert {result.machine for result in WorkspaceFolder(folder).load_results()} == {machine}
    assert run_all(folder).n_scored == 0, "a local run finds nothing pending"


def test_trials_travel_in_chunks(
    cluster: Any, workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace_files.add_tests(200)
    workspace_files.add_llm("quick", "4")
    folder = workspace_files.write()
    sent: list[int] = []
    singly: list[str] = []
    with on_cluster(cluster, folder) as (runner, machines):
        send, call = machines.session.send_chunk, machines.session.call

        def count(member: Any, llm: Any, trials: Any, *rest: Any) -> Any:
            sent.append(len(trials))
            return send(member, llm, trials, *rest)

        def name(do: Any, *rest: Any, **options: Any) -> Any:
            singly.append(do.__name__)
            return call(do, *rest, **options)

        monkeypatch.setattr(machines.session, "send_chunk", count)
        monkeypatch.setattr(machines.session, "call", name)
        assert run(runner).n_scored == 200
    assert sum(sent) == 200
    assert len(sent) < 100
    assert singly == ["preload"]


def test_an_answer_is_stored_while_the_next_one_of_its_chunk_is_awaited(
    cluster: Any, workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials.ChunkSizes, "choose", lambda *_: 64)
    workspace_files.add_tests(20)
    workspace_files.add_llm("stuck", "4")
    stuck = {"text": "4", "latency_ms": 600_000}
    workspace_files.llms[-1]["parameters"] = {"responses": {"": [{"text": "4", "times": 7}, stuck]}}
    folder = workspace_files.write()
    control, n_heard = RunControl(), 0

    def hear(event: object) -> None:
        nonlocal n_heard
        n_heard += isinstance(event, TrialFinished)
        if n_heard == 7:
            control.cancel()

    with on_cluster(cluster, folder) as (runner, _):
        finished = run(runner, hear, control)
    assert (finished.cancelled, finished.n_scored, finished.n_skipped) == (True, 7, 13)
    assert len(stored(folder)) == 7


def test_a_failure_within_a_chunk_is_retried_and_the_rest_is_sent_again(
    cluster: Any, workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials.ChunkSizes, "choose", lambda *_: 64)
    workspace_files.add_tests(30)
    workspace_files.add_llm("shaky", "4")
    replies = [{"text": "4", "times": 9}, {"failure": "rate_limited", "retry_after_s": 0.0}]
    replies += [{"text": "4", "times": 9}, {"failure": "bad_request", "message": "no"}, "4"]
    workspace_files.llms[-1]["parameters"] = {"responses": {"": replies}}
    workspace_files.llms[-1]["endpoint"] = "worker-local"
    folder = workspace_files.write()
    with on_cluster(cluster, folder) as (runner, machines):
        [member, *_] = machines.session.table.members
        machines.session.table.keep_only([member.address])  # its script is played in order
        finished = run(runner)
    assert (finished.n_scored, finished.n_failed, finished.n_skipped) == (29, 1, 0)
    [failed] = [r for r in WorkspaceFolder(folder).load_results() if r.failure]
    assert failed.failure is not None
    assert failed.failure.kind.value == "bad_request"


def test_failures_and_limits_are_those_of_a_local_run(
    cluster: Any, workspace_files: WorkspaceFiles
) -> None:
    workspace_files.add_tests(3)
    workspace_files.add_llm("gone", "4", endpoint="worker-local")
    workspace_files.llms[-1]["parameters"] = {
        "responses": {"": [{"failure": "bad_request", "message": "no"}]}
    }
    folder = workspace_files.write()
    with on_cluster(cluster, folder) as (runner, _):
        finished = run(runner)
    assert finished.n_failed == 3
    failures = {r.failure for r in WorkspaceFolder(folder).load_results()}
    assert {failure.kind.value for failure in failures if failure} == {"bad_request"}


def test_budget_and_cancel_hold_on_a_cluster(cluster: Any, workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(9)
    workspace_files.add_llm("dear", "4", prices={"input": 1e6, "output": 1e6})
    folder = workspace_files.write()
    with on_cluster(cluster, folder) as (runner, _):
        runner.manager.budget = Budget(1.0)
        finished = run(runner)
        assert runner.manager.budget.is_reached
    assert finished.n_skipped == 9
    control = RunControl()
    workspace_files.llms[0]["parameters"] = {"default": {"text": "4", "latency_ms": 600_000}}
    workspace_files.write()
    with on_cluster(cluster, folder) as (runner, _), ThreadPoolExecutor() as threads:
        ended = threads.submit(run, runner, lambda _event: None, control)
        scheduler = cluster.scheduler
        wait_for(lambda: any(key.startswith("ask-") for key in scheduler.tasks))
        control.cancel()
        assert ended.result().cancelled
        wait_for(lambda: not any(worker.state.tasks for worker in cluster.workers.values()))


def test_missing_key_names_variable_and_worker(
    cluster: Any, workspace_files: WorkspaceFiles
) -> None:
    workspace_files.add_tests(2)
    workspace_files.llms.append(
        {
            "provider": "mine",
            "name": "m",
            "endpoint": "http://10.255.0.1/v1",
            "api_key_env": "CLUSTER_TEST_KEY",
        }
    )
    folder = workspace_files.write()
    listener = RecordingListener()
    with on_cluster(cluster, folder) as (runner, _):
        run(runner, listener)
    [event] = listener.of_kind(LLMUnavailable)
    assert event.failure.kind.value == "auth"
    assert "CLUSTER_TEST_KEY" in event.failure.message
    assert "127.0.0.1" in event.failure.message


def test_a_cluster_without_workers_is_told_before_it_is_waited_for(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(1)
    workspace = WorkspaceFolder(workspace_files.write()).workspace
    told: list[str] = []
    with start_cluster(0) as empty:
        opened = open_cluster(
            empty.scheduler_address, workspace, Level.NONE, tell=told.append, patience_s=0.0
        )
        with pytest.raises(ConfigError, match="has no workers"), opened:
            pass
    assert told == ["The cluster has no workers yet; waiting up to 0 s for one."]


def test_workers_of_another_version_are_refused_by_name(
    cluster: Any, workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("quick", "4")
    folder = workspace_files.write()
    own = work.identify()
    identities = iter([own] + [own._replace(poor_bench="0.0.1")] * 99)
    monkeypatch.setattr(work, "identify", lambda: next(identities))
    with (
        pytest.raises(ConfigError, match=r"none can work: .*poor_bench"),
        on_cluster(cluster, folder),
    ):
        pass


asked, may_answer = threading.Event(), threading.Event()


def keep_waiting() -> None:
    asked.set()
    may_answer.wait()


def test_a_worker_that_ends_while_it_is_examined_is_not_waited_for(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(1)
    with (
        start_cluster(1) as alone,
        on_cluster(alone, workspace_files.write()) as (_, machines),
        ThreadPoolExecutor(1) as threads,
    ):
        [member] = machines.session.table.members
        examined = threads.submit(machines.session.run, member, keep_waiting)
        asked.wait()
        alone.sync(alone.workers[0].close, executor_wait=False)
        with pytest.raises(WorkerLostError, match="ended"):
            examined.result()
        may_answer.set()


def test_rescore_on_a_cluster_gives_the_scores_of_a_local_one(
    cluster: Any, workspace_files: WorkspaceFiles
) -> None:
    workspace_files.add_tests(150)
    workspace_files.add_llm("quick", ["4", "5", "6"])
    folder = workspace_files.write()
    run_all(folder)
    before = stored(folder)
    evaluator = next((folder / "evaluators").glob("*.py"))
    evaluator.write_text(
        '"""Half."""\n\n\ndef evaluate(response, parameters):\n    return 0.5, response\n'
    )
    with on_cluster(cluster, folder) as (runner, _):
        items = Rescoring(runner).rescore(Rescoring(runner).plan(Selection()))
        with closing(items), closing(Rescoring(runner).store_each(items)) as scored:
            assert len(list(scored)) == 150
    after = stored(folder)
    assert after.keys() == before.keys()
    assert {score for score, _ in after.values()} == {0.5}
    assert run_all(folder).n_rescored == 0, "the fingerprints are those of this machine"


def test_without_a_scheduler_a_run_and_a_rescoring_end_by_themselves(
    cluster: Any, workspace_files: WorkspaceFiles
) -> None:
    workspace_files.add_tests(40)
    workspace_files.add_llm("quick", "4")
    folder = workspace_files.write()

    def end_client(machines: Cluster) -> None:
        machines.session._client.close()  # as dask does once its scheduler is gone

    with on_cluster(cluster, folder) as (runner, machines):
        end_client(machines)
        listener = RecordingListener()
        finished = run(runner, listener)
    assert (finished.n_scored, finished.n_failed + finished.n_skipped) == (0, 40)
    [event] = listener.of_kind(LLMUnavailable)
    assert event.failure.message == "the scheduler of the cluster ended"
    run_all(folder)
    before = stored(folder)
    evaluator = next((folder / "evaluators").glob("*.py"))
    evaluator.write_text(
        '"""Half."""\n\n\ndef evaluate(response, parameters):\n    return 0.5, response\n'
    )
    with on_cluster(cluster, folder) as (runner, machines):
        end_client(machines)
        items = Rescoring(runner).rescore(Rescoring(runner).plan(Selection()))
        with closing(items):
            assert {item.problem for item in items} == {
                "the response could not be scored: the scheduler of the cluster ended"
            }
    assert stored(folder) == before


@pytest.fixture
def desks() -> Iterator[tuple[Any, list[FakeServer]]]:
    """Two workers in processes of their own, each with a server of Ollama's kind."""
    distributed = pytest.importorskip("distributed")
    with serving(ollama(reply("4"))) as one, serving(ollama(reply("4"))) as other:
        options = {"nthreads": 1, "dashboard": False, "memory_limit": None, "silence_logs": 50}
        workers = {
            name: {
                "cls": distributed.Nanny,
                "options": options | {"env": {"OLLAMA_HOST": server.host}},
            }
            for name, server in (("one", one), ("other", other))
        }
        scheduler = {
            "cls": distributed.Scheduler,
            "options": {"dashboard_address": ":0", "host": "127.0.0.1"},
        }
        with distributed.SpecCluster(
            workers=workers, scheduler=scheduler, silence_logs=50
        ) as cluster:
            yield cluster, [one, other]


LOCAL_MODEL = {"provider": "ollama", "name": "qwen3:1.7b", "endpoint": "worker-local"}
"""Of llms.json: each desk asks its own server."""


def test_each_run_asks_anew_what_the_server_of_each_desk_has(
    desks: tuple[Any, list[FakeServer]], workspace_files: WorkspaceFiles
) -> None:
    cluster, servers = desks
    workspace_files.add_tests(10)
    workspace_files.llms.append(dict(LOCAL_MODEL))
    config = WorkspaceFolder(workspace_files.write())

    def digests_of_a_run() -> set[str | None]:
        opened = open_cluster(
            cluster.scheduler_address, config.workspace, Level.ISOLATED, tell=print, patience_s=3.0
        )
        with opened as machines, closing(WorkspaceRunner(config, cluster=machines)) as runner:
            runner.run(runner.plan(Selection(force=True)), lambda _event: None)
        return {result.model_digest for result in config.load_results()}

    assert digests_of_a_run() == {DIGEST}
    [model] = TAGS["models"]
    servers[0].respond = ollama(reply("4"), tags={"models": [{**model, "digest": "pulled"}]})
    assert digests_of_a_run() == {DIGEST, "pulled"}


def test_servers_of_several_versions_stand_in_the_run_with_their_machines(
    desks: tuple[Any, list[FakeServer]], workspace_files: WorkspaceFiles
) -> None:
    cluster, servers = desks
    workspace_files.add_tests(1)
    workspace_files.llms.append(dict(LOCAL_MODEL))

    def describe() -> str:
        with on_cluster(cluster, workspace_files.write()) as (runner, _):
            return runner.manager.find_servers(runner.workspace.llms)["ollama:qwen3:1.7b"]

    assert describe() == "Ollama 0.34.0"
    answer = servers[0].respond
    servers[0].respond = lambda request: (
        json_answer({"version": "0.35.0"}) if request.path == "/api/version" else answer(request)
    )
    host = socket.gethostname()
    assert describe() == f"Ollama 0.34.0 ({host}), Ollama 0.35.0 ({host})"


def test_each_desk_asks_its_own_server_and_a_desk_without_the_model_is_excluded(
    desks: tuple[Any, list[FakeServer]],
    workspace_files: WorkspaceFiles,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cluster, servers = desks
    workspace_files.add_tests(10)
    workspace_files.llms.append(
        {"provider": "ollama", "name": "gemma3:1b", "endpoint": "worker-local"}
    )
    folder = workspace_files.write()
    with on_cluster(cluster, folder) as (runner, _):
        assert runner.manager.concurrency(runner.workspace.llms[0]) == 2
        assert run(runner).n_scored == 10
    n_asked = [len(server.asked("/api/chat")) for server in servers]
    assert sum(n_asked) >= 10
    assert min(n_asked) > 0, "both servers share the work"
    servers[0].respond = lambda _request: json_answer({"error": "model not found"}, 404)
    told: list[str] = []
    workspace_files.add_tests(10)
    workspace_files.write()
    with on_cluster(cluster, folder, told) as (runner, _):
        assert run(runner).n_scored == 10
    assert any("is not asked for ollama:gemma3:1b" in sentence for sentence in told)
    command = ["--data", str(folder), "doctor", "--cluster", cluster.scheduler_address]
    assert main(command) == 2
    shown = capsys.readouterr().out
    assert "ollama:gemma3:1b: " in shown
    assert "sandbox level" in shown


def test_killed_worker_costs_a_retry_and_nothing_else(workspace_files: WorkspaceFiles) -> None:
    distributed = pytest.importorskip("distributed")
    workspace_files.add_tests(40)
    workspace_files.add_llm("slow", "4", concurrency=4)
    workspace_files.llms[-1]["parameters"]["latency_ms"] = 100
    folder = workspace_files.write()
    told: list[str] = []
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            memory_limit=None,
            silence_logs=50,
        ) as processes,
        on_cluster(processes, folder, told) as (runner, machines),
    ):
        victims = iter(machines.session.table.members[:1])

        def kill_one(event: object) -> None:
            if isinstance(event, TrialFinished) and (victim := next(victims, None)):
                nannies = {nanny.worker_address: nanny for nanny in processes.workers.values()}
                os.kill(nannies[victim.address].pid, signal.SIGKILL)

        finished = run(runner, kill_one)
    assert (finished.n_scored, finished.n_failed) == (40, 0)
    assert any("is gone" in sentence for sentence in told)


def test_killed_client_loses_only_what_is_in_flight(
    cluster: Any, workspace_files: WorkspaceFiles
) -> None:
    workspace_files.add_tests(30)
    workspace_files.add_llm("stuck", "4")
    workspace_files.llms[-1]["parameters"] = {
        "responses": {"": [{"text": "4", "times": 5}, {"text": "4", "latency_ms": 600_000}]}
    }
    folder = workspace_files.write()
    command = [sys.executable, "main.py", "--data", str(folder), "run", "--unchecked"]
    command += ["--cluster", cluster.scheduler_address]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        wait_for(
            lambda: (
                b"".join(map(Path.read_bytes, folder.glob("journal/*.jsonl"))).count(b"test_id")
                >= 5
            )
        )
        run.kill()
    assert len(stored(folder)) >= 5
    scheduler = cluster.scheduler
    wait_for(lambda: not scheduler.tasks, lambda: f"still there: {list(scheduler.tasks)}")
