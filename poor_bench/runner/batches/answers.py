"""Answers of a batch that has ended: the file of results, where each stands in it, its faults."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from poor_bench.errors import ProviderError
from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.ports import BatchApi, BatchProgress, BatchState
from poor_bench.providers.chat_wire import read_text
from poor_bench.providers.transport.reply import MalformedJsonError, load_json
from poor_bench.runs.batch_notes import BatchNote, SentRequest, read_request
from poor_bench.safe_files import open_regular


@dataclass(slots=True)
class AnswerIndex:
    """Where the answers stand in a file of results, and what is wrong with the file."""

    offsets: dict[int, int] = field(default_factory=dict)
    """Number of a request to the place of its answer in bytes; the first one if there are two."""
    n_duplicates: int = 0
    n_unknown: int = 0
    """Answers to requests that were not sent."""
    bad_line: int | None = None
    """Number, from 1, of the first line that is not JSON."""
    n_bytes: int = 0


def index_answers(lines: Iterable[bytes], note: BatchNote) -> AnswerIndex:
    """Find the answers of a batch among lines with their ends."""
    index = AnswerIndex()
    for number, line in enumerate(lines, start=1):
        if line.strip():
            _take_line(index, line, number, note)
        index.n_bytes += len(line)
    return index


def _take_line(index: AnswerIndex, line: bytes, number: int, note: BatchNote) -> None:
    try:
        custom_id = read_text(load_json(line), "custom_id")
    except MalformedJsonError:
        index.bad_line = index.bad_line or number
        return
    key, _, end = custom_id.rpartition("-")
    item = int(end) if end.isdecimal() and end.isascii() and len(end) < 9 else -1
    if key != note.key or not 0 <= item < len(note.items):
        index.n_unknown += 1
    elif item in index.offsets:
        index.n_duplicates += 1
    else:
        index.offsets[item] = index.n_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAnswers:
    """The answers of a batch that has ended."""

    note: BatchNote
    llm: LLM
    api: BatchApi
    progress: BatchProgress
    results: Path
    requests: Path
    index: AnswerIndex
    request_offsets: tuple[int, ...]

    @property
    def is_cut(self) -> bool:
        """True if the file of results has fewer answers than the provider must have written."""
        lacks = self.progress.has_all_lines and len(self.index.offsets) < len(self.note.items)
        return self.index.bad_line is not None or lacks

    def describe_faults(self) -> list[str]:
        """Say what is wrong with the file of results, one sentence each."""
        batch = f"batch {self.note.batch_id}"
        index, faults = self.index, []
        if index.n_duplicates:
            faults.append(
                f"{batch} holds {index.n_duplicates} duplicated custom ids; the first answer counts"
            )
        if index.n_unknown:
            faults.append(
                f"{batch} holds {index.n_unknown} answers to requests that were not sent; "
                f"they are kept in {self.results}"
            )
        return faults

    def read_request(self, number: int) -> SentRequest:
        """Read a request as it was sent."""
        with open_regular(self.requests) as stream:
            stream.seek(self.request_offsets[number])
            return read_request(stream.readline())

    def read_answer(self, number: int, request: ChatRequest) -> Completion:
        """Read the answer to a request.

        Raises:
            ProviderError: If there is none; its kind says why.
        """
        offset = self.index.offsets.get(number)
        if offset is None:
            raise self._explain_missing()
        with open_regular(self.results) as stream:
            stream.seek(offset)
            line = stream.readline()
        try:
            return self.api.read(load_json(line), request)
        except MalformedJsonError as error:
            raise self._explain_missing() from error

    def _explain_missing(self) -> ProviderError:
        if self.progress.error is not None:
            return self.progress.error
        kinds = {
            BatchState.EXPIRED: (FailureKind.TIMEOUT, "expired before it answered this request"),
            BatchState.CANCELLED: (FailureKind.CANCELLED, "was cancelled before it answered this"),
        }
        unanswered = FailureKind.MALFORMED_REPLY, "ended without an answer to this request"
        kind, what = kinds.get(self.progress.state, unanswered)
        return ProviderError(f"the batch {what}", kind=kind)


def find_lines(path: Path) -> tuple[int, ...]:
    """Find where the lines of a file begin, in bytes."""
    offsets, position = [], 0
    with open_regular(path) as stream:
        for line in stream:
            offsets.append(position)
            position += len(line)
    return tuple(offsets)
