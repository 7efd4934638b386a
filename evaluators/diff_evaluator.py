"""Compares the changes of a unified diff with the expected changes.

Diffs are equivalent if they make the same changes. Context, line numbers and the division into
hunks do not count. If the original is given, the diff is applied and the result is compared. A
diff that is not equivalent scores half of its share of correct changed lines.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from poor_bench.extraction.found import Found
from poor_bench.extraction.thinking import without_thinking
from poor_bench.extraction.unified_diff import (
    DiffDoesNotApplyError,
    Files,
    apply_hunks,
    compute_shared_changes,
    explain_difference,
    extract_diff,
    list_all_changes,
    parse_diff,
)
from poor_bench.scoring import Verdict
from poor_bench.scoring.verdict import AnswerFormat, apply_format_rule

_SHARE_OF_UNEQUAL = 0.5


class Parameters(BaseModel):
    """Parameters of `diff_evaluator`: `expected_diff`, or `original` with `expected_result`."""

    model_config = ConfigDict(extra="forbid")

    expected_diff: str | None = Field(default=None, description="A correct unified diff.")
    original: str | None = Field(default=None, description="Text that the diff applies to.")
    expected_result: str | None = Field(
        default=None, description="The original after a correct diff is applied."
    )
    strict: bool = Field(
        default=False, description="Accept only a well-formed diff, without surrounding text."
    )

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.expected_result is not None and self.original is None:
            raise ValueError("`expected_result` requires `original`")
        if self.expected_result is None and self.expected_diff is None:
            raise ValueError("give `expected_diff`, or `original` and `expected_result`")
        expected = parse_diff(_build_expected_diff(self))
        if not expected:
            raise ValueError("the expected diff contains no changes")
        if self.original is not None and self.expected_result is None:
            apply_hunks(_split_lines(self.original), expected[0].hunks)
        return self


def evaluate(response: str, parameters: Mapping[str, Any]) -> Verdict:
    """Score 1.0 for an equivalent diff, up to 0.5 for a partly correct one."""
    wanted = Parameters.model_validate(parameters)
    expected = parse_diff(_build_expected_diff(wanted))
    extracted = extract_diff(without_thinking(response, keep_invisible=True))
    if extracted is None:
        return Verdict(
            0.0,
            "found no diff that changes a line",
            found=Found.MISSING,
            expected=_write_changes(expected),
        )
    score, details = _compare(extracted.value, expected, wanted)
    return apply_format_rule(
        score,
        details,
        broken=extracted.found.wrapping or _find_malformed(extracted.value),
        strict=wanted.strict,
        found=extracted.found,
        extracted=extracted.text,
        expected=_write_changes(expected),
        got=_write_changes(extracted.value),
    )


def wants(_parameters: Mapping[str, Any]) -> AnswerFormat:
    """Describe the format that the prompt should ask for."""
    return AnswerFormat.DIFF


def reference(parameters: Mapping[str, Any]) -> str:
    """Write a right diff."""
    return _build_expected_diff(Parameters.model_validate(parameters))


def _build_expected_diff(wanted: Parameters) -> str:
    if wanted.expected_diff is not None:
        return wanted.expected_diff
    old, new = _split_lines(wanted.original or ""), _split_lines(wanted.expected_result or "")
    return "\n".join(difflib.unified_diff(old, new, "original", "original", lineterm=""))


def _compare(got: Files, expected: Files, wanted: Parameters) -> tuple[float, str]:
    if wanted.original is not None:
        problem = _compare_when_applied(wanted.original, got, expected, wanted)
    else:
        problem = explain_difference(got, expected)
    if not problem:
        return 1.0, "equivalent to the expected diff"
    share = compute_shared_changes(got, expected)
    return _SHARE_OF_UNEQUAL * share, f"{problem}; {share:.0%} of the changed lines agree"


def _compare_when_applied(original: str, got: Files, expected: Files, wanted: Parameters) -> str:
    lines = _split_lines(original)
    if wanted.expected_result is not None:
        right = _split_lines(wanted.expected_result)
    else:
        right = apply_hunks(lines, expected[0].hunks)
    try:
        result = apply_hunks(lines, [hunk for file in got for hunk in file.hunks])
    except DiffDoesNotApplyError as error:
        return str(error)
    same = [line.rstrip() for line in right] == result
    return "" if same else "applied to the original it gives another result than expected"


def _write_changes(files: Files) -> str:
    return "\n".join(list_all_changes(files))


def _find_malformed(files: Files) -> str:
    if any(not file.name for file in files):
        return "no header with file names"
    if any(hunk.is_malformed for file in files for hunk in file.hunks):
        return "lines without sign or hunks without numbers"
    return ""


def _split_lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")
