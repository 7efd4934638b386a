"""The report of a run as JSON."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from poor_bench.config.atomic_write import write_atomically
from poor_bench.errors import ConfigError
from poor_bench.evaluation.models import EvalCaseResult, EvalSuiteResult
from poor_bench.result_store.encode import dump_record


def report_to_json(report: EvalSuiteResult) -> dict[str, Any]:
    """Return a report as plain data; trials stand in it only where a case has several."""
    cases = [_case_to_json(case) for case in report.case_results]
    return {**asdict(report), "case_results": cases}


def write_report(report: EvalSuiteResult, path: Path | str) -> None:
    """Write a report as JSON, whole or not at all; folders on the way are made.

    Raises:
        ConfigError: If it cannot be written; what was there before is untouched.
    """
    import orjson

    plain = orjson.loads(dump_record(report_to_json(report)))
    text = orjson.dumps(plain, option=orjson.OPT_INDENT_2).decode()
    write_file(Path(path), f"{text}\n")


def write_file(path: Path, text: str) -> None:
    """Write a text, whole or not at all; folders on the way are made.

    Raises:
        ConfigError: If it cannot be written; what was there before is untouched.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"the folder {path.parent} cannot be made: {error.strerror or error}"
        raise ConfigError(message) from error
    write_atomically(path, text)


def _case_to_json(case: EvalCaseResult) -> dict[str, Any]:
    plain = asdict(case)
    if len(case.trial_results) < 2:
        del plain["trial_results"]
    return plain
