"""Error of a judge that cannot be reached or read."""

from __future__ import annotations

from poor_bench.errors import RecordedError
from poor_bench.judge.judgement import Judgement
from poor_bench.models.failure import FailureKind


class JudgeError(RecordedError):
    """The judgement failed; recorded as a failure, never as a score.

    Where a provider failed, its error is the `__cause__`.

    Attributes:
        fallback: The judgement that stands in, with what the attempts cost.
        is_too_long: Whether fewer cases at once might be judged: prompt or reply had no room.
    """

    def __init__(
        self, message: str, fallback: Judgement, *, hint: str = "", is_too_long: bool = False
    ) -> None:
        super().__init__(message, kind=FailureKind.JUDGE, hint=hint)
        self.fallback = fallback
        self.is_too_long = is_too_long
