from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.models.test import Test
from poor_bench.runner.plan import Shard, WorkItem
from poor_bench.runner.selection import Selection
from tests.conftest import WorkspaceFiles
from tests.runner.running import open_runner, run_all


def make_test(test_id: str) -> Test:
    return Test(test_id=test_id, class_id="c", level=1, text="")


@given(st.text(), st.text(), st.integers(1, 50))
def test_each_test_of_a_model_is_in_exactly_one_shard(llm: str, name: str, count: int) -> None:
    shards = [Shard(number, count) for number in range(1, count + 1)]
    assert sum(shard.holds(llm, make_test(name)) for shard in shards) == 1


def test_shards_are_the_same_on_every_machine_and_in_every_version() -> None:
    found = [
        next(n for n in range(1, 5) if Shard(n, 4).holds("a:x", make_test(f"t{number}")))
        for number in range(12)
    ]
    assert found == EXPECTED


EXPECTED = [4, 1, 2, 4, 1, 3, 4, 3, 1, 2, 1, 4]


def test_shards_are_as_even_as_chance_makes_them() -> None:
    """10,000 tests in 8 parts: 1,250 each, with a standard deviation of 33."""
    tests = [make_test(f"math_{number:05}") for number in range(10_000)]
    sizes = [sum(Shard(n, 8).holds("a:x", test) for test in tests) for n in range(1, 9)]
    assert sum(sizes) == 10_000
    assert min(sizes) > 1250 - 4 * 33
    assert max(sizes) < 1250 + 4 * 33


@pytest.mark.parametrize("text", ["0/0", "0/3", "5/4", "x/y", "1", "1/", "/2", "-1/2", "1/2/3", ""])
def test_what_is_not_a_shard_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="1"):
        Shard.parse(text)


def _list_items(folder: Path, shard: Shard | None, trials: int = 2) -> list[WorkItem]:
    plan = open_runner(folder).plan(Selection(shard=shard, trials=trials))
    return [item for work in plan.works for item in work.items()]


def _name(items: list[WorkItem]) -> set[tuple[str, str, int]]:
    return {(item.llm.id, item.test.test_id, item.trial) for item in items}


def test_shards_together_are_the_plan_and_keep_trials_together(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(30)
    workspace_files.add_llm("a", "4")
    workspace_files.add_llm("b", "4")
    folder = workspace_files.write()
    parts = [_list_items(folder, Shard(number, 3)) for number in (1, 2, 3)]
    assert sum(map(len, parts)) == 120
    assert set.union(*map(_name, parts)) == _name(_list_items(folder, None))
    for part in parts:
        names = _name(part)
        assert {(llm, test, 3 - trial) for llm, test, trial in names} == names
        llms = [item.llm.id for item in part]
        assert llms == sorted(llms)  # a model is loaded once


def test_shard_stays_the_same_when_other_tests_and_models_come(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(20)
    workspace_files.add_llm("a", "4")
    before = _name(_list_items(workspace_files.write(), Shard(1, 2)))
    workspace_files.tests.insert(0, workspace_files.tests[0] | {"test_id": "first"})
    workspace_files.add_llm("b", "4")
    after = _name(_list_items(workspace_files.write(), Shard(1, 2)))
    assert {each for each in after if each[0] == "scripted:a" and each[1] != "first"} == before


def test_shard_writes_its_own_run_file_and_nothing_else(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(8)
    workspace_files.add_llm("a", "4")
    folder = workspace_files.write()
    before = set(folder.rglob("*"))
    finished = run_all(folder, shard=Shard(1, 2))
    files = {path for path in set(folder.rglob("*")) - before if path.is_file()}
    [new] = (path for path in files if path.parent.name != "__pycache__")
    assert new == folder / "journal" / f"{finished.run_id}.jsonl"
    assert finished.run_id.endswith("-1of2")


def test_shards_that_share_a_folder_or_have_copies_come_to_one_whole_run(
    workspace_files: WorkspaceFiles, tmp_path: Path
) -> None:
    workspace_files.add_tests(9)
    workspace_files.add_llm("a", "4")
    folder = workspace_files.write()
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    for number in (1, 2):
        run_all(folder, shard=Shard(number, 3))
    run_all(copy, shard=Shard(3, 3))
    states = open_runner(folder).plan(Selection()).n_items
    shutil.copytree(copy / "journal", folder / "journal", dirs_exist_ok=True)
    assert states > 0
    assert open_runner(folder).plan(Selection()).is_empty


def test_shard_that_ran_has_nothing_pending_and_does_not_score_again(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(6)
    workspace_files.add_llm("a", "4")
    folder = workspace_files.write()
    run_all(folder, shard=Shard(1, 2))
    assert open_runner(folder).plan(Selection(shard=Shard(1, 2))).is_empty
    workspace_files.classes[0]["evaluation_module"]["parameters"] = {"expected": "5"}
    folder = workspace_files.write()
    assert open_runner(folder).plan(Selection(shard=Shard(1, 2))).is_empty
    assert open_runner(folder).plan(Selection()).n_stale_scores > 0


def test_choice_of_a_run_keeps_its_shard() -> None:
    selection = Selection(shard=Shard(2, 5), trials=3)
    assert Selection.from_json(selection.to_json()) == selection
    assert Selection.from_json({"trials": 1, "force": False, "shard": "9/2"}) is None
