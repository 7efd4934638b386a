"""`run --shard` and `results merge` on the command line."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.main import main
from poor_bench.results.store import LIMIT_VARIABLE, open_store
from poor_bench.runs.journal import add_checksum, dump_record
from tests.conftest import WorkspaceFiles
from tests.runs.killed import kill_console


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> Path:
    workspace_files.add_tests(6)
    workspace_files.add_llm("a", "4")
    return workspace_files.write()


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def run(folder: Path, *words: str | Path, code: int = 0) -> Any:
        capsys.readouterr()
        assert main(["--data", str(folder), *map(str, words)]) == code
        printed = capsys.readouterr()
        return json.loads(printed.out) if "--json" in words and not code else printed.err

    return run


def copy_of(folder: Path, name: str) -> Path:
    return Path(shutil.copytree(folder, folder.parent / name))


def test_shards_of_copies_merge_to_what_one_run_makes(
    folder: Path, call: Callable[..., Any]
) -> None:
    whole, target = copy_of(folder, "whole"), copy_of(folder, "target")
    call(whole, "run")
    copies = [copy_of(folder, f"copy{number}") for number in (1, 2, 3)]
    for number, copy in enumerate(copies, start=1):
        plan = call(copy, "run", "--shard", f"{number}/3", "--dry-run", "--json")
        done = call(copy, "run", "--shard", f"{number}/3", "--json")
        assert plan["shard"] == done["shard"] == f"{number}/3"
        assert sum(plan["pending"].values()) == done["n_scored"]
        assert done["n_scored"] == 0 or Path(done["run_file"]).is_file()
    merged = call(target, "results", "merge", *copies, "--json")
    assert merged["n_taken"] == 6
    rows = [call(each, "results", "--json") for each in (whole, target)]
    scored = [[(row["test_id"], row["llm_id"], row["score"]) for row in side] for side in rows]
    assert sorted(scored[0]) == sorted(scored[1])
    assert call(target, "run", "--dry-run", "--json")["pending"] == {}


def test_gate_judges_merged_shards(folder: Path, call: Callable[..., Any]) -> None:
    for number in ("1/2", "2/2"):
        call(folder, "run", "--shard", number)
    assert call(folder, "results", "merge", folder, "--json")["n_closed"] == 2
    assert "6 tests" in str(call(folder, "gate", "--min-score", "1", "--json"))


@pytest.mark.parametrize("shard", ["0/0", "0/2", "5/4", "x/y"])
def test_wrong_shard_is_told_in_one_line(
    folder: Path, call: Callable[..., Any], shard: str
) -> None:
    error = call(folder, "run", "--shard", shard, code=2)
    assert f"--shard '{shard}'" in error
    assert not (folder / "journal").exists()


def run_elsewhere(folder: Path, call: Callable[..., Any], name: str = "other") -> Path:
    """Run everything in a copy; return its run file."""
    copy = copy_of(folder, name)
    return Path(call(copy, "run", "--json")["run_file"])


def test_results_that_differ_are_skipped_with_the_reason(
    workspace_files: WorkspaceFiles, call: Callable[..., Any]
) -> None:
    workspace_files.add_tests(4)
    workspace_files.add_llm("a", "4")
    workspace_files.add_llm("b", "4")
    file = run_elsewhere(workspace_files.write(), call)
    workspace_files.tests[0]["text"] = "another question"
    workspace_files.tests[1]["evaluation_module"] = {
        "name": "has_expected", "parameters": {"expected": "5"}
    }  # fmt: skip
    del workspace_files.tests[2], workspace_files.llms[1]
    folder = workspace_files.write()
    planned = call(folder, "results", "merge", file, "--dry-run", "--json")
    assert planned["skipped"] == {
        "other evaluator": 1,
        "other prompt": 1,
        "unknown model": 4,
        "unknown test": 1,
    }
    assert planned["n_taken"] == 1
    assert not (folder / "results.json").exists()
    allowed = call(folder, "results", "merge", file, "--allow", "evaluator", "--json")
    assert allowed["n_taken"] == 2
    plan = call(folder, "run", "--dry-run", "--json")
    assert (plan["pending"], plan["rescore"]) == ({"scripted:a": 1}, 1)


def write_digests(path: Path, *digests: str, llm_id: str = "scripted:a") -> Path:
    """Write a run whose results were given by models with these digests."""
    lines: list[dict[str, Any]] = [{"run": {"run_id": path.stem}}]
    for number, digest in enumerate(digests, start=1):
        moment = f"2026-01-01T00:00:0{number}+00:00"
        row = {"llm_id": llm_id, "test_id": f"sum_00{number}", "timestamp": moment}
        lines.append(row | {"score": 1.0, "model_digest": digest})
    path.write_bytes(b"".join(add_checksum(dump_record(line)) + b"\n" for line in lines))
    return path


def test_results_of_another_model_under_the_same_name_are_skipped(
    folder: Path, tmp_path: Path, call: Callable[..., Any]
) -> None:
    old = write_digests(tmp_path / "20260101T000000-a.jsonl", "sha256:1")
    new = write_digests(tmp_path / "20260102T000000-a.jsonl", "sha256:1", "sha256:2")
    merged = call(folder, "results", "merge", new, old, "--json")
    assert (merged["n_taken"], merged["skipped"]) == (1, {"other model digest": 2})
    merged = call(folder, "results", "merge", old, "--json")
    assert (merged["n_taken"], merged["skipped"]) == (0, {"other model digest": 1})
    assert call(folder, "results", "merge", old, "--allow", "model", "--json")["n_taken"] == 1


def test_merge_that_takes_nothing_names_only_a_file_that_is_there(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign = write_digests(tmp_path / "20260101T000000-a.jsonl", "sha256:1", llm_id="scripted:b")
    assert main(["--data", str(folder), "results", "merge", str(foreign)]) == 0
    assert "Results:" not in capsys.readouterr().out
    known = write_digests(tmp_path / "20260102T000000-a.jsonl", "sha256:1")
    assert main(["--data", str(folder), "results", "merge", str(known)]) == 0
    assert f"Results: {folder / 'results.json'}" in capsys.readouterr().out


def test_file_that_was_cut_gives_what_is_whole(folder: Path, call: Callable[..., Any]) -> None:
    file = run_elsewhere(folder, call)
    whole = file.read_bytes()
    file.write_bytes(whole[:-60])
    merged = call(folder, "results", "merge", file, "--json")
    assert (merged["n_taken"], merged["runs"][0]["cut"]) == (5, [str(file)])
    assert call(folder, "results", "merge", file) == ""
    file.write_bytes(whole)
    merged = call(folder, "results", "merge", file, "--json")
    assert (merged["n_taken"], merged["runs"][0]["cut"]) == (1, [])


def write_newer_format(file: Path) -> Path:
    lines = file.read_bytes().splitlines(keepends=True)
    header = {"run": {"version": "2.0", "run_id": file.stem, "poor_bench": "9.1"}}
    file.write_bytes(add_checksum(dump_record(header)) + b"\n" + b"".join(lines[1:]))
    return file


def test_bad_input_is_told_and_changes_nothing(
    folder: Path, tmp_path: Path, call: Callable[..., Any]
) -> None:
    file = run_elsewhere(folder, call)
    empty, text, bad_id = tmp_path / "empty", tmp_path / "notes.jsonl", tmp_path / "evil.jsonl"
    empty.mkdir()
    text.write_text('{"question": "?"}\n')
    bad_id.write_bytes(file.read_bytes().replace(file.stem.encode(), b"../../evil", 1))
    header = {"run": {"run_id": "../../evil"}}
    rows = file.read_bytes().splitlines(keepends=True)[1:]
    bad_id.write_bytes(add_checksum(dump_record(header)) + b"\n" + b"".join(rows))
    newer = write_newer_format(Path(shutil.copy(file, tmp_path / file.name)))
    os.mkfifo(tmp_path / "pipe.jsonl")
    told = {
        tmp_path / "gone": (2, "does not exist"),
        empty: (2, "holds no run file"),
        text: (2, "is not a run file"),
        folder / "tests.json": (2, "is not a run file"),
        bad_id: (2, "has no usable run id"),
        newer: (2, "is written in format 2.0 by poor_bench 9.1"),
        tmp_path / "pipe.jsonl": (4, "this is a pipe or a device"),
    }
    for source, (code, message) in told.items():
        error = call(folder, "results", "merge", source, code=code)
        assert message in error
        assert "Traceback" not in error
    assert not (folder / "results.json").exists()
    assert not (folder / "journal").exists()


def test_symbolic_link_is_followed_where_it_is_named(
    folder: Path, tmp_path: Path, call: Callable[..., Any]
) -> None:
    file = run_elsewhere(folder, call)
    links = tmp_path / "links"
    links.mkdir()
    (links / "link.jsonl").symlink_to(file)
    assert "symbolic link" in call(folder, "results", "merge", links, code=2)
    merged = call(folder, "results", "merge", links / "link.jsonl", "--json")
    assert merged["n_taken"] == 6


def test_run_that_is_under_way_is_waited_for(folder: Path, call: Callable[..., Any]) -> None:
    file = run_elsewhere(folder, call)
    journal = open_store(folder).open_run("20260101T000000-a", {})
    error = call(folder, "results", "merge", file, code=2)
    assert "is already running" in error
    journal.close()
    call(folder, "results", "merge", file)


def test_results_of_a_test_are_still_shown_by_its_id(
    folder: Path, call: Callable[..., Any]
) -> None:
    call(folder, "run")
    [row] = call(folder, "results", "sum_001", "--json")
    assert row["test_id"] == "sum_001"


def test_results_that_are_too_many_for_the_file_are_told_to_be_exported(
    folder: Path,
    call: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = run_elsewhere(folder, call)
    monkeypatch.setenv(LIMIT_VARIABLE, "3")
    assert main(["--data", str(folder), "results", "merge", str(file)]) == 0
    assert "results export" in capsys.readouterr().out
    assert not (folder / "results.json").exists()
    assert len(call(folder, "results", "--json")) == 6


@pytest.mark.slow(reason="starts a process")
def test_shard_that_is_killed_goes_on_where_it_was(folder: Path, call: Callable[..., Any]) -> None:
    kill_console(4, "--data", str(folder), "run", "--unchecked", "--shard", "1/1")
    assert call(folder, "run", "--shard", "1/1", "--json")["n_scored"] == 3
    assert call(folder, "results", "merge", folder, "--json")["n_closed"] == 2
    assert len(call(folder, "results", "--json")) == 6
