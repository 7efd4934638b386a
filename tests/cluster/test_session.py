"""Addresses, definitions, messages: no cluster is started."""

from __future__ import annotations

import pickle
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from poor_bench import extras
from poor_bench.cli.main import main
from poor_bench.cluster import cluster
from poor_bench.cluster.cluster import open_client, split_address
from poor_bench.cluster.definitions import OpenedDefinitions, collect_definitions
from poor_bench.errors import ConfigError, MissingExtraError, ProviderError
from poor_bench.models.failure import FailureKind
from poor_bench.models.result import Result
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("written", "target"),
    [
        ("local:4", 4),
        ("tcp://10.0.0.5:8786", "tcp://10.0.0.5:8786"),
        (" tls://desk-1:8786", "tls://desk-1:8786"),
        ("10.0.0.5:8786", "tcp://10.0.0.5:8786"),
    ],
)
def test_addresses_are_read(written: str, target: int | str) -> None:
    assert split_address(written) == target


@pytest.mark.parametrize("written", ["", "local", "local:0", "local:-1", "desk", "desk:"])
def test_other_addresses_are_refused(written: str) -> None:
    with pytest.raises(ConfigError, match="is not a cluster"):
        split_address(written)


@pytest.mark.slow(reason="waits for real processes or limits")
def test_scheduler_that_does_not_answer_is_one_clear_message() -> None:
    pytest.importorskip("distributed")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ConfigError, match=f"{address} does not answer") as raised:
            open_client(address, connect_s=0.2)
    assert raised.value.exit_code == 2
    assert "dask scheduler" in raised.value.hint


def test_a_server_that_is_no_scheduler_is_named_as_such() -> None:
    pytest.importorskip("distributed")
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.recv(1)
            connection.close()

        threading.Thread(target=answer, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ConfigError, match="not a dask scheduler"):
            open_client(address, connect_s=5)


def test_missing_extra_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, workspace_files: WorkspaceFiles
) -> None:
    def fail(_name: str) -> None:
        raise ImportError

    monkeypatch.setattr(extras.importlib, "import_module", fail)
    with pytest.raises(MissingExtraError, match="--cluster needs the package distributed") as told:
        open_client("local:2")
    assert "pip install" in told.value.hint


class FakeDask:
    """Starts a cluster; a connection to it ends as told."""

    def __init__(self, error: BaseException) -> None:
        self.n_running = 0
        self.config = self
        self.settings_at_start: dict[str, object] = {}
        self._settings: dict[str, object] = {}
        self._error = error

    @contextmanager
    def set(self, settings: dict[str, object]) -> Iterator[None]:
        self._settings = settings
        try:
            yield
        finally:
            self._settings = {}

    @contextmanager
    def LocalCluster(self, **_options: object) -> Iterator[str]:  # noqa: N802 - the name of dask's
        self.n_running += 1
        self.settings_at_start = self._settings
        try:
            yield "started"
        finally:
            self.n_running -= 1

    def Client(self, *_arguments: object, **_options: object) -> None:  # noqa: N802
        raise self._error


@pytest.mark.parametrize("error", [OSError("refused"), KeyboardInterrupt()])
def test_a_cluster_of_ours_ends_where_it_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    dask = FakeDask(error)
    monkeypatch.setattr(cluster, "import_extra", lambda *_: dask)
    monkeypatch.setattr(cluster, "_connect", lambda make, _timeout_s: make())
    with pytest.raises((ConfigError, KeyboardInterrupt)):
        open_client("local:2")
    assert not dask.n_running
    assert dask.settings_at_start["distributed.worker.profile.enabled"] is False
    assert dask.config._settings == {}, "the settings are those of this cluster only"


@pytest.mark.slow(reason="starts Python")
def test_dask_is_not_imported_without_the_option() -> None:
    code = (
        "import sys\nfrom poor_bench.cli.main import main\n"
        "import poor_bench.workspace_runner, poor_bench.cli.doctor, poor_bench.cluster.cluster\n"
        "sys.exit('distributed' in sys.modules or 'dask' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_bad_address_ends_with_exit_code_2(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("quick", "4")
    folder = workspace_files.write()
    assert main(["--data", str(folder), "run", "--cluster", "nowhere"]) == 2
    assert "'nowhere' is not a cluster" in capsys.readouterr().err


def test_definitions_travel_with_evaluators_and_without_secrets(
    workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAVEL_KEY", "secret-value-123")
    workspace_files.add_tests(2)
    workspace_files.add_llm("quick", "4", api_key_env="TRAVEL_KEY")
    workspace = WorkspaceFolder(workspace_files.write()).workspace
    definitions = collect_definitions(workspace)
    payload = pickle.dumps(definitions)
    assert b"TRAVEL_KEY" in payload
    assert b"secret-value-123" not in payload
    opened = OpenedDefinitions(pickle.loads(payload))
    test = workspace.tests[0]
    answered = Result(llm_id="scripted:quick", test_id=test.test_id, response="4")
    assert opened.scorer.score(answered, test).score == 1.0
    assert collect_definitions(workspace).content_hash == definitions.content_hash


def test_errors_of_ours_survive_the_way_between_processes() -> None:
    error = ProviderError("busy", kind=FailureKind.RATE_LIMITED, retry_after_s=3.0, hint="wait")
    copied = pickle.loads(pickle.dumps(error))
    assert (str(copied), copied.kind, copied.retry_after_s, copied.hint, copied.attempts) == (
        "busy",
        FailureKind.RATE_LIMITED,
        3.0,
        "wait",
        1,
    )
