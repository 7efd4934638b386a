"""Write the result of a search to the workspace."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from poor_bench.config.edit_yaml import change_agent_prompt, find_agent_file
from poor_bench.config.load import LLMS_FILE, TEST_CLASSES_FILE
from poor_bench.config.names import list_known_names
from poor_bench.errors import ConfigError
from poor_bench.judge.registry import load_agent_registry
from poor_bench.tuning.prompt.report import PromptReport, read_report, write_unified_diff
from poor_bench.tuning.prompt.search import Candidate
from poor_bench.tuning.prompt.subjects import ClassPart
from poor_bench.tuning.searches import KeptSearch, TuningFile, find_search, read_search
from poor_bench.tuning.sweep_ranking import ParamsReport, read_sweep
from poor_bench.workspace_folder import WorkspaceFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPlace:
    """One text of the workspace."""

    path: Path
    """Its file."""
    text: str
    """As it is."""
    write: Callable[[str], None]
    """Puts another there; raises ConfigError, and leaves the file untouched, if it cannot."""


def find_place(reference: Mapping[str, str], config: WorkspaceFolder) -> TextPlace:
    """Find the place of a subject.

    Args:
        reference: As `TuningSubject.reference`.
        config: The workspace.

    Raises:
        ConfigError: If it is not in the workspace any more.
    """
    if reference["kind"] == "agent":
        agent_id = reference["agent_id"]
        agent = load_agent_registry(config.data_dir).agent(agent_id)
        write = partial(change_agent_prompt, config.data_dir, agent_id)
        path = find_agent_file(config.data_dir, agent_id)
        return TextPlace(path=path, text=agent.system_prompt, write=write)
    class_id = reference["class_id"]
    test_class = config.workspace.test_classes.get(class_id)
    if test_class is None:
        raise ConfigError(f"the test class {class_id!r} no longer exists")
    path = config.data_dir / TEST_CLASSES_FILE
    if reference["part"] == ClassPart.SYSTEM_PROMPT:
        write = partial(config.change_system_prompt, class_id)
        return TextPlace(path=path, text=test_class.system_prompt, write=write)
    write = partial(config.change_template, class_id)
    return TextPlace(path=path, text=test_class.templates["default"], write=write)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedChange:
    """Change of a file that accepting the best result of a search makes."""

    key: str
    """Of the result."""
    path: Path
    finding: str
    """The measured gain in words."""
    diff: str


def has_winner(search: KeptSearch) -> bool:
    """True if a search has ended with a better result that was not accepted.

    Raises:
        StoreError: If its header is not readable.
    """
    if search.is_running or not search.last("end") or search.last("accepted"):
        return False
    if search.kind == "params":
        return read_sweep(search).best is not None
    return read_report(search).improved is not None


def propose_change(config: WorkspaceFolder, reference: str) -> ProposedChange:
    """Describe what accepting the best result of a search changes; writes nothing.

    Raises:
        ConfigError: As `accept_result`.
        StoreError: If the search cannot be read.
    """
    search = find_search(config.data_dir, reference)
    if search.kind == "params":
        variant = _choose_variant(config, search, "")
        entry = json.dumps(variant["entry"], indent=2, ensure_ascii=False)
        diff, path = write_unified_diff("", entry), config.data_dir / LLMS_FILE
        finding = read_sweep(search).verdict
        return ProposedChange(key=variant["id"], path=path, finding=finding, diff=diff)
    candidate, place = _choose_prompt(config, search, "")
    proof = read_report(search).proof
    return ProposedChange(
        key=candidate.key,
        path=place.path,
        finding=proof.sentence if proof else "The gain was not measured on held-out tests.",
        diff=write_unified_diff(place.text, candidate.text),
    )


def accept_result(
    config: WorkspaceFolder, reference: str, key: str = "", *, force: bool = False
) -> str:
    """Write a result of a search of any kind, and return its key.

    Args:
        config: The workspace.
        reference: The search, see `find_search`.
        key: Which result; the best by default.
        force: Write a prompt even if the prompt in use changed since the search.

    Raises:
        ConfigError: As `accept_prompt` and `accept_variant`.
        StoreError: If the file of the search cannot be written.
    """
    search = find_search(config.data_dir, reference)
    if search.kind == "params":
        return accept_variant(config, search.run_id, key).accepted
    return accept_prompt(config, search.run_id, key, force=force).accepted


def accept_prompt(
    config: WorkspaceFolder, reference: str, key: str = "", *, force: bool = False
) -> PromptReport:
    """Write a prompt of a search; the replaced one stays in the search's file.

    Args:
        config: The workspace.
        reference: The search, see `find_search`.
        key: Which candidate, by its key; the best by default.
        force: Write it even if the prompt in use changed since the search.

    Raises:
        ConfigError: If the search or candidate does not exist, or the prompt in use changed.
        StoreError: If the file of the search cannot be written.
    """
    search = find_search(config.data_dir, reference, kind="prompt")
    candidate, place = _choose_prompt(config, search, key, force=force)
    with closing(TuningFile(search.path)) as file:
        place.write(candidate.text)
        record = {"key": candidate.key, "at": _write_now(), "replaced": place.text}
        file.append("accepted", record)
    return read_report(read_search(search.path))


def _choose_prompt(
    config: WorkspaceFolder, search: KeptSearch, key: str, *, force: bool = False
) -> tuple[Candidate, TextPlace]:
    """Find a prompt and the place that it may be written to."""
    candidate = _find_candidate(read_report(search), key)
    header = search.header
    place = find_place(header["subject"], config)
    if place.text == candidate.text:
        raise ConfigError(f"prompt {candidate.key} is the {header['name']} already")
    if place.text != header["base_text"] and not force:
        raise ConfigError(
            f"the {header['name']} was edited after this search",
            hint=f"`tune accept {search.run_id} --force` replaces it; the search keeps a copy",
        )
    return candidate, place


def _find_candidate(report: PromptReport, key: str) -> Candidate:
    if not key:
        if report.improved is None:
            raise ConfigError(f"search {report.run_id} found no better prompt")
        return report.improved
    found = [item for item in report.end.candidates if item.key.startswith(key)]
    if len(found) != 1:
        names = list_known_names([item.key for item in report.end.candidates])
        raise ConfigError(f"search {report.run_id} has no unique prompt {key!r}", hint=names)
    return found[0]


def _write_now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def accept_variant(config: WorkspaceFolder, reference: str, variant_id: str = "") -> ParamsReport:
    """Add a variant of a sweep to llms.json, with the id of its results.

    Args:
        config: The workspace.
        reference: The sweep, see `find_search`.
        variant_id: Which variant, by its id or the end of it; the best by default.

    Raises:
        ConfigError: If the sweep or variant does not exist, or is in llms.json already.
        StoreError: If the file of the sweep cannot be written.
    """
    search = find_search(config.data_dir, reference, kind="params")
    variant = _choose_variant(config, search, variant_id)
    with closing(TuningFile(search.path)) as file:
        config.add_llms([variant["entry"]])
        file.append("accepted", {"key": variant["id"], "at": _write_now()})
    return read_sweep(read_search(search.path))


def _choose_variant(config: WorkspaceFolder, search: KeptSearch, variant_id: str) -> dict[str, Any]:
    """Find the record of a variant that is not in llms.json."""
    report = read_sweep(search)
    if not variant_id and report.best is None:
        raise ConfigError(f"sweep {search.run_id} found no better variant")
    wanted = variant_id or (report.best.variant_id if report.best else "")
    records = {record["id"]: record for record in search.of_kind("variant")}
    found = [name for name in records if name == wanted or name.endswith(f":{wanted}")]
    if len(found) != 1:
        message = f"sweep {search.run_id} has no variant {wanted!r}"
        raise ConfigError(message, hint=list_known_names(list(records)))
    if found[0] in config.workspace.llms_by_id:
        raise ConfigError(f"{found[0]} already exists in llms.json")
    return records[found[0]]
