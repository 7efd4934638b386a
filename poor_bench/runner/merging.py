"""Which results of other machines belong to a workspace."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from poor_bench.models.llm import LLM, resolve_llm_id
from poor_bench.models.result import Result
from poor_bench.results.incoming import RunFile
from poor_bench.results.paths import StorePaths
from poor_bench.results.snapshot import read_snapshot
from poor_bench.runner.stale import StaleCheck
from poor_bench.safe_files import open_regular, tell_os_errors
from poor_bench.statistics.summary import StaleReason

if TYPE_CHECKING:
    from poor_bench.workspace_folder import WorkspaceFolder

_DIGEST = b'"model_digest":'
_Told = tuple[str, str]
"""When a digest was told, and the digest."""


class MergeFault(StrEnum):
    """Why a result is left, as screens say it."""

    PROMPT = "other prompt"
    PARAMETERS = "other model or parameters"
    EVALUATOR = "other evaluator"
    MODEL = "other model digest"
    UNKNOWN_TEST = "unknown test"
    UNKNOWN_MODEL = "unknown model"


ALLOWED = {
    "prompt": frozenset({MergeFault.PROMPT}),
    "parameters": frozenset({MergeFault.PARAMETERS}),
    "evaluator": frozenset({MergeFault.EVALUATOR}),
    "model": frozenset({MergeFault.MODEL}),
    "unknown": frozenset({MergeFault.UNKNOWN_TEST, MergeFault.UNKNOWN_MODEL}),
    "all": frozenset(MergeFault),
}
"""Words of `--allow`: faults that results may have."""
_FAULTS = {
    StaleReason.PROMPT: MergeFault.PROMPT,
    StaleReason.MODEL: MergeFault.PARAMETERS,
    StaleReason.REQUEST: MergeFault.PROMPT,
    StaleReason.EVALUATOR: MergeFault.EVALUATOR,
}


class ForeignResults:
    """Checks results of other machines against a workspace.

    A digest is held against the one that the workspace's newest result of the model tells. Where
    it has none, the newest result that is brought decides. Digests of hosted models change with
    every update of their servers: they are not compared.
    """

    def __init__(
        self,
        config: WorkspaceFolder,
        files: Iterable[RunFile],
        is_local: Callable[[LLM], bool],
        allowed: Collection[MergeFault] = (),
    ) -> None:
        """Find the digest of each local model.

        Args:
            config: The workspace.
            files: All run files that are brought.
            is_local: True for models whose digest stays the same.
            allowed: Faults that do not count.

        Raises:
            ConfigError: With every problem of every file of the workspace.
            StoreError: If results cannot be read.
        """
        workspace = config.workspace
        self._tests, self._llms = workspace.tests_by_id, workspace.llms_by_id
        self._all_llms = workspace.llms
        self._stale = StaleCheck(config)
        self._allowed = frozenset(allowed)
        self._ids: dict[str, str] = {}
        local = {llm.id for llm in workspace.llms if is_local(llm)}
        self._digests = _find_newest(self._read_files(file.path for file in files), local)
        if self._digests:
            paths = config.store.paths
            stored = chain(self._read_snapshot(paths), self._read_files(paths.list_unmerged()))
            self._digests |= _find_newest(stored, local)

    def find_fault(self, result: Result) -> str:
        """Say why a result does not belong to the workspace; empty where it does."""
        llm_id = self._resolve(result.llm_id)
        return next((fault for fault in self._list_faults(result, llm_id)), "")

    def _list_faults(self, result: Result, llm_id: str) -> Iterator[MergeFault]:
        found: list[MergeFault] = []
        if llm_id not in self._llms:
            found.append(MergeFault.UNKNOWN_MODEL)
        if result.test_id not in self._tests:
            found.append(MergeFault.UNKNOWN_TEST)
        stale = self._stale.find_difference(_with_id(result, llm_id))
        if stale is not None:
            found.append(_FAULTS[stale])
        known = self._digests.get(llm_id)
        if known is not None and result.model_digest not in (None, known):
            found.append(MergeFault.MODEL)
        yield from (fault for fault in found if fault not in self._allowed)

    def _resolve(self, name: str) -> str:
        known = self._ids.get(name)
        if known is None:
            known = self._ids[name] = resolve_llm_id(name, self._all_llms) or name
        return known

    def _read_files(self, paths: Iterable[Path]) -> Iterator[tuple[str, _Told]]:
        """Yield model, moment and digest of each line of run files that tells one."""
        for path in paths:
            with tell_os_errors(path), open_regular(path) as stream:
                for line in stream:
                    record = _parse(line) if _DIGEST in line else {}
                    yield from self._tell(str(record.get("llm_id")), record)

    def _read_snapshot(self, paths: StorePaths) -> Iterator[tuple[str, _Told]]:
        if not paths.snapshot.exists():
            return
        with tell_os_errors(paths.snapshot), open_regular(paths.snapshot) as stream:
            for row in read_snapshot(stream, paths.snapshot):
                yield from self._tell(row.llm_id, row.record)

    def _tell(self, llm_id: str, record: Mapping[str, object]) -> Iterator[tuple[str, _Told]]:
        digest = record.get("model_digest")
        if isinstance(digest, str):
            yield self._resolve(llm_id), (str(record.get("timestamp", "")), digest)


def _parse(line: bytes) -> Mapping[str, object]:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return record if isinstance(record, dict) else {}


def _with_id(result: Result, llm_id: str) -> Result:
    return result if result.llm_id == llm_id else replace(result, llm_id=llm_id)


def _find_newest(told: Iterable[tuple[str, _Told]], llm_ids: Collection[str]) -> dict[str, str]:
    """Find the digest of the newest moment of each of some models; of equal ones, the larger."""
    newest: dict[str, _Told] = {}
    for llm_id, each in told:
        if llm_id in llm_ids and each > newest.get(llm_id, ("", "")):
            newest[llm_id] = each
    return {llm_id: digest for llm_id, (_, digest) in newest.items()}
