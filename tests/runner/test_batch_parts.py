"""The pure parts of batches: how trials are divided, and how files of results are read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.errors import StoreError
from poor_bench.models.completion import ChatRequest, Message
from poor_bench.models.llm import LLM
from poor_bench.models.test import Test
from poor_bench.runner.batches.answers import index_answers
from poor_bench.runner.batches.submit import PricedItem, split
from poor_bench.runner.plan import WorkItem
from poor_bench.runs.batch_notes import (
    BatchedTrial,
    BatchNote,
    BatchNotes,
    SentRequest,
    read_request,
)

NOTE = BatchNote(
    key="k",
    llm_id="x:a",
    created="2026-01-02T03:04:05+00:00",
    items=tuple(BatchedTrial(f"t{n}", 1) for n in range(5)),
)


class SizedApi:
    """Takes a few requests and bytes; a line is as long as its prompt."""

    def __init__(self, most_items: int, most_bytes: int) -> None:
        self.most_items = most_items
        self.most_bytes = most_bytes

    def line(self, custom_id: str, request: ChatRequest) -> bytes:
        return request.messages[0].content.encode()


def items(sizes: list[int]) -> list[PricedItem]:
    llm = LLM(id="x:a", provider="x", name="a")
    tests = (Test(test_id=str(n), class_id="c", level=1, text="x" * n) for n in sizes)
    return [PricedItem(WorkItem(llm, test, 1), None, None, 0.0) for test in tests]


def ask(item: WorkItem) -> ChatRequest:
    return ChatRequest(messages=(Message("user", str(item.test.text)),))


@given(
    sizes=st.lists(st.integers(0, 30)),
    most_items=st.integers(1, 5),
    most_bytes=st.integers(1, 40),
)
def test_all_trials_are_divided_within_the_limits(
    sizes: list[int], most_items: int, most_bytes: int
) -> None:
    api: Any = SizedApi(most_items, most_bytes)
    chunks = list(split(items(sizes), ask, api))
    assert [each for chunk in chunks for each in chunk.items] == items(sizes)
    for chunk in chunks:
        assert 0 < len(chunk.items) <= most_items
        assert chunk.n_bytes <= most_bytes or len(chunk.items) == 1


def line(custom_id: str) -> bytes:
    return json.dumps({"custom_id": custom_id}).encode() + b"\n"


@given(st.lists(st.sampled_from(["k-0", "k-1", "k-4", "k-5", "k--1", "other-0", "k", "", "k-²"])))
def test_each_answer_is_found_once_and_the_rest_is_counted(ids: list[str]) -> None:
    content = [line(each) for each in ids]
    index = index_answers(content, NOTE)
    whole = b"".join(content)
    ours = {"k-0", "k-1", "k-4"} & set(ids)
    assert {f"k-{number}" for number in index.offsets} == ours
    for number, offset in index.offsets.items():
        assert whole[offset:].startswith(line(f"k-{number}"))
        assert whole.index(line(f"k-{number}")) == offset
    assert index.n_duplicates == sum(each in ours for each in ids) - len(ours)
    assert index.n_unknown == sum(each not in ours for each in ids)
    assert (index.bad_line, index.n_bytes) == (None, len(whole))


@given(st.lists(st.binary(max_size=40)))
def test_any_bytes_are_read_without_a_crash(lines: list[bytes]) -> None:
    index = index_answers(lines, NOTE)
    assert index.n_bytes == sum(map(len, lines))
    assert not index.offsets


def sent(text: str = "2+2?") -> SentRequest:
    request = ChatRequest(messages=(Message("user", text, 2),), parameters={"max_tokens": 9})
    return SentRequest(request, "00ff")


def test_a_note_tells_its_steps_after_a_restart(tmp_path: Path) -> None:
    notes = BatchNotes(tmp_path / "batches")
    notes.begin(NOTE, [sent()] * 5)
    assert BatchNotes(notes.folder).list_open() == [NOTE]
    notes.add(NOTE, "submitted", batch_id="batch_1")
    notes.add(NOTE, "collecting", run_id="r1")
    known = replace(NOTE, batch_id="batch_1", run_ids=("r1",))
    assert BatchNotes(notes.folder).list_open() == [known]
    first = notes.requests_file(NOTE).read_bytes().splitlines()[0]
    assert read_request(first) == sent()
    notes.close(NOTE, "collected")
    assert notes.list_open() == []
    assert [note.outcome for note in notes.list_closed()] == ["collected"]
    assert [path.name for path in notes.folder.iterdir()] == ["closed"]


def test_a_step_that_was_torn_does_not_count(tmp_path: Path) -> None:
    notes = BatchNotes(tmp_path / "batches")
    notes.begin(NOTE, [sent()])
    path = tmp_path / "batches" / "k.jsonl"
    with path.open("ab") as stream:
        stream.write(b'{"step":"submitted","batch_id":"ba')
    assert notes.list_open() == [NOTE]
    notes.add(NOTE, "submitted", batch_id="batch_2")
    assert [note.batch_id for note in notes.list_open()] == ["batch_2"]


@given(cut=st.integers(0, 400))
def test_a_first_line_that_was_torn_means_that_nothing_was_sent(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    notes = BatchNotes(tmp_path_factory.mktemp("notes") / "batches")
    notes.begin(NOTE, [])
    path = notes.folder / "k.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[: min(cut, len(whole) - 1)])
    assert notes.list_open() == []


def test_a_note_of_a_newer_version_is_not_ignored(tmp_path: Path) -> None:
    notes = BatchNotes(tmp_path / "batches")
    notes.begin(NOTE, [])
    path = tmp_path / "batches" / "k.jsonl"
    path.write_bytes(b'{"run":{"kind":"batch","version":2,"key":"k"}}\n')
    with pytest.raises(StoreError, match="not a note of a batch"):
        notes.list_open()
