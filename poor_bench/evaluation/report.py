"""The report of a run as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from poor_bench.config.document import write_atomically
from poor_bench.errors import ConfigError
from poor_bench.evaluation.models import EvalSuiteResult
from poor_bench.runs.journal import dump_record


def report_to_json(report: EvalSuiteResult) -> dict[str, Any]:
    """Convert a report to plain data; without the only trial of a case, which repeats it."""
    plain = report.model_dump()
    for case in plain["case_results"]:
        if len(case["trial_results"]) < 2:
            del case["trial_results"]
    return plain


def write_report(report: EvalSuiteResult, path: Path | str) -> None:
    """Write a report as JSON, atomically; missing folders are created.

    Raises:
        ConfigError: If it cannot be written; the old file stays untouched.
    """
    import orjson

    plain = orjson.loads(dump_record(report_to_json(report)))
    text = orjson.dumps(plain, option=orjson.OPT_INDENT_2).decode()
    write_file(Path(path), f"{text}\n")


def write_file(path: Path, text: str) -> None:
    """Write a text, atomically; missing folders are created.

    Raises:
        ConfigError: If it cannot be written; the old file stays untouched.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"cannot create the folder {path.parent}: {error.strerror or error}"
        raise ConfigError(message) from error
    write_atomically(path, text)
