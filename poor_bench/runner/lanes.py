"""Who runs when: LLMs of one local endpoint after each other, everything else side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from poor_bench.llm_manager import LLMManager
from poor_bench.runner.control import RunControl
from poor_bench.runner.events import LLMFinished
from poor_bench.runner.llm_run import LLMRun
from poor_bench.runner.work import Execute, Item, Sink, Work

AnyWork = TypeVar("AnyWork", bound=Work[object])


def lanes_of(works: Sequence[AnyWork], manager: LLMManager) -> list[list[AnyWork]]:
    """Return the work in lanes: lanes run side by side, the LLMs of a lane after each other.

    LLMs of one local endpoint share a lane, so that one model is in memory at a time; models that
    stand several times with other parameters follow each other and are loaded once.
    """
    lanes: dict[str, list[AnyWork]] = {}
    for work in works:
        local = manager.is_local(work.llm)
        key = manager.endpoint_key(work.llm) if local else f"hosted {work.llm.id}"
        lanes.setdefault(key, []).append(work)
    for lane in lanes.values():
        first = {work.llm.name: position for position, work in reversed(list(enumerate(lane)))}
        lane.sort(key=lambda work: first[work.llm.name])
    return list(lanes.values())


class LaneRunner(Generic[Item]):
    """Runs one lane."""

    def __init__(
        self,
        manager: LLMManager,
        executor: Execute[Item],
        progress: Sink,
        control: RunControl,
    ) -> None:
        self._manager = manager
        self._executor = executor
        self._progress = progress
        self._control = control

    def run(self, lane: Sequence[Work[Item]]) -> None:
        """Run all LLMs of a lane; returns when all ended, were skipped or the run was stopped."""
        for position, work in enumerate(lane):
            if self._control.cancelled():
                return
            LLMRun(self._manager, self._executor, self._progress, self._control, work).run()
            following = lane[position + 1].llm if position + 1 < len(lane) else None
            if following is not None and following.name != work.llm.name:
                self._manager.unload(work.llm)
            self._progress.tell(LLMFinished(llm_id=work.llm.id))
