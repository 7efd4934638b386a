"""Notes about batches at providers: what was submitted, so that nothing is lost or paid twice.

```
batches/<key>.jsonl            journal: the intent as its header, then one line per step
batches/<key>.requests.jsonl   the requests, one a line, as they were built
batches/<key>.results.jsonl    the provider's answers, once they are fetched
batches/closed/<key>.jsonl     notes of batches that are done with
batches/refused.json           by LLM: parts of requests that are left out; may be deleted
```

The intent is on the disk before anything is sent. A batch without the step `submitted` is looked
up at its provider by its key. Notes hold no keys of providers.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from poor_bench.config.document import UnreadableError, read_text, write_atomically
from poor_bench.errors import StoreError
from poor_bench.models.completion import ChatRequest, Message
from poor_bench.runs.journal import JournalWriter, dump_record, read_header, read_journal
from poor_bench.safe_files import open_regular, tell_os_errors

VERSION = 1
_CLOSED = "closed"
_REFUSED = "refused.json"


class BatchedTrial(NamedTuple):
    """One trial in a batch."""

    test_id: str
    trial: int


class SentRequest(NamedTuple):
    """A request as it is kept: without the key of its LLM, should the prompt hold it."""

    request: ChatRequest
    fingerprint: str
    """Of the request as it was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchNote:
    """What is known here of one batch."""

    key: str
    llm_id: str
    created: str
    """ISO 8601, UTC."""
    items: tuple[BatchedTrial, ...]
    """The number of an item is the end of its custom id."""
    after: str = ""
    """The account's newest batch before this one was submitted."""
    cost_usd: float | None = None
    """Estimated; None without prices."""
    batch_id: str = ""
    """The provider's id; empty until the submission is known to have succeeded."""
    run_ids: tuple[str, ...] = ()
    """Runs that began to store its answers."""
    cut_at: int | None = None
    """Size of the result file when it was found to be cut off."""
    outcome: str = ""
    """Why it was closed; empty while it is open."""
    counts: Mapping[str, int] = field(default_factory=dict)

    def custom_id(self, number: int) -> str:
        """Name one request to the provider."""
        return f"{self.key}-{number}"


class BatchNotes:
    """The notes of one workspace; one process at a time changes them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def list_open(self) -> list[BatchNote]:
        """Read the notes of batches that were not collected yet, the oldest first.

        Raises:
            StoreError: If one of them is not readable: its tests may be in a batch.
        """
        notes = (self._read(path) for path in self._paths(self.folder))
        return sorted((note for note in notes if note), key=_sort_by_age)

    def list_closed(self) -> list[BatchNote]:
        """Read the notes of batches that are done with, the oldest first."""
        notes = (self._read(path) for path in self._paths(self.folder / _CLOSED))
        return sorted((note for note in notes if note), key=_sort_by_age)

    def requests_file(self, note: BatchNote) -> Path:
        """Find the file of a batch's requests."""
        return self.folder / f"{note.key}.requests.jsonl"

    def results_file(self, note: BatchNote) -> Path:
        """Find the file that a batch's answers are fetched into."""
        return self.folder / f"{note.key}.results.jsonl"

    def begin(self, note: BatchNote, requests: Iterable[SentRequest]) -> None:
        """Write down what is about to be submitted.

        Raises:
            StoreError: If it cannot be written; nothing may be submitted then.
        """
        with tell_os_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            with self.requests_file(note).open("wb") as stream:
                for request in requests:
                    stream.write(_dump_request(request) + b"\n")
                stream.flush()
                os.fsync(stream.fileno())
        header = {
            "version": VERSION,
            "kind": "batch",
            "key": note.key,
            "llm_id": note.llm_id,
            "started": note.created,
            "after": note.after,
            "cost_usd": note.cost_usd,
            "items": [list(item) for item in note.items],
        }
        JournalWriter(self._path(note), header).close()

    def add(self, note: BatchNote, step: str, **facts: Any) -> None:
        """Write down a step: `submitted`, `collecting`, `cut` or `closed`.

        Raises:
            StoreError: If it cannot be written.
        """
        with closing(JournalWriter(self._path(note), None)) as journal:
            journal.append_record({"step": step, **facts})

    def close(self, note: BatchNote, outcome: str, *, keep_results: bool = False) -> None:
        """Be done with a batch; its tests are not in a batch any more.

        Args:
            note: Of the batch.
            outcome: Why, in one sentence.
            keep_results: True if the provider's file holds something that has no place.

        Raises:
            StoreError: If it cannot be written.
        """
        self.add(note, "closed", outcome=outcome, counts=dict(note.counts))
        path, closed = self._path(note), self.folder / _CLOSED
        with tell_os_errors(path):
            closed.mkdir(exist_ok=True)
            path.replace(closed / path.name)
            self.requests_file(note).unlink(missing_ok=True)
            path.with_suffix(".lock").unlink(missing_ok=True)
            if not keep_results:
                self.results_file(note).unlink(missing_ok=True)

    def load_refused(self) -> dict[str, list[str]]:
        """Load what each LLM refused in its batches; a file that cannot be read counts as empty."""
        from pydantic import TypeAdapter

        try:
            text = read_text(self.folder / _REFUSED)
            return TypeAdapter(dict[str, list[str]]).validate_json(text)
        except (UnreadableError, ValueError):
            return {}

    def note_refused(self, llm_id: str, refused: Iterable[str]) -> None:
        """Write down what an LLM refused.

        Raises:
            ConfigError: If it cannot be written.
        """
        known = self.load_refused()
        added = sorted({*known.get(llm_id, ()), *refused})
        if added != known.get(llm_id, []):
            content = orjson.dumps(known | {llm_id: added}, option=orjson.OPT_INDENT_2)
            write_atomically(self.folder / _REFUSED, content.decode() + "\n")

    def _path(self, note: BatchNote) -> Path:
        return self.folder / f"{note.key}.jsonl"

    def _paths(self, folder: Path) -> Iterator[Path]:
        return (path for path in folder.glob("*.jsonl") if "." not in path.stem)

    def _read(self, path: Path) -> BatchNote | None:
        """Read a note; None for one whose first line was never completed: nothing was sent."""
        damaged: list[int] = []
        with tell_os_errors(path), open_regular(path) as stream:
            if _is_torn(stream.readline()):
                return None
            stream.seek(0)
            steps = [line.record for line in read_journal(stream, damaged.append)]
        if damaged:
            raise _make_unreadable_error(path, f"line {damaged[0]} is damaged")
        try:
            return _build_note(read_header(path), steps)
        except (KeyError, TypeError, ValueError) as error:
            raise _make_unreadable_error(path, "it is not a note of a batch") from error


def make_key() -> str:
    """Make a key that no other batch has."""
    return secrets.token_hex(8)


def read_request(line: bytes) -> SentRequest:
    """Read a line of a file of requests.

    Raises:
        ValueError: If it is not one.
    """
    value = orjson.loads(line)
    messages = tuple(Message(role, content, n) for role, content, n in value["messages"])
    request = ChatRequest(messages=messages, parameters=value["parameters"])
    return SentRequest(request, value["fingerprint"])


def _dump_request(sent: SentRequest) -> bytes:
    messages = [[each.role, each.content, each.n_stable] for each in sent.request.messages]
    parameters = dict(sent.request.parameters)
    return dump_record(
        {"messages": messages, "parameters": parameters, "fingerprint": sent.fingerprint}
    )


def _is_torn(first: bytes) -> bool:
    start = b'{"run":'
    return not first.endswith(b"\n") and first[: len(start)] == start[: len(first)]


def _build_note(header: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> BatchNote:
    if header["kind"] != "batch" or header["version"] != VERSION:
        raise ValueError("another kind or version")
    known = {step["step"]: step for step in steps}
    cost = header.get("cost_usd")
    return BatchNote(
        key=str(header["key"]),
        llm_id=str(header["llm_id"]),
        created=str(header["started"]),
        after=str(header.get("after", "")),
        cost_usd=None if cost is None else float(cost),
        items=tuple(BatchedTrial(str(test_id), int(trial)) for test_id, trial in header["items"]),
        batch_id=str(known.get("submitted", {}).get("batch_id", "")),
        run_ids=tuple(str(step["run_id"]) for step in steps if step["step"] == "collecting"),
        cut_at=known.get("cut", {}).get("n_bytes"),
        outcome=str(known.get("closed", {}).get("outcome", "")),
        counts=known.get("closed", {}).get("counts", {}),
    )


def _sort_by_age(note: BatchNote) -> tuple[str, str]:
    return note.created, note.key


def _make_unreadable_error(path: Path, reason: str) -> StoreError:
    return StoreError(
        f"{path}: {reason}",
        hint="Its tests may be in a batch. Look at your batches at the provider, then move the "
        "file out of the folder.",
    )
