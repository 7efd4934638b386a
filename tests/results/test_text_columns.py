"""Columns that are worked out from texts once, and kept beside the parts of the index."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.results import index, text_columns
from poor_bench.results.joined_table import SelectedRows, join_tables
from poor_bench.results.store import open_store
from poor_bench.results.table import ResultTable
from poor_bench.results.text_columns import read_text_columns
from poor_bench.statistics.trials import (
    JoinedColumns,
    TextCodes,
    TextColumns,
    TextReader,
)

FAILURE = Failure(kind=FailureKind.TIMEOUT, message="too slow")


class Spelling:
    """A reader that counts what it reads: the responses, and their lengths."""

    def __init__(self, version: str = "") -> None:
        self.n_read = 0
        self.reader = TextReader(
            name="spelling", read=self._read, texts=("response",), fields=(), version=version
        )

    def _read(self, results: Iterable[Result]) -> TextColumns:
        texts = [result.response for result in results]
        self.n_read += len(texts)
        codes = TextCodes()
        found = np.array([codes[text] if text else -1 for text in texts], np.int64)
        lengths = np.array([len(text) << 40 for text in texts], np.int64)
        return TextColumns(
            columns={"text": found, "length": lengths}, values={"text": tuple(codes)}
        )


def read(folder: Path, spelling: Spelling) -> list[str]:
    """Read the responses of a workspace as another process would: in the order of its table."""
    return spell(open_store(folder).table(), spelling)


def spell(table: ResultTable, spelling: Spelling) -> list[str]:
    found = read_text_columns(table, spelling.reader)
    texts = [found.values["text"][code] if code >= 0 else "" for code in found.columns["text"]]
    assert found.columns["length"].tolist() == [len(text) << 40 for text in texts]
    assert texts == [each.response for each in table.whole(range(len(table)), ("response",))]
    return texts


def answer(number: int, text: str = "", llm_id: str = "a:b") -> Result:
    said = text or f"answer {number % 5}"
    return Result(llm_id=llm_id, test_id=f"t{number}", score=0.5, response=said)


def add(folder: Path, results: Iterable[Result], run_id: str) -> None:
    open_store(folder).add(results, run_id, {})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(index, "_PART_ROWS", 4)
    monkeypatch.setenv("POOR_BENCH_RESULTS_LIMIT", "0")
    add(tmp_path, map(answer, range(10)), "20260101T000000-a")
    return tmp_path


def kept(folder: Path) -> list[Path]:
    return sorted((folder / "index").rglob("*.columns"))


def test_texts_are_read_once(folder: Path) -> None:
    first, again = Spelling(), Spelling()
    assert read(folder, first) == read(folder, again)
    assert (first.n_read, again.n_read) == (10, 0)


def test_after_another_run_only_its_results_are_read(folder: Path) -> None:
    read(folder, Spelling())
    new = [answer(3, "new"), *(answer(number, llm_id="c:d") for number in range(6))]
    add(folder, new, "20260102T000000-b")
    later = Spelling()
    assert "new" in read(folder, later)
    assert later.n_read == len(new)


def test_few_results_without_a_part_are_read_every_time(folder: Path) -> None:
    read(folder, Spelling())
    add(folder, [answer(3, "new")], "20260102T000000-b")
    for _ in range(2):
        later = Spelling()
        assert "new" in read(folder, later)
        assert later.n_read == 1


def test_results_that_were_left_out_at_first_are_added(folder: Path) -> None:
    table = open_store(folder).table()
    spell(table.select(np.arange(len(table)) % 3 == 0), Spelling())
    rest, again = Spelling(), Spelling()
    read(folder, rest)
    read(folder, again)
    assert (rest.n_read, again.n_read) == (6, 0)


def test_rows_that_others_keep_meanwhile_stay(folder: Path) -> None:
    """A model is opened while the report of all models reads the same part."""
    table, report, model = open_store(folder).table(), Spelling(), Spelling()

    def read_slowly(results: Iterable[Result]) -> TextColumns:
        known = [*results]
        read(folder, report)
        return model.reader.read(known)

    some = table.select(np.arange(len(table)) % 3 == 0)
    read_text_columns(some, replace(model.reader, read=read_slowly))
    again = Spelling()
    assert read(folder, again)
    assert (report.n_read, again.n_read) == (10, 0)


def test_other_knowledge_of_the_reader_reads_again(folder: Path) -> None:
    read(folder, Spelling("tests of today"))
    changed = Spelling("tests of tomorrow")
    read(folder, changed)
    assert changed.n_read == 10
    assert len(kept(folder)) == 1


def test_other_code_reads_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read(folder, Spelling())
    monkeypatch.setattr(text_columns, "digest_code", lambda: "another")
    changed = Spelling()
    read(folder, changed)
    assert changed.n_read == 10


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-30])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.slow(reason="a store for each damage")
@pytest.mark.parametrize("damage", [cut, flip, empty, Path.unlink])
def test_a_damaged_file_is_made_again(folder: Path, damage: Callable[[Path], None]) -> None:
    read(folder, Spelling())
    damage(kept(folder)[0])
    later, again = Spelling(), Spelling()
    read(folder, later)
    read(folder, again)
    assert (later.n_read, again.n_read) == (10, 0)


def test_without_space_they_are_worked_out_every_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", refuse)
    later = Spelling()
    assert len(read(folder, later)) == 10
    assert kept(folder) == []
    assert not [path for path in (folder / "index").rglob(".*") if path.is_file()]


def test_rows_of_several_tables_share_what_is_kept(folder: Path) -> None:
    table = open_store(folder).table()
    spell(table, Spelling())
    rows = np.array([7, 2, 9])
    both = join_tables([SelectedRows("x", table, rows), SelectedRows("y", table, np.arange(10))])
    later = Spelling()
    spell(both, later)
    assert later.n_read == 0


def test_newer_failures_have_an_entry_too(folder: Path) -> None:
    failed = replace(answer(1), score=None, failure=FAILURE, response="")
    add(folder, [failed], "20260102T000000-b")
    assert len(read(folder, Spelling())) == 11


def test_progress_ends_with_all_rows(folder: Path) -> None:
    told: list[int] = []
    read_text_columns(open_store(folder).table(), Spelling().reader, told.append)
    assert told[-1] == 10


@given(st.lists(st.lists(st.sampled_from(["", "a", "b", "c"])), min_size=1))
def test_joined_columns_are_those_of_all_results(pieces: list[list[str]]) -> None:
    def results(texts: list[str]) -> list[Result]:
        return [Result(llm_id="a", test_id="t", score=0.0, response=text) for text in texts]

    spelling = Spelling().reader
    ends = np.cumsum([0, *map(len, pieces)])
    filled = JoinedColumns(ends[-1])
    for texts, start, end in zip(pieces, ends[:-1], ends[1:], strict=True):
        filled.put(np.arange(start, end), spelling.read(results(texts)))
    joined = filled.columns()
    whole = spelling.read(results([text for texts in pieces for text in texts]))
    assert joined.columns["length"].tolist() == whole.columns["length"].tolist()
    names = [
        [found.values["text"][code] if code >= 0 else "" for code in found.columns["text"]]
        for found in (joined, whole)
    ]
    assert names[0] == names[1]


def test_the_digest_of_readers_changes_with_the_phrases_of_refusals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = text_columns.digest_code()
    package = tmp_path / "poor_bench"
    for name in text_columns._CODE:
        copytree(Path(text_columns.__file__).parents[1] / name, package / name)
    monkeypatch.setattr(text_columns, "__file__", str(package / "results" / "text_columns.py"))
    digest_now = text_columns.digest_code.__wrapped__
    assert digest_now() == before
    with (package / "extraction" / "refusal_phrases.toml").open("a") as phrases:
        phrases.write("# changed\n")
    assert digest_now() != before
