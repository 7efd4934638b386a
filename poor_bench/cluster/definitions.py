"""Definitions of a workspace as they travel to workers: what is needed to ask and score."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from poor_bench.calls.caller import SystemClock
from poor_bench.config.load import Workspace
from poor_bench.errors import ConfigError
from poor_bench.judge.response_judging import ResponseJudging
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.plugins import find_project_evaluators, load_evaluators
from poor_bench.ports import Provider
from poor_bench.providers.catalog import ProviderServices
from poor_bench.providers.ollama import OllamaProvider
from poor_bench.providers.registry import create_provider
from poor_bench.runner.scorer import Scorer, WorkspaceFingerprints
from poor_bench.safe_files import require_within

_EVALUATORS = "evaluators"
_FILE_PARAMETERS = ("script",)
"""Parameters of LLMs that name a file of the workspace."""
_LARGEST_BYTES = 64 * 1024**2


@dataclass(frozen=True, slots=True)
class Definitions:
    """A workspace without its results; holds names of keys, never keys."""

    workspace: Workspace
    files: dict[str, bytes]
    """Evaluators of the workspace, and files that LLMs name, by their path within it."""

    @property
    def content_hash(self) -> str:
        """Hash of everything; workspaces that differ in nothing share it."""
        return blake2b(pickle.dumps(self), digest_size=12).hexdigest()


def collect_definitions(workspace: Workspace) -> Definitions:
    """Read what workers need.

    Raises:
        ConfigError: If a file cannot be read, or the files are too large to be sent.
    """
    folder = workspace.data_dir
    try:
        files = {name: path.read_bytes() for name, path in _list_files(workspace)}
    except OSError as error:
        raise ConfigError(f"cannot send the workspace to workers: {error}") from error
    if (n_bytes := sum(map(len, files.values()))) > _LARGEST_BYTES:
        raise ConfigError(
            f"cannot send the workspace to workers: its evaluators have {n_bytes >> 20} MB",
            hint=f"Keep files that evaluators do not need out of {folder / _EVALUATORS}.",
        )
    return Definitions(replace(workspace, data_dir=Path()), files)


def _list_files(workspace: Workspace) -> Iterator[tuple[str, Path]]:
    """Yield names within the workspace, and where the files are."""
    folder = workspace.data_dir
    for path in sorted((folder / _EVALUATORS).rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(folder).as_posix(), path
    for llm in workspace.llms:
        for name in _FILE_PARAMETERS:
            if (written := llm.parameters.get(name)) and llm.provider == "scripted":
                path = require_within(folder, str(written))
                yield path.relative_to(folder.resolve()).as_posix(), path


class OpenedDefinitions:
    """A workspace on a worker: its evaluators and its providers."""

    def __init__(self, definitions: Definitions) -> None:
        """Write the files into a temporary folder, which ends with the process."""
        folder = Path(tempfile.mkdtemp(prefix="poor-bench-worker-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        for name, content in definitions.files.items():
            path = require_within(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        self.workspace = replace(definitions.workspace, data_dir=folder)
        self._services = ProviderServices(clock=SystemClock(), workspace=folder, environ=os.environ)
        self._providers: list[tuple[LLM, Provider]] = []
        self._lock = threading.Lock()

    @property
    def llms(self) -> tuple[LLM, ...]:
        """The LLMs of the workspace."""
        return self.workspace.llms

    def provider(self, llm: LLM) -> Provider:
        """Open the provider of an LLM, once; it reads keys from this machine's environment.

        Raises:
            ConfigError: If the settings of the LLM cannot be used.
        """
        with self._lock:
            for known, provider in self._providers:
                if known == llm:
                    return provider
            self._providers.append((llm, create_provider(llm, self._services)))
            return self._providers[-1][1]

    def forget_models(self) -> None:
        """Let a new run ask which model files the servers have; connections stay."""
        with self._lock:
            for _, provider in self._providers:
                if isinstance(provider, OllamaProvider):
                    provider.forget_model()

    @cached_property
    def scorer(self) -> Scorer:
        """Scores responses; it asks no judge: those are asked by way of the run."""
        folder, workspace = self.workspace.data_dir, self.workspace
        evaluators = load_evaluators([folder / _EVALUATORS, find_project_evaluators()])
        judging = ResponseJudging(folder, workspace.llms, LLMManager(folder))
        fingerprints = WorkspaceFingerprints(workspace, evaluators, lambda: judging.judges)
        return Scorer(workspace, evaluators, fingerprints, judging)
