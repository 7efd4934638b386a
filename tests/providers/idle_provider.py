"""What fakes of LLMs have in common: nothing to load, always there."""

from __future__ import annotations

from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.ports import CallControl, Reachability


class IdleProvider:
    """A provider of which a test writes `complete`."""

    def complete(self, request: ChatRequest, control: CallControl) -> Completion:
        raise NotImplementedError

    def preload(self, control: CallControl) -> float | None:
        return None

    def unload(self) -> None: ...

    def check(self) -> Reachability:
        return Reachability(reachable=True)

    def close(self) -> None: ...
