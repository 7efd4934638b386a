"""Write the result of a search to the workspace."""

from __future__ import annotations

from datetime import UTC, datetime

from poor_bench.config.nearest_name import known_names
from poor_bench.errors import ConfigError
from poor_bench.tuning.kept_searches import find_search, read_search
from poor_bench.tuning.params.report import ParamsReport
from poor_bench.tuning.params.report import kept_report as kept_sweep
from poor_bench.tuning.prompt.places import place_of
from poor_bench.tuning.prompt.report import PromptReport, kept_report
from poor_bench.tuning.prompt.search import Candidate
from poor_bench.tuning.tuning_file import TuningFile
from poor_bench.workspace_folder import WorkspaceFolder


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
        ConfigError: If there is no such search or candidate, or the prompt in use changed.
        StoreError: If the file of the search cannot be written.
    """
    search = find_search(config.data_dir, reference, kind="prompt")
    candidate = _candidate(kept_report(search), key)
    header = search.header
    place = place_of(header["subject"], config)
    if place.text != header["base_text"] and not force:
        raise ConfigError(
            f"the {header['name']} was edited after this search",
            hint="use `--force` to write it anyway; the search's file keeps the current prompt",
        )
    file = TuningFile(search.path)
    try:
        record = {"key": candidate.key, "at": _now(), "replaced": place.text}
        place.write(candidate.text)
        file.append("accepted", record)
    finally:
        file.close()
    return kept_report(read_search(search.path))


def _candidate(report: PromptReport, key: str) -> Candidate:
    if not key:
        if report.improved is None:
            raise ConfigError(f"search {report.run_id} found no better prompt")
        return report.improved
    found = [item for item in report.end.candidates if item.key.startswith(key)]
    if len(found) != 1:
        names = known_names([item.key for item in report.end.candidates])
        raise ConfigError(f"search {report.run_id} has no unique prompt {key!r}", hint=names)
    return found[0]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def accept_variant(config: WorkspaceFolder, reference: str, variant_id: str = "") -> ParamsReport:
    """Add a variant of a sweep to llms.json, with the id of its results.

    Args:
        config: The workspace.
        reference: The sweep, see `find_search`.
        variant_id: Which variant, by its id or the end of it; the best by default.

    Raises:
        ConfigError: If there is no such sweep or variant, or it already exists in llms.json.
        StoreError: If the file of the sweep cannot be written.
    """
    search = find_search(config.data_dir, reference, kind="params")
    report = kept_sweep(search)
    if not variant_id and report.best is None:
        raise ConfigError(f"sweep {search.run_id} found no better variant")
    wanted = variant_id or (report.best.variant_id if report.best else "")
    records = {record["id"]: record for record in search.of_kind("variant")}
    found = [name for name in records if name == wanted or name.endswith(f":{wanted}")]
    if len(found) != 1:
        message = f"sweep {search.run_id} has no variant {wanted!r}"
        raise ConfigError(message, hint=known_names(list(records)))
    if found[0] in config.workspace.llms_by_id:
        raise ConfigError(f"{found[0]} already exists in llms.json")
    file = TuningFile(search.path)
    try:
        config.add_llms([records[found[0]]["entry"]])
        file.append("accepted", {"key": found[0], "at": _now()})
    finally:
        file.close()
    return kept_sweep(read_search(search.path))
