"""kill -9 at each point of a submission and of a collection: nothing is lost or paid twice."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.main import main
from poor_bench.runner.batches import observe
from poor_bench.workspace_folder import WorkspaceFolder
from tests import forked
from tests.conftest import WorkspaceFiles
from tests.providers.servers.batch_format import BatchServer
from tests.providers.servers.fake_server import Answer, Request, serving

pytestmark = pytest.mark.slow(reason="kills real runs")

N_TESTS = 6


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    monkeypatch.setattr(observe, "_LOOK_AGAIN_S", 0.0)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-test-0123456789abcdef")
    batches = BatchServer()
    with serving(batches) as http:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{http.url}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", http.url)
        yield batches


def build(files: WorkspaceFiles, provider: str) -> Path:
    files.add_tests(N_TESTS)
    prices = {"input": 1000, "output": 1000}
    files.llms.append({"provider": provider, "name": "m", "prices": prices})
    return files.write()


class Killer:
    """Kills the process that talks to the server when it sends a certain request."""

    def __init__(self, server: BatchServer) -> None:
        self._server = server
        self._process: ForkServerProcess | None = None

    def run(self, folder: Path, *arguments: str, at: str, before: bool) -> None:
        """Run a command and kill it before or after a request like `POST /v1/files` counts."""

        def kill(request: Request) -> None:
            if f"{request.method} {request.path}".endswith(at):
                assert self._process is not None
                self._process.kill()
                wait([self._process.sentinel])  # `join` may be called by one thread only

        def kill_before(request: Request) -> Answer | None:
            kill(request)
            assert self._process is not None
            is_dead = wait([self._process.sentinel], timeout=0)
            return Answer(status=500, body=b"{}") if is_dead else None

        if before:
            self._server.before = kill_before
        else:
            self._server.after = kill
        self._process = forked.start(main, ["--data", str(folder), *arguments])
        self._process.join()
        assert self._process.exitcode == -signal.SIGKILL
        self._server.before, self._server.after = lambda _request: None, lambda _request: None


def call(folder: Path, *arguments: str) -> int:
    return main(["--data", str(folder), *arguments])


def require_each_once(folder: Path, server: BatchServer) -> None:
    """Every test was sent once, and has one result that was paid once."""
    sent = Counter(str(each) for batch in server.batches for each in _list_prompts(batch.requests))
    assert len(sent) == N_TESTS
    assert set(sent.values()) == {1}
    results = list(WorkspaceFolder(folder).store.results())
    assert len(results) == N_TESTS
    assert all(result.score == 1.0 and result.via == "batch" for result in results)
    assert count_stored(folder) == N_TESTS
    assert not list((folder / "batches").glob("*.jsonl"))


def count_stored(folder: Path) -> int:
    """Count the results in all files of runs: a trial that was stored twice counts twice."""
    files = [
        path for name in ("journal", "runs", "sealed") for path in (folder / name).glob("*.jsonl")
    ]
    return sum(path.read_text().count('"test_id"') for path in files)


def _list_prompts(requests: list[dict[str, Any]]) -> list[str]:
    bodies = [each.get("body") or each["params"] for each in requests]
    return [body["messages"][-1]["content"] for body in bodies]


@pytest.mark.parametrize(
    ("provider", "at", "before"),
    [
        ("openai", "GET /v1/batches?limit=1", False),
        ("openai", "POST /v1/files", True),
        ("openai", "POST /v1/files", False),
        ("openai", "POST /v1/batches", True),
        ("openai", "POST /v1/batches", False),
        ("anthropic", "POST /v1/messages/batches", True),
        ("anthropic", "POST /v1/messages/batches", False),
    ],
)
def test_a_killed_submission_is_found_or_sent_again_but_never_both(
    workspace_files: WorkspaceFiles, server: BatchServer, provider: str, at: str, before: bool
) -> None:
    folder = build(workspace_files, provider)
    Killer(server).run(folder, "run", "--batch", "--unchecked", at=at, before=before)
    was_taken = len(server.batches)
    call(folder, "run", "--batch", "--unchecked")
    assert len(server.batches) == 1
    server.finish()
    assert call(folder, "run", "--unchecked") == 0
    assert len(server.batches) == 1
    assert was_taken == (at.endswith("batches") and not before)
    require_each_once(folder, server)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("before", [True, False])
def test_a_killed_download_is_done_again(
    workspace_files: WorkspaceFiles, server: BatchServer, provider: str, before: bool
) -> None:
    folder = build(workspace_files, provider)
    assert call(folder, "run", "--batch", "--unchecked") == 0
    server.finish()
    at = "/content" if provider == "openai" else "/results"
    Killer(server).run(folder, "run", "--unchecked", at=at, before=before)
    assert call(folder, "run", "--unchecked") == 0
    require_each_once(folder, server)


def test_what_was_stored_before_a_kill_is_not_stored_again(
    workspace_files: WorkspaceFiles, server: BatchServer
) -> None:
    workspace_files.classes[0]["evaluation_module"]["name"] = "deadly"
    folder = build(workspace_files, "openai")
    (folder / "evaluators" / "deadly.py").write_text(
        '"""Right, but the fourth answer kills the process, once."""\n\n'
        "import os\nimport signal\nfrom pathlib import Path\n\n_CALLS = []\n\n\n"
        "def evaluate(response, parameters):\n    _CALLS.append(1)\n"
        "    mark = Path(__file__).with_suffix('.killed')\n"
        "    if len(_CALLS) == 4 and not mark.exists():\n        mark.touch()\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return 1.0, 'fine'\n"
    )
    assert call(folder, "run", "--batch", "--unchecked") == 0
    server.finish()
    assert forked.run(main, ["--data", str(folder), "run", "--unchecked"]) == -signal.SIGKILL
    n_before = count_stored(folder)
    assert call(folder, "run", "--unchecked") == 0
    assert n_before < N_TESTS
    require_each_once(folder, server)
