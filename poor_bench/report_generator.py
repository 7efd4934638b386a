"""Reports: from stored results to CSV, JSON and Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from poor_bench.models.result import Result, result_to_record
from poor_bench.runner.selection import Selection, select
from poor_bench.statistics.summarise import summarise
from poor_bench.statistics.summary import GroupBy, Summary

if TYPE_CHECKING:
    from poor_bench.config_manager import ConfigManager

_CSV_FIELDS = (
    "llm_id", "test_id", "class_id", "level", "trial", "score", "strict_score", "details",
    "response", "failure", "execution_time_ms", "first_token_ms", "load_ms", "prompt_tokens",
    "completion_tokens", "thinking_tokens", "cost_usd", "finish_reason", "marks", "timestamp",
    "run_id",
)  # fmt: skip
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class ReportGenerator:
    """Renders the results of a selection of LLMs and tests."""

    def __init__(self, config: ConfigManager, selection: Selection | None = None) -> None:
        """Choose what the report is about.

        Raises:
            ConfigError: If the workspace is not valid or a filter matches nothing.
        """
        self._config = config
        self._filters_llms = bool(selection and selection.llms)
        chosen = select(config.workspace, selection or Selection())
        self._llm_ids = {llm.id for llm in chosen.llms}
        self._tests = {test.test_id: test for test in chosen.tests}
        self._known_llms = config.workspace.llms_by_id
        self.names = {llm.id: llm.label or llm.id for llm in config.workspace.llms}

    def results(self) -> Iterator[Result]:
        """Yield the chosen results, failures included.

        Results of LLMs that are not in llms.json any more are shown unless LLMs were chosen.

        Raises:
            StoreError: If the stored results cannot be read.
        """
        for result in self._config.store.results():
            if result.test_id in self._tests and self._is_chosen(result.llm_id):
                yield result

    def summaries(self, by: str = "llm") -> list[Summary]:
        """Return the figures per LLM, or per LLM and class or level; `by` is a `GroupBy`."""
        return summarise(self.results(), tests=self._tests, by=GroupBy(by))

    def render(self, form: str, by: str = "llm") -> str:
        """Return the report as text.

        Args:
            form: `csv` (a row for every result), `json` or `md`.
            by: What a row of figures stands for, a `GroupBy`.
        """
        match form:
            case "csv":
                return self._csv()
            case "json":
                return self._json(by)
            case "md":
                return summaries_to_markdown(self.summaries(by), self.names)
            case _:
                raise ValueError(f"unknown form {form!r}")

    def write(self, path: Path, text: str) -> None:
        """Replace a file atomically.

        Raises:
            OSError: If it cannot be written; the old file stays.
        """
        temporary = path.with_name(f".{path.name}.tmp")
        try:
            temporary.write_text(text, encoding="utf-8", newline="")
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)

    def _is_chosen(self, llm_id: str) -> bool:
        return llm_id in self._llm_ids or (
            not self._filters_llms and llm_id not in self._known_llms
        )

    def _csv(self) -> str:
        stream = io.StringIO()
        writer = csv.writer(stream)
        writer.writerow(_CSV_FIELDS)
        for result in self.results():
            record = result_to_record(result)
            test = self._tests[result.test_id]
            record |= {"class_id": test.class_id, "level": test.level, "trial": result.trial}
            record["failure"] = str(result.failure.message) if result.failure else ""
            record["marks"] = " ".join(result.marks)
            writer.writerow([without_formula(record.get(name)) for name in _CSV_FIELDS])
        return stream.getvalue()

    def _json(self, by: str) -> str:
        document = {
            "summaries": self.summaries(by),
            "results": [result_to_record(result) for result in self.results()],
        }
        options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
        return orjson.dumps(document, option=options, default=str).decode() + "\n"


def without_formula(value: object) -> object:
    """Return a CSV cell that no spreadsheet takes for a formula; numbers stay numbers.

    Source:
        OWASP, "CSV Injection": a text that starts with = + - @ or a control character is
        prefixed with an apostrophe.

    Example:
        >>> without_formula("=1+1"), without_formula(-2)
        ("'=1+1", -2)
    """
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value


def summaries_to_markdown(summaries: Sequence[Summary], names: dict[str, str]) -> str:
    """Return figures as a Markdown table, best score first."""
    lines = [
        "| LLM | Class | Level | Score | 95 % interval | Passed | Failed | Median time |",
        "|---|---|---|---|---|---|---|---|",
    ]
    ordered = sorted(summaries, key=lambda row: -(row.score.value if row.score else -1.0))
    lines += [_markdown_row(summary, names) for summary in ordered]
    return "\n".join(lines) + "\n"


def _markdown_row(summary: Summary, names: dict[str, str]) -> str:
    group, score = summary.group, summary.score
    cells = [
        names.get(group.llm_id, group.llm_id),
        group.class_id or "all",
        str(group.level or "all"),
        f"{score.value:.3f}" if score else "-",
        f"{score.low:.2f} to {score.high:.2f}" if score else "",
        f"{summary.n_passed}/{summary.n_scored}",
        str(summary.n_failed),
        f"{summary.time.median_ms / 1000:.2f} s" if summary.time else "-",
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
