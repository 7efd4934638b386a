"""gates.yaml: limits that the results must meet, for the command `gate`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from poor_bench.config.document import Document, Place, Report, open_document
from poor_bench.config.entry_validation import list_entries, validate_entry
from poor_bench.config.file_models import FileModel, Name
from poor_bench.config.load import Workspace, raise_errors
from poor_bench.config.names import (
    find_llms,
    is_match,
    list_names,
    make_unknown_llm_error,
    name_hint,
)
from poor_bench.config.yaml_document import parse_yaml
from poor_bench.gates.gate import DEFAULT_TOLERANCE, EVERY, Gate, GateKind
from poor_bench.models.llm import LLM


class GateEntry(FileModel):
    """Limits for some models and test classes; at least one limit is required."""

    llm_id: Name | None = Field(
        None, description="LLM id, label or glob; all by default. Each model is checked separately."
    )
    class_id: Name | None = Field(
        None,
        description="Test class or glob, each checked separately; by default all tests together.",
    )
    min_score: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="Lowest mean score."
    )
    min_pass_rate: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="Lowest share of passed tests."
    )
    max_p95_ms: Annotated[float, Field(gt=0)] | None = Field(
        None, description="Highest 95th percentile of the latency, in milliseconds."
    )
    max_cost_usd: Annotated[float, Field(ge=0)] | None = Field(
        None, description="Highest cost of all results, in US dollars."
    )
    min_scored_share: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="Lowest share of trials that ended with a score."
    )
    no_regression: bool = Field(
        False,
        description="Fail if the score on the same tests dropped by more than `tolerance`; "
        "requires a baseline.",
    )
    tolerance: Annotated[float, Field(gt=0, le=1)] | None = Field(
        None, description="Accepted drop of the mean score for `no_regression`; 0.05 by default."
    )
    up_to_date: bool = Field(
        False, description="Fail on stale results: the prompt, parameters or evaluator changed."
    )
    baseline: Name | None = Field(
        None, description="File or run to compare with; the value of `--baseline` by default."
    )


def load_gates(
    path: Path, workspace: Workspace, tolerance: float = DEFAULT_TOLERANCE
) -> tuple[Gate, ...]:
    """Load the gates of a file, in its order.

    Args:
        path: A `gates.yaml`; baselines are looked for beside it.
        workspace: Its LLMs and classes are what patterns must match.
        tolerance: Of `no_regression` where the file states none.

    Raises:
        ConfigError: With every problem of the file, if one of them is an error.
    """
    document, report = open_document(path, parse_yaml)
    gates = tuple(_decode(document, path, workspace, report, tolerance)) if document else ()
    raise_errors(report.problems)
    return gates


def _decode(
    document: Document, path: Path, workspace: Workspace, report: Report, tolerance: float
) -> Iterator[Gate]:
    for place, raw in list_entries(document, "gates", report):
        n_problems = len(report.problems)
        entry = validate_entry(GateEntry, raw, place, report)
        if entry is not None:
            _check_patterns(entry, place, workspace, report)
            llms = find_llms(entry.llm_id or EVERY, workspace.llms)
            gates = list(_build_gates(entry, llms, place, path, report, tolerance))
            if not gates and len(report.problems) == n_problems:
                hint = f"one of {', '.join(f'`{kind.value}`' for kind in GateKind)}"
                report.error(place, "this gate has no limit", hint=hint, code="no-limit")
            yield from gates


def _build_gates(
    entry: GateEntry,
    llms: Sequence[LLM],
    place: Place,
    path: Path,
    report: Report,
    tolerance: float,
) -> Iterator[Gate]:
    limits = {
        kind: float(limit)
        for kind in GateKind
        if (limit := getattr(entry, kind.value)) is not None and limit is not False
    }
    if not entry.no_regression:
        for key in ("baseline", "tolerance"):
            if getattr(entry, key) is not None:
                report.warning((*place, key), "only `no_regression` reads it", code="unknown-key")
    if entry.no_regression:
        limits[GateKind.NO_REGRESSION] = entry.tolerance or tolerance
    for kind, limit in limits.items():
        is_regression = kind is GateKind.NO_REGRESSION
        yield Gate(
            kind=kind,
            limit=limit,
            llm_pattern=_read_pattern(entry.llm_id or EVERY, llms),
            class_pattern=entry.class_id,
            baseline=_explain_place(path, entry.baseline) if is_regression else "",
        )


def _read_pattern(written: str, llms: Sequence[LLM]) -> str:
    """Read a pattern as it stands, or today's id for one that an older tool wrote."""
    is_old = len(llms) == 1 and not any(is_match(name, written) for name in list_names(llms))
    return llms[0].id if is_old else written


def _explain_place(path: Path, baseline: str | None) -> str:
    """Resolve a baseline that is a file beside the gates as a path, and any other as it stands."""
    if baseline and (path.parent / baseline).is_file():
        return str(path.parent / baseline)
    return baseline or ""


def _check_patterns(entry: GateEntry, place: Place, workspace: Workspace, report: Report) -> None:
    if entry.llm_id and not find_llms(entry.llm_id, workspace.llms):
        hint = make_unknown_llm_error(entry.llm_id, workspace.llms).hint
        message = f"`{entry.llm_id}` matches nothing"
        report.error((*place, "llm_id"), message, hint=hint, code="no-match")
    classes = workspace.test_classes
    if entry.class_id and not any(is_match(name, entry.class_id) for name in classes):
        hint = name_hint(entry.class_id, classes)
        message = f"`{entry.class_id}` matches nothing"
        report.error((*place, "class_id"), message, hint=hint, code="no-match")
