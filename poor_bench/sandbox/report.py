"""How candidate code ended: causes for machines, and Markdown in which hostile text stays text."""

from __future__ import annotations

import re

from poor_bench.messages import cut_text
from poor_bench.sandbox.plain import describe_value
from poor_bench.sandbox.program import (
    CaseEnd,
    CaseOutcome,
    CheckEnd,
    CheckOutcome,
    ErrorReport,
    LoadEnd,
    LoadOutcome,
)
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
# by the value of a `LoadEnd`, `CaseEnd` or `CheckEnd`
_CAUSES = {
    "missing function": Cause.MISSING_FUNCTION,
    "syntax error": Cause.SYNTAX,
    "timed out": Cause.TIME_LIMIT,
    "not run": Cause.TIME_LIMIT,
    "raised": Cause.CRASH,
    "died": Cause.CRASH,
}
# How CPython words the TypeError of a call that does not fit the function's parameters
_BAD_CALL = re.compile(
    r"takes (?:from )?\d[\w ]{0,30} positional arguments? but|missing \d{1,4} required"
    r"|unexpected keyword argument"
)
_CAUSE_OF_ERROR = {
    "ModuleNotFoundError": Cause.MISSING_MODULE,
    "SyntaxError": Cause.SYNTAX,
    "IndentationError": Cause.SYNTAX,
}


def find_cause(outcome: LoadOutcome | CaseOutcome | CheckOutcome) -> Cause:
    """Find the cause of a program that did not load, or of a case or check that did not pass."""
    otherwise = Cause.CRASH if isinstance(outcome, LoadOutcome) else Cause.WRONG_ANSWER
    cause = _CAUSES.get(outcome.end, otherwise)
    # a check that failed carries the error of the test: it says nothing about the program
    if outcome.error is None or outcome.end not in ("raised", "syntax error"):
        return cause
    if outcome.error.type_name == "TypeError" and _BAD_CALL.search(outcome.error.message):
        return Cause.ARGUMENTS
    return _CAUSE_OF_ERROR.get(outcome.error.type_name, cause)


def report_load(load: LoadOutcome, function: str | None) -> str:
    """Explain why a program could not be loaded, in one sentence."""
    if load.end is LoadEnd.MISSING_FUNCTION:
        there = ", ".join(quote_span(name) for name in load.functions) or "no public function"
        wanted = f" {quote_span(function)}" if function else ""
        return f"missing function{wanted}: the code defines {there}"
    return f"{_LOAD_ENDS[load.end]}{_tell_error(load.error)}{_tell_cause(load.cause)}"


def report_case(number: int, arguments: str, ended: CaseOutcome, *, expected: str) -> str:
    """Describe a case that did not pass, as an item of a list."""
    got = describe_value(ended.value)
    what = {
        CaseEnd.RETURNED: f"expected {quote_span(expected)}, got {quote_span(got)}",
        CaseEnd.RAISED: f"raised an exception{_tell_error(ended.error)}",
        CaseEnd.TIMED_OUT: "timed out",
        CaseEnd.DIED: f"the process died{_tell_cause(ended.cause)}",
        CaseEnd.GARBLED: "wrote into the channel of its result",
        CaseEnd.UNSENDABLE: f"returned {quote_span(ended.cause)}",
        CaseEnd.NOT_RUN: "not run: the time for all cases was used up",
    }[ended.end]
    return f"- case {number}, input {quote_span(arguments)}: {what}"


def report_check(outcome: CheckOutcome) -> str:
    """Describe the end of a check, in one sentence."""
    what = f"{_CHECK_ENDS[outcome.end]}{_tell_error(outcome.error)}{_tell_cause(outcome.cause)}"
    at = f" at {quote_span(outcome.source_line)}" if outcome.source_line.strip() else ""
    call = f"; last call {quote_span(outcome.last_call)}" if outcome.last_call else ""
    return what if outcome.end is CheckEnd.PASSED else f"{what}{at}{call}"


def append_output(report: str, output: str) -> str:
    """Append what the program wrote to a report, bounded, in a block that it cannot leave."""
    written = output.strip()
    if not written:
        return report
    if len(written) > _LONGEST_OUTPUT:
        written = f"{written[: _LONGEST_OUTPUT - 1]}…"
    fence = "`" * max(3, 1 + _measure_longest_run(written))
    return f"{report}\n\nOutput:\n{fence}text\n{written}\n{fence}"


def quote_span(text: str) -> str:
    """Write a text as a Markdown code span that it cannot leave, on one line and bounded."""
    line = _join_lines(text)
    ticks = "`" * (1 + _measure_longest_run(line))
    padding = " " if line[:1] == "`" or line[-1:] == "`" or not line else ""
    return f"{ticks}{padding}{line}{padding}{ticks}"


def _join_lines(text: str) -> str:
    return cut_text(" ".join(text[:_LONGEST_READ].split()), _LONGEST_SPAN)


def _measure_longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


def _tell_error(error: ErrorReport | None) -> str:
    if error is None:
        return ""
    line = f" in line {error.line}" if error.line else ""
    said = f"{error.type_name}: {error.message}" if error.message else error.type_name
    return f"{line}: {quote_span(said)}"


def _tell_cause(cause: str) -> str:
    return f" ({_join_lines(cause)})" if cause else ""
