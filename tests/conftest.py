"""What all tests share: a guard against the network, a tiny workspace, a clock without waiting."""

from __future__ import annotations

import gc
import ipaddress
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from poor_bench.command_line import use_workspace

settings.register_profile(
    "poor_bench",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", settings.get_profile("poor_bench"), max_examples=1000)
settings.register_profile("quick", settings.get_profile("poor_bench"), max_examples=10)
settings.load_profile("poor_bench")
_HAS_LOST_WORKERS = pytest.StashKey[bool]()
_WORKERS_THAT_WAIT = 1
_SLOW_KINDS = {"browser": "drives a real Chromium", "embedded": "runs the real embedded model"}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Start no workers for a single file or test, for a workspace, or for output seen at once.

    Slow tests wait for browsers and servers: one worker more than cores makes use of it, while two
    more only crowd two cores, as each collects all tests anew. The others compute.
    """
    is_single = len(config.args) == 1 and ("::" in config.args[0] or config.args[0].endswith(".py"))
    is_quiet = config.option.capture != "no" and not config.getoption("--poor-bench", None)
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if is_single or not is_quiet:
        return 0
    return (n_cores or 1) + (0 if config.option.markexpr == "not slow" else _WORKERS_THAT_WAIT)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Keep compiled modules beside their sources, also where the environment says to keep none.

    Workers and the programs that tests start inherit it; compilation is a fifth of their CPU. A
    folder of their own would leave what pip has compiled unused.
    """
    if session.config.pluginmanager.hasplugin("cacheprovider"):
        sys.dont_write_bytecode = False
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Remember a worker that died; xdist itself forgets one that had no test left to run."""
    node.config.stash[_HAS_LOST_WORKERS] = bool(error) or node.config.stash[_HAS_LOST_WORKERS]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let a workspace that is asked from this folder take its time; no worker is lost yet.

    The loop of a developer tries fewer examples of each property.
    """
    config.stash[_HAS_LOST_WORKERS] = False
    if config.option.markexpr == "not slow":
        settings.load_profile("quick")
    if config.getoption("--poor-bench", None) and config.getoption("timeout", None) is None:
        config.option.timeout = 0.0


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that lost a worker, even where every test has passed."""
    if session.config.stash[_HAS_LOST_WORKERS] and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Look for no garbage while tests are collected; see `pytest_collection_finish`."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Keep modules and collected tests out of every later search for garbage.

    They live until the end, and searching their million objects again and again took half of the
    CPU of collection and a tenth of that of the tests.
    """
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave browsers and models out of `-m "not slow"`; every other mark says why it stands."""
    _mark_slow(items)
    workers = getattr(config, "workerinput", {"workercount": 1})
    if config.option.markexpr != "not slow" and workers["workercount"] > 1:
        items[:] = share_out(items, workers["workercount"])


def share_out(items: list[pytest.Item], n_workers: int) -> list[pytest.Item]:
    """Order tests so that each worker begins with as many files of slow ones as the others.

    xdist gives each worker an equal part of the list, and what is left at the end to those that
    are ready first: short tests come out even, while a slow one keeps a single worker busy.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    is_slow = {path: any(map(_is_slow, group)) for path, group in files.items()}
    slow = [group for path, group in files.items() if is_slow[path]]
    quick = [item for path, group in files.items() if not is_slow[path] for item in group]
    shared: list[pytest.Item] = []
    for worker in range(n_workers):
        part = [item for group in slow[worker::n_workers] for item in group]
        n_quick = (len(items) - len(shared)) // (n_workers - worker) - len(part)
        shared += part + quick[: max(0, n_quick)]
        del quick[: max(0, n_quick)]
    return shared


def _is_slow(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is not None


def _mark_slow(items: list[pytest.Item]) -> None:
    for item in items:
        for kind in _SLOW_KINDS.keys() & {mark.name for mark in item.iter_markers()}:
            item.add_marker(pytest.mark.slow(reason=_SLOW_KINDS[kind]))
        for mark in item.iter_markers("slow"):
            assert mark.kwargs.get("reason"), f"{item.nodeid}: slow(reason=...) lacks its reason"


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A job in the background of a shell ignores Ctrl-C, and so would the programs started here.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail any attempt to reach another machine."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> Any:
        if self.family in {socket.AF_INET, socket.AF_INET6}:
            assert ipaddress.ip_address(address[0]).is_loopback, f"test reaches out to {address}"
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave it to the system when files reach the disk, but refuse wrong descriptors as ever.

    Only a cut of power loses what the system holds; a process that is killed loses nothing.
    """
    monkeypatch.setattr(os, "fsync", os.fstat)


@pytest.fixture(scope="session", autouse=True)
def one_thread_for_models() -> Iterator[None]:
    """Let embedded models compute with one thread: several wait for each other by spinning.

    Where other workers hold a core, a token then takes up to five times the CPU.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("poor_bench.providers.embedded_engine.count_compute_threads", lambda: 1)
        yield


@pytest.fixture(autouse=True)
def no_workspace_in_hints() -> None:
    """Forget the workspace that an earlier test gave to this process."""
    use_workspace(None)


class WorkspaceFiles:
    """Writes the files of a small workspace and lets tests change them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.classes: list[dict[str, Any]] = [
            {
                "id": "sums",
                "work_prompt_template": {"default": "Solve: {problem}"},
                "evaluation_module": {"name": "has_expected", "parameters": {}},
            }
        ]
        self.tests: list[dict[str, Any]] = []
        self.llms: list[dict[str, Any]] = []

    def add_tests(self, count: int, **fields: Any) -> None:
        for number in range(len(self.tests) + 1, len(self.tests) + count + 1):
            test = {"test_id": f"sum_{number:03}", "class_id": "sums", "level": 1 + number % 5}
            self.tests.append(test | {"text": f"{number} + {number}"} | fields)

    def add_llm(self, name: str, responses: Any, **fields: Any) -> None:
        parameters = {"responses": responses} | fields.pop("parameters", {})
        self.llms.append({"provider": "scripted", "name": name, "parameters": parameters} | fields)

    def write(self) -> Path:
        (self.folder / "evaluators").mkdir(parents=True, exist_ok=True)
        evaluator = (
            '"""Full marks for the expected text."""\n\n\ndef evaluate(response, parameters):\n'
        )
        evaluator += "    if 'boom' in response:\n        raise RuntimeError('evaluator broke')\n"
        evaluator += "    expected = parameters.get('expected', '4')\n"
        evaluator += "    return float(expected in response), f'looked for {expected}'\n"
        (self.folder / "evaluators" / "has_expected.py").write_text(evaluator)
        classes = {"version": "1.0", "test_classes": self.classes}
        (self.folder / "test_classes.yaml").write_text(json.dumps(classes))
        tests = {"version": "1.0", "tests": self.tests}
        (self.folder / "tests.json").write_text(json.dumps(tests))
        (self.folder / "llms.json").write_text(json.dumps({"llms": self.llms}))
        return self.folder


@pytest.fixture
def workspace_files(tmp_path: Path) -> WorkspaceFiles:
    """An empty workspace: one class `sums`, one evaluator `has_expected`."""
    return WorkspaceFiles(tmp_path / "bench")
