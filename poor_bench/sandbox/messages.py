"""What the processes of the sandbox say to each other.

Every message is a tuple of plain data that begins with a word:

| from | to | message |
|---|---|---|
| us | any child | an order: `(role, settings)` |
| any child | its user | first of all `("ready",)`, or `("failed", reason)` |
| a candidate | its user | `("loaded",)` or `("not_loaded", reason, error, functions)` |
| its user | a candidate | `("case", index)` or `("call", args, kwargs)` |
| a candidate | its user | `("returned", value)`, `("raised", error)`, `("unsendable", reason)` |
| us | a checker | `("check", settings)`, with a socket to the candidate where that can be sent |
| us | a checker | `("silent", why)` for a candidate that it reaches through us |
| a checker | us | `("checked", end, error, how the candidate loaded, last call, is_spent)` |
| a checker | us | `("failed", reason, is_spent)` if its candidate did |

A child is ready when it is locked in; only then does candidate code run. The user of a checker is
this process; that of a candidate is this process or a checker. An error is `(type, message, line or
None)`, or None. How the candidate loaded is its own message, or None where none came, and `end`
says why. What candidates say is hostile: it is read with the functions below, which take nothing
else than these forms.
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from typing import Any, NamedTuple

from poor_bench.messages import cut_text
from poor_bench.sandbox.encoding import DecodeError
from poor_bench.sandbox.program import (
    CaseEnd,
    CaseOutcome,
    CheckEnd,
    CheckOutcome,
    ErrorReport,
    Exit,
    Limits,
    LoadEnd,
    LoadOutcome,
)

# longest texts and largest numbers that are taken from a candidate, whatever it sends
_MAX_FUNCTIONS = 20
_MAX_NAME = 100
_MAX_REASON = 200
_MAX_ERROR_MESSAGE = 2000
_MAX_LINE = 1_000_000


class CandidateOrder(NamedTuple):
    """Load a program; then call one of its functions when asked to.

    Attributes:
        limits: What the child may use.
        cpu_s: CPU seconds after which the kernel ends the child.
        setup: Runs before the program, in the same module.
        source: The program.
        function: Name of the function; None for the last one that the program defines.
        inputs: What `("case", index)` refers to.
        scratch: Folder for its files; None for that of the bare root.
    """

    limits: Limits
    cpu_s: int
    setup: str
    source: str
    function: str | None
    inputs: list[Any]
    scratch: str | None = None


class CheckerOrder(NamedTuple):
    """Carry out tests, one after the other, on candidates in other processes.

    Attributes:
        limits: As for a candidate.
        cpu_s: As for a candidate.
        is_linked: True if a socket to the candidate comes with every test.
        scratch: As for a candidate.
    """

    limits: Limits
    cpu_s: int
    is_linked: bool
    scratch: str | None = None


class CheckRequest(NamedTuple):
    """Carry out one test.

    Attributes:
        source: Defines `check(candidate)`.
        setup: Runs before; what it defines, the test can use.
        function: Name under which the test finds the candidate as well.
        call_s: Wall-clock seconds for each call of the candidate.
    """

    source: str
    setup: str
    function: str
    call_s: float


Order = CandidateOrder | CheckerOrder
_ROLES: Mapping[str, type[Order]] = {"candidate": CandidateOrder, "checker": CheckerOrder}


def order_to_message(order: Order) -> tuple[str, tuple[Any, ...]]:
    """Build the message that gives an order."""
    role = "candidate" if isinstance(order, CandidateOrder) else "checker"
    limits, *settings = order
    return role, (tuple(limits), *settings)


def message_to_order(message: Any) -> Order:
    """Read the order that a message of ours gives."""
    role, (limits, *settings) = message
    return _ROLES[role](Limits(*limits), *settings)


def message_to_readiness(message: Any) -> str:
    """Read why a child is not ready; empty if it is.

    Raises:
        DecodeError: If the message is of no known form.
    """
    match message:
        case ("ready",):
            return ""
        case ("failed", str() as reason):
            return reason
    raise DecodeError("neither ready nor failed")


def message_to_case(message: Any) -> CaseOutcome:
    """Read how a case ended, without its output.

    Raises:
        DecodeError: If the message is of no known form.
    """
    match message:
        case ("returned", value):
            return CaseOutcome(end=CaseEnd.RETURNED, value=value)
        case ("raised", error):
            return CaseOutcome(end=CaseEnd.RAISED, error=message_to_error(error))
        case ("unsendable", str() as reason):
            return CaseOutcome(end=CaseEnd.UNSENDABLE, cause=cut_text(reason, _MAX_REASON))
    raise DecodeError("an answer of an unknown form")


def message_to_load(message: Any) -> LoadOutcome:
    """Read how loading a candidate ended.

    Raises:
        DecodeError: If the message is of no known form.
    """
    match message:
        case ("loaded",):
            return LoadOutcome(end=LoadEnd.LOADED)
        case ("not_loaded", "missing", None, list() as functions) if _are_texts(functions):
            names = (cut_text(name, _MAX_NAME) for name in functions[:_MAX_FUNCTIONS])
            return LoadOutcome(end=LoadEnd.MISSING_FUNCTION, functions=tuple(names))
        case ("not_loaded", "syntax", error, []):
            return LoadOutcome(end=LoadEnd.SYNTAX_ERROR, error=message_to_error(error))
        case ("not_loaded", "raised", error, []):
            return LoadOutcome(end=LoadEnd.RAISED, error=message_to_error(error))
    raise DecodeError("an answer of an unknown form")


def message_to_error(message: Any) -> ErrorReport:
    """Read what a program raised.

    Raises:
        DecodeError: If the message is of no known form.
    """
    match message:
        case (str() as type_name, str() as text, int() | None as line) if is_line(line):
            return ErrorReport(
                type_name=cut_text(type_name, _MAX_NAME),
                message=cut_text(text, _MAX_ERROR_MESSAGE),
                line=line,
            )
    raise DecodeError("an error of an unknown form")


def is_line(line: object) -> bool:
    """True if something can be the line of an error in a message; None can."""
    return line is None or (type(line) is int and 0 <= line <= _MAX_LINE)


def load_to_message(load: LoadOutcome) -> tuple[Any, ...]:
    """Build the message that tells how a candidate loaded, without what it sent beyond that."""
    error = tuple(load.error) if load.error is not None else None
    match load.end:
        case LoadEnd.LOADED:
            return ("loaded",)
        case LoadEnd.MISSING_FUNCTION:
            return "not_loaded", "missing", None, list(load.functions)
        case LoadEnd.SYNTAX_ERROR:
            return "not_loaded", "syntax", error, []
    return "not_loaded", "raised", error, []


def _are_texts(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def message_to_check(message: Any) -> CheckOutcome:
    """Read how a check ended, without output.

    Raises:
        DecodeError: If the message is of no known form.
    """
    match message:
        case ("checked", str() as end, error, load_message, str() as last_call, bool()):
            return CheckOutcome(
                end=CheckEnd(end),
                load=_load_of_checked(end, load_message),
                error=message_to_error(error) if error is not None else None,
                last_call=last_call,
            )
    raise DecodeError("a check of an unknown form")


def _load_of_checked(end: str, load_message: Any) -> LoadOutcome:
    if load_message is not None:
        return message_to_load(load_message)
    ends = [item for item in LoadEnd if item.value == end]
    return LoadOutcome(end=ends[0] if ends else LoadEnd.LOADED)


# what the zygote is asked for: a child that has the scratch folder in turn, or one of its own
IN_TURN, APART = b"t", b"a"
# what it says of a child: how it ended (see `Exit`), or why it could not be started
_ENDED, _FAILED = b"e", b"f"
_EXIT = Struct("=id?")


def pack_exit(end: Exit) -> bytes:
    """Build the report of an end."""
    return _ENDED + _EXIT.pack(*end)


def pack_failure(reason: str) -> bytes:
    """Build the report of a child that could not be started."""
    return _FAILED + reason.encode()


def unpack_report(report: bytes) -> Exit | str:
    """Read how a child ended, or why nothing is known of it."""
    if report[:1] == _ENDED and len(report) == 1 + _EXIT.size:
        return Exit(*_EXIT.unpack_from(report, 1))
    if report[:1] == _FAILED:
        return report[1:].decode()
    return "the process that watches it ended"
