"""The function that a test gets as its candidate; the real one lives in another process."""

from __future__ import annotations

import _thread
import builtins
import time
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from poor_bench.sandbox.channel import Channel, ChannelClosedError, DeadlineError
from poor_bench.sandbox.encoding import DecodeError
from poor_bench.sandbox.messages import (
    load_to_message,
    message_to_case,
    message_to_load,
    message_to_readiness,
)
from poor_bench.sandbox.plain import (
    EncodeError,
    OpaqueObject,
    describe_call,
    describe_value,
    to_plain,
)
from poor_bench.sandbox.program import CaseEnd, CheckEnd, ErrorReport, LoadEnd

_ENDS: Mapping[type[Exception], CheckEnd] = {
    DeadlineError: CheckEnd.TIMED_OUT,
    ChannelClosedError: CheckEnd.DIED,
    DecodeError: CheckEnd.GARBLED,
}
_START_TIMEOUT_S = 60.0
# raised into a test they would end its `map(candidate, ...)` early, as if all had been checked
_END_ITERATIONS = (StopIteration, StopAsyncIteration)


class CheckStoppedError(BaseException):
    """The check cannot go on; not an Exception, so that no test takes it for an expected one."""

    def __init__(self, end: CheckEnd) -> None:
        super().__init__(end.value)
        self.end = end


class CandidateError(Exception):
    """Represents an exception of the candidate that is not one of Python's own."""


class OwnObjectError(EncodeError):
    """The test passes an object that is not plain data and did not come from the candidate."""


class CandidateProxy:
    """Passes calls on to a candidate.

    Attributes:
        start_failure: Why the candidate could not be locked in; empty if it could.
        load_message: How loading the candidate ended, without what is too long; None until it did.
        raised: What the last call raised in the candidate's name, if it did.
        report: What the candidate said of it.
        stopped: Why the check cannot go on; a test may have caught it.
    """

    def __init__(self, channel: Channel, name: str, call_s: float) -> None:
        """Prepare to talk.

        Args:
            channel: To the candidate, or to whoever passes messages on to it in time.
            name: Of the function.
            call_s: Wall-clock seconds for each call, where the channel knows deadlines.
        """
        self.start_failure = ""
        self.load_message: Any = None
        self.raised: BaseException | None = None
        self.report: ErrorReport | None = None
        self.stopped: CheckStoppedError | None = None
        self._channel = channel
        self._name = name
        self._call_s = call_s
        self._one_at_a_time = _thread.RLock()  # tests may call from several threads
        self._last_arguments: tuple[Sequence[Any], Mapping[str, Any]] | None = None
        self._last_value: Any = None
        self._has_returned = False

    @property
    def was_called(self) -> bool:
        """True if the test made use of the candidate."""
        return self._last_arguments is not None

    def wait_until_loaded(self) -> None:
        """Wait until the candidate is loaded.

        Raises:
            CheckStoppedError: If it cannot be loaded, or nothing is known of that.
        """
        if self.stopped is not None:
            raise self.stopped
        if self.load_message is not None:
            return
        self._wait_until_ready()
        try:
            load = message_to_load(self._receive(self._compute_next_deadline()))
        except (DeadlineError, ChannelClosedError, DecodeError) as error:
            self._stop(error)
        self.load_message = load_to_message(load)
        if load.end is not LoadEnd.LOADED:
            self.stopped = CheckStoppedError(CheckEnd.NOT_LOADED)
            raise self.stopped

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call the candidate; return what it returns, raise what it raises.

        Tests may call before it is loaded, and from several threads.
        """
        with self._one_at_a_time:
            self.wait_until_loaded()
            self._last_arguments = args, kwargs
            deadline = self._compute_next_deadline()
            try:
                request = "call", to_plain(args, self._refuse), to_plain(kwargs, self._refuse)
                self._channel.send_trusted(request, deadline)
                return self._read_value(self._receive(deadline))
            except (DeadlineError, ChannelClosedError, DecodeError, EncodeError) as error:
                self._stop(error)

    def describe_last_call(self) -> str:
        """Describe the last call; empty if there was none."""
        if self._last_arguments is None:
            return ""
        args, kwargs = self._last_arguments
        call = describe_call(self._name, args, kwargs)
        if self.raised is None and self.stopped is None:
            call += f" returned {describe_value(self._last_value)}"
        return call

    def _wait_until_ready(self) -> None:
        try:
            message = self._channel.receive(time.monotonic() + _START_TIMEOUT_S)
            self.start_failure = message_to_readiness(message)
        except (DeadlineError, ChannelClosedError, DecodeError) as error:
            self.start_failure = f"its process does not start: {type(error).__name__}"
        if self.start_failure:
            self.stopped = CheckStoppedError(CheckEnd.NOT_LOADED)
            raise self.stopped

    def _compute_next_deadline(self) -> float:
        return time.monotonic() + self._call_s

    def _receive(self, deadline: float) -> Any:
        message = self._channel.receive(deadline)
        match message:
            case ("silent", "timed out"):
                raise DeadlineError
            case ("silent", "died"):
                raise ChannelClosedError
        return message

    def _read_value(self, reply: Any) -> Any:
        self.raised = self.report = None
        outcome = message_to_case(reply)
        if outcome.end is CaseEnd.RETURNED:
            self._has_returned = True
            self._last_value = outcome.value
            return outcome.value
        if outcome.error is not None:
            self.report = outcome.error
            self.raised = _make_exception(outcome.error)
        else:
            self.raised = CandidateError(f"returned {outcome.cause}")
        raise self.raised

    def _refuse(self, type_name: str) -> NoReturn:
        if type_name == OpaqueObject.__name__:
            raise EncodeError("the test passes on an object that the candidate returned")
        raise OwnObjectError(f"an object of type {type_name}")

    def _stop(self, error: Exception) -> NoReturn:
        self.stopped = CheckStoppedError(self._choose_end(error))
        raise self.stopped from error

    def _choose_end(self, error: Exception) -> CheckEnd:
        if isinstance(error, EncodeError):
            # what cannot be sent was made from what the candidate returned, if it returned anything
            is_broken = isinstance(error, OwnObjectError) or not self._has_returned
            return CheckEnd.BROKEN if is_broken else CheckEnd.FAILED
        return _ENDS[type(error)]


def _make_exception(report: ErrorReport) -> BaseException:
    kind = getattr(builtins, report.type_name, None)
    said = f"{report.type_name}: {report.message}"
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        return CandidateError(said)
    if issubclass(kind, _END_ITERATIONS):
        return RuntimeError(f"candidate raised {said}")  # as generators do, PEP 479
    try:
        return kind(report.message)
    except TypeError:
        return CandidateError(said)
