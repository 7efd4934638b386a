"""probes.json of a workspace: the newest probe of each model. It may be deleted at any time."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poor_bench.config.document import (
    UnreadableError,
    lock_for_writing,
    read_text,
    write_atomically,
)
from poor_bench.safe_files import load_json_text

if TYPE_CHECKING:
    from poor_bench.probe.report import ProbeReport

PROBES_FILE = "probes.json"
_FORMAT = "1.0"


def load_probes(data_dir: Path) -> dict[str, ProbeReport]:
    """Load the probes by LLM id; entries that cannot be read count as missing."""
    entries = _read_entries(data_dir / PROBES_FILE)
    if not entries:
        return {}
    from pydantic import TypeAdapter, ValidationError

    from poor_bench.probe.report import ProbeReport

    reader = TypeAdapter(ProbeReport)
    reports = {}
    for llm_id, entry in entries.items():
        try:
            reports[llm_id] = reader.validate_python(entry)
        except ValidationError:
            continue  # a probe costs a minute, and a file that was edited must not stop a report
    return reports


def save_probe(data_dir: Path, llm_id: str, report: ProbeReport) -> ProbeReport:
    """Store a probe, joined with what is stored of the same model.

    Returns:
        What is stored now.

    Raises:
        ConfigError: If the file cannot be written.
    """
    import orjson

    path = data_dir / PROBES_FILE
    with lock_for_writing(path):
        stored = load_probes(data_dir)
        joined = stored[llm_id].add(report) if llm_id in stored else report
        entries = {**_read_entries(path), llm_id: dataclasses.asdict(joined)}
        document = {"version": _FORMAT, "probes": entries}
        write_atomically(path, orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n")
    return joined


def _read_entries(path: Path) -> dict[str, Any]:
    try:
        content = load_json_text(read_text(path))
    except (UnreadableError, ValueError):
        return {}
    entries = content.get("probes") if isinstance(content, dict) else None
    return entries if isinstance(entries, dict) else {}
