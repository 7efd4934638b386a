"""How candidate code ended, as short Markdown in which hostile text stays text."""

from __future__ import annotations

import re

from poor_bench.messages import bounded_text
from poor_bench.sandbox.program import (
    CaseEnd,
    CaseOutcome,
    CheckEnd,
    CheckOutcome,
    ErrorReport,
    LoadEnd,
    LoadOutcome,
)
from poor_bench.sandbox.wire.plain import describe_value
from poor_bench.scoring.verdict import Cause

_LONGEST_SPAN = 200
_LONGEST_READ = 4 * _LONGEST_SPAN
_LONGEST_OUTPUT = 600
_LOAD_ENDS = {
    LoadEnd.LOADED: "loaded",
    LoadEnd.TOO_LARGE: "the code is too long to be run",
    LoadEnd.SYNTAX_ERROR: "syntax error",
    LoadEnd.RAISED: "the code raised an exception while it was loaded",
    LoadEnd.TIMED_OUT: "timed out while the code was loaded",
    LoadEnd.DIED: "the process died while the code was loaded",
    LoadEnd.GARBLED: "the code wrote into the channel of its result",
}
_CHECK_ENDS = {
    CheckEnd.PASSED: "all checks passed",
    CheckEnd.FAILED: "a check failed",
    CheckEnd.RAISED: "the code raised an exception",
    CheckEnd.TIMED_OUT: "timed out",
    CheckEnd.DIED: "the process died",
    CheckEnd.GARBLED: "the code wrote into the channel of its result",
    CheckEnd.NOT_LOADED: "the code could not be loaded",
    CheckEnd.BROKEN: "the test itself cannot be run",
}
_BACKTICKS = re.compile("`+")


_LOAD_CAUSES = {
    LoadEnd.MISSING_FUNCTION: Cause.MISSING_FUNCTION,
    LoadEnd.SYNTAX_ERROR: Cause.SYNTAX,
    LoadEnd.TIMED_OUT: Cause.TIME_LIMIT,
    LoadEnd.DIED: Cause.CRASH,
}
_CASE_CAUSES = {
    CaseEnd.TIMED_OUT: Cause.TIME_LIMIT,
    CaseEnd.NOT_RUN: Cause.TIME_LIMIT,
    CaseEnd.DIED: Cause.CRASH,
}
_CHECK_CAUSES = {CheckEnd.TIMED_OUT: Cause.TIME_LIMIT, CheckEnd.DIED: Cause.CRASH}
# How CPython words the TypeError of a call that does not fit the function's parameters
_BAD_CALL = re.compile(
    r"takes (?:from )?\d[\w ]* positional arguments? but|missing \d+ required"
    r"|unexpected keyword argument"
)
_CAUSE_OF_ERROR = {
    "ModuleNotFoundError": Cause.MISSING_MODULE,
    "SyntaxError": Cause.SYNTAX,
    "IndentationError": Cause.SYNTAX,
}


def load_cause(load: LoadOutcome) -> Cause:
    """Cause of a program that could not be loaded."""
    return _error_cause(load.error, _LOAD_CAUSES.get(load.end, Cause.CRASH))


def case_cause(ended: CaseOutcome) -> Cause:
    """Cause of a case that did not pass."""
    if ended.end is CaseEnd.RAISED:
        return _error_cause(ended.error, Cause.CRASH)
    return _CASE_CAUSES.get(ended.end, Cause.WRONG_ANSWER)


def check_cause(outcome: CheckOutcome) -> Cause:
    """Cause of a check that did not pass."""
    if outcome.end is CheckEnd.RAISED:
        return _error_cause(outcome.error, Cause.CRASH)
    return _CHECK_CAUSES.get(outcome.end, Cause.WRONG_ANSWER)


def _error_cause(error: ErrorReport | None, otherwise: Cause) -> Cause:
    if error is None:
        return otherwise
    if error.type_name == "TypeError" and _BAD_CALL.search(error.message):
        return Cause.ARGUMENTS
    return _CAUSE_OF_ERROR.get(error.type_name, otherwise)


def load_report(load: LoadOutcome, function: str | None) -> str:
    """Explain why a program could not be loaded, in one sentence."""
    if load.end is LoadEnd.MISSING_FUNCTION:
        there = ", ".join(span(name) for name in load.functions) or "no public function"
        wanted = f" {span(function)}" if function else ""
        return f"missing function{wanted}: the code defines {there}"
    return f"{_LOAD_ENDS[load.end]}{_error(load.error)}{_cause(load.cause)}"


def case_report(number: int, arguments: str, ended: CaseOutcome, *, expected: str) -> str:
    """Describe a case that did not pass, as an item of a list."""
    match ended.end:
        case CaseEnd.RETURNED:
            got = describe_value(ended.value)
            what = f"expected {span(expected)}, got {span(got)}"
        case CaseEnd.RAISED:
            what = f"raised an exception{_error(ended.error)}"
        case CaseEnd.TIMED_OUT:
            what = "timed out"
        case CaseEnd.DIED:
            what = f"the process died{_cause(ended.cause)}"
        case CaseEnd.GARBLED:
            what = "wrote into the channel of its result"
        case CaseEnd.UNSENDABLE:
            what = f"returned {span(ended.cause)}"
        case CaseEnd.NOT_RUN:
            what = "not run: the time for all cases was used up"
    return f"- case {number}, input {span(arguments)}: {what}"


def check_report(outcome: CheckOutcome) -> str:
    """Describe the end of a check, in one sentence."""
    what = f"{_CHECK_ENDS[outcome.end]}{_error(outcome.error)}{_cause(outcome.cause)}"
    at = f" at {span(outcome.source_line)}" if outcome.source_line.strip() else ""
    call = f"; last call {span(outcome.last_call)}" if outcome.last_call else ""
    return what if outcome.end is CheckEnd.PASSED else f"{what}{at}{call}"


def with_output(report: str, output: str) -> str:
    """Append what the program wrote to a report, bounded, in a block that it cannot leave."""
    written = output.strip()
    if not written:
        return report
    if len(written) > _LONGEST_OUTPUT:
        written = f"{written[: _LONGEST_OUTPUT - 1]}…"
    fence = "`" * max(3, 1 + _longest_run(written))
    return f"{report}\n\nOutput:\n{fence}text\n{written}\n{fence}"


def span(text: str) -> str:
    """Write a text as a Markdown code span that it cannot leave, on one line and bounded."""
    line = _one_line(text)
    ticks = "`" * (1 + _longest_run(line))
    padding = " " if line[:1] == "`" or line[-1:] == "`" or not line else ""
    return f"{ticks}{padding}{line}{padding}{ticks}"


def _one_line(text: str) -> str:
    return bounded_text(" ".join(text[:_LONGEST_READ].split()), _LONGEST_SPAN)


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


def _error(error: ErrorReport | None) -> str:
    if error is None:
        return ""
    line = f" in line {error.line}" if error.line else ""
    said = f"{error.type_name}: {error.message}" if error.message else error.type_name
    return f"{line}: {span(said)}"


def _cause(cause: str) -> str:
    return f" ({_one_line(cause)})" if cause else ""
