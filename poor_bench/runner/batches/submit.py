"""Submit what is pending, within the limits of the provider and of the budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from poor_bench.errors import ProviderError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import ChatRequest, Message, sum_known
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.ports import BatchApi
from poor_bench.prompts import request_fingerprint
from poor_bench.runner.plan import LLMWork, Plan, WorkItem
from poor_bench.runs.batch_notes import BatchedTrial, BatchNote, BatchNotes, SentRequest, make_key

_UNKNOWN_STATUSES = frozenset({408, 409, 425})
_NOT_SENT = frozenset({FailureKind.AUTH, FailureKind.BAD_REQUEST, FailureKind.SETTINGS})


class PricedItem(NamedTuple):
    """A trial, and about what it costs in US dollars; None without prices."""

    item: WorkItem
    batch_usd: float | None
    live_usd: float | None
    judge_usd: float


@dataclass(slots=True)
class Submission:
    """What was submitted, and what was not and why."""

    notes: list[BatchNote] = field(default_factory=list)
    n_submitted: int = 0
    batch_usd: float = 0.0
    """Estimated cost of what was submitted, without judges."""
    live_usd: float = 0.0
    """The same, asked live."""
    judge_usd: float = 0.0
    unbatched: dict[str, int] = field(default_factory=dict)
    """LLM id to its trials that stay pending, since its provider takes no batches."""
    n_over_limit: int = 0
    """Trials that stay pending, since they would exceed the cost limit."""
    problems: list[str] = field(default_factory=list)
    refused: dict[str, list[str]] = field(default_factory=dict)
    """LLM id to what it refused in an earlier batch, so that it was not sent."""

    def add(self, note: BatchNote, chunk: Chunk) -> None:
        """Count a batch that was submitted."""
        self.notes.append(note)
        self.n_submitted += len(chunk.items)
        self.batch_usd += sum(each.batch_usd or 0.0 for each in chunk.items)
        self.live_usd += sum(each.live_usd or 0.0 for each in chunk.items)
        self.judge_usd += sum(each.judge_usd for each in chunk.items)


@dataclass(slots=True)
class Chunk:
    """The trials of one batch, with their requests."""

    items: list[PricedItem] = field(default_factory=list)
    requests: list[ChatRequest] = field(default_factory=list)
    n_bytes: int = 0

    def has_room(self, n_bytes: int, api: BatchApi) -> bool:
        """True if one more request of this size fits; a batch without any takes every size."""
        fits = len(self.items) < api.most_items and self.n_bytes + n_bytes <= api.most_bytes
        return fits or not self.items

    def add(self, item: PricedItem, request: ChatRequest, n_bytes: int) -> None:
        """Take one more request."""
        self.items.append(item)
        self.requests.append(request)
        self.n_bytes += n_bytes

    @property
    def cost_usd(self) -> float | None:
        """Estimated cost; None without prices."""
        return sum_known(each.batch_usd for each in self.items)


def split(
    items: Iterable[PricedItem], build: Callable[[WorkItem], ChatRequest], api: BatchApi
) -> Iterator[Chunk]:
    """Divide trials into batches that keep to the limits of an API."""
    chunk = Chunk()
    for item in items:
        request = build(item.item)
        n_bytes = len(api.line("0" * 24, request)) + 1
        if not chunk.has_room(n_bytes, api):
            yield chunk
            chunk = Chunk()
        chunk.add(item, request, n_bytes)
    if chunk.items:
        yield chunk


class Submitter:
    """Submits the trials of a plan."""

    def __init__(
        self,
        notes: BatchNotes,
        manager: LLMManager,
        build: Callable[[WorkItem], ChatRequest],
        price: Callable[[WorkItem], PricedItem],
    ) -> None:
        """Prepare to submit.

        Args:
            notes: Of the workspace.
            manager: Asks the providers.
            build: Builds the request of a trial.
            price: Estimates what a trial costs.
        """
        self._notes = notes
        self._manager = manager
        self._build = build
        self._price = price

    def submit(
        self, plan: Plan, limit_usd: float = math.inf, cancelled: Callable[[], bool] = lambda: False
    ) -> Submission:
        """Submit what is planned; what cannot be submitted stays pending.

        Raises:
            StoreError: If a note cannot be written; nothing was submitted without one.
            RunCancelledError: If `cancelled()` turned true.
        """
        done = Submission()
        left_usd = limit_usd
        for work in plan.works:
            if not self._manager.takes_batches(work.llm):
                done.unbatched[work.llm.id] = len(work)
                continue
            affordable = _Affordable(map(self._price, work.items()), left_usd)
            self._submit_work(work, affordable, done, cancelled)
            left_usd = affordable.left_usd
            done.n_over_limit += affordable.n_left_out
        return done

    def _submit_work(
        self,
        work: LLMWork,
        items: Iterable[PricedItem],
        done: Submission,
        cancelled: Callable[[], bool],
    ) -> None:
        api = self._manager.open_batches(work.llm)
        if refused := self._notes.load_refused().get(work.llm.id):
            api.leave_out(refused)
            done.refused[work.llm.id] = refused
        for chunk in split(items, self._build, api):
            try:
                done.add(self._submit_chunk(work.llm, chunk, cancelled), chunk)
            except ProviderError as error:
                hint = f" ({error.hint})" if error.hint else ""
                done.problems.append(f"{work.llm.id}: {error}{hint}")
                return

    def _submit_chunk(self, llm: LLM, chunk: Chunk, cancelled: Callable[[], bool]) -> BatchNote:
        """Write the intent down, submit, and write the provider's id down."""
        after = self._manager.call_batches(
            llm, lambda api, control: api.find_newest(control), cancelled
        )
        note = BatchNote(
            key=make_key(),
            llm_id=llm.id,
            created=self._manager.clock.now_iso(),
            items=tuple(BatchedTrial(i.item.test.test_id, i.item.trial) for i in chunk.items),
            after=after,
            cost_usd=chunk.cost_usd,
        )
        self._notes.begin(note, (self._without_key(llm, each) for each in chunk.requests))
        batch_id = self._send(llm, note, chunk, cancelled)
        self._notes.add(note, "submitted", batch_id=batch_id)
        return note

    def _send(self, llm: LLM, note: BatchNote, chunk: Chunk, cancelled: Callable[[], bool]) -> str:
        def number_requests(api: BatchApi) -> Iterator[bytes]:
            for number, request in enumerate(chunk.requests):
                yield api.line(note.custom_id(number), request)

        try:
            return self._manager.call_batches(
                llm,
                lambda api, control: api.submit(note.key, number_requests(api), control),
                cancelled,
                is_submission=True,
            )
        except ProviderError as error:
            if _was_refused(error):
                self._notes.close(note, f"not submitted: {error}")
            raise

    def _without_key(self, llm: LLM, request: ChatRequest) -> SentRequest:
        """Make what is kept of a request; its fingerprint is that of what is sent."""

        def hide(message: Message) -> Message:
            content = self._manager.without_key(llm, message.content)
            is_same = content == message.content
            return message if is_same else Message(message.role, content)

        messages = tuple(map(hide, request.messages))
        kept = ChatRequest(messages=messages, parameters=request.parameters)
        return SentRequest(kept, request_fingerprint(llm, request))


class _Affordable:
    """Yields trials as long as their estimated costs keep to a limit."""

    def __init__(self, items: Iterable[PricedItem], left_usd: float) -> None:
        self._items = items
        self.left_usd = left_usd
        self.n_left_out = 0

    def __iter__(self) -> Iterator[PricedItem]:
        for each in self._items:
            cost = (each.batch_usd or 0.0) + each.judge_usd
            if self.n_left_out or cost > self.left_usd:
                self.n_left_out += 1
                continue
            self.left_usd -= cost
            yield each


def _was_refused(error: ProviderError) -> bool:
    """True if a provider surely did not take a batch; else it has to be looked up."""
    if error.status is None:
        return error.kind in _NOT_SENT
    return 400 <= error.status < 500 and error.status not in _UNKNOWN_STATUSES
