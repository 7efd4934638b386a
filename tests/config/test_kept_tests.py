"""Valid tests of a large tests.json are kept; nothing that is kept outlives its file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from poor_bench.config import load
from poor_bench.config.load import load_workspace
from poor_bench.errors import ConfigError
from poor_bench.models.test import EvaluatorSpec, Test
from poor_bench.safe_files import write_kept
from tests.config.workspace_files import write_workspace

_LONG = "word " * 60_000
_TESTS: list[dict[str, Any]] = [
    {"test_id": "long", "class_id": "sums", "level": 3, "text": _LONG, "tags": ["slow"]},
    {
        "test_id": "rich",
        "class_id": "sums",
        "level": 2,
        "texts": ["a", "ß"],
        "group": "g",
        "fields": {"n": 1.0, "deep": [{"x": None}]},
        "enabled": False,
        "reported": "wrong?",
        "reference_response": "4",
        "evaluation_module": {"parameters": {"expected": 2}},
    },
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace whose tests are kept."""
    write_workspace(tmp_path, tests=_TESTS)
    load_workspace(tmp_path)
    return tmp_path


def _kept_file(folder: Path) -> Path:
    return folder / "index" / "checked_tests.json"


def _refuse_to_check(*_: object) -> None:
    raise AssertionError("the tests are checked again")


def _load_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Test, ...]:
    with monkeypatch.context() as patched:
        patched.setattr(load, "decode_tests_file", _refuse_to_check)
        return load_workspace(folder).tests


def _replace(folder: Path, before: str, after: str, file: str = "tests.json") -> None:
    path = folder / file
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after), "utf-8")


def test_an_unchanged_file_is_not_checked_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = _load_kept(folder, monkeypatch)
    _kept_file(folder).unlink()
    checked = load_workspace(folder).tests
    assert kept == checked
    assert [type(each.fields.get("n")) for each in kept] == [type(None), float]


def test_a_changed_test_shows_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _replace(folder, '"level": 3', '"level": 4')
    assert load_workspace(folder).tests_by_id["long"].level == 4
    assert _load_kept(folder, monkeypatch)[0].level == 4


def test_another_evaluator_of_the_class_shows_at_once(folder: Path) -> None:
    named = load_workspace(folder).tests_by_id["rich"].evaluator
    assert named is not None
    _replace(folder, named.name, "other_evaluator", "test_classes.yaml")
    changed = EvaluatorSpec("other_evaluator", {"expected": 2})
    assert load_workspace(folder).tests_by_id["rich"].evaluator == changed


def test_what_is_wrong_with_other_files_has_its_line(folder: Path) -> None:
    _replace(folder, "sums", "products", "test_classes.yaml")
    with pytest.raises(ConfigError) as of_kept:
        load_workspace(folder)
    _kept_file(folder).unlink()
    with pytest.raises(ConfigError) as of_checked:
        load_workspace(folder)
    assert of_kept.value.problems == of_checked.value.problems
    assert [problem.line for problem in of_kept.value.problems if problem.place[:5] == "tests"]


def test_a_file_with_a_warning_is_not_kept(folder: Path) -> None:
    _replace(folder, '"level": 3', '"level": 3, "colour": "red"')
    for _ in range(2):
        found = load_workspace(folder).problems
        assert [problem.message for problem in found] == ["this key is not used"]


def test_a_list_without_a_key_keeps_its_places(tmp_path: Path) -> None:
    path = write_workspace(tmp_path) / "tests.json"
    path.write_text(json.dumps(_TESTS), "utf-8")
    load_workspace(tmp_path)
    _replace(tmp_path, "sums", "products", "test_classes.yaml")
    with pytest.raises(ConfigError) as raised:
        load_workspace(tmp_path)
    assert "[0].class_id" in {problem.place for problem in raised.value.problems}


def test_small_files_are_read_without_another_file(tmp_path: Path) -> None:
    load_workspace(write_workspace(tmp_path))
    assert not _kept_file(tmp_path).exists()


def test_a_damaged_file_is_written_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _kept_file(folder)
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"long"', b'"lone"'))
    assert load_workspace(folder).tests[0].test_id == "long"
    assert path.read_bytes() == content
    assert _load_kept(folder, monkeypatch)[0].test_id == "long"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda _: 7,
        lambda columns: columns | {"level": ["1", "2"]},
        lambda columns: columns | {"level": [1]},
        lambda columns: columns | {"test_id": ["long", "long"]},
        lambda columns: columns | {"tags": [[], [1]]},
        lambda columns: columns | {"texts": [None, [2]]},
        lambda columns: columns | {"evaluator": [None, ["name"]]},
        lambda columns: columns | {"further": [1, 2]},
        lambda columns: {key: value for key, value in columns.items() if key != "group"},
    ],
)
def test_a_foreign_file_is_not_trusted(folder: Path, spoil: Callable[[Any], Any]) -> None:
    path = _kept_file(folder)
    about, columns = orjson.loads(path.read_bytes().partition(b"\n")[2])
    before = load_workspace(folder).tests
    write_kept(path, about, spoil(columns))
    assert load_workspace(folder).tests == before


def test_tests_that_the_file_cannot_hold_are_read_anew(tmp_path: Path) -> None:
    tests = [_TESTS[0], _TESTS[1] | {"fields": {"n": 1 << 70}}]
    write_workspace(tmp_path, tests=tests)
    for _ in range(2):
        assert load_workspace(tmp_path).tests_by_id["rich"].fields == {"n": 1 << 70}


def test_tests_of_a_large_file_are_told_from_others_by_a_digest(folder: Path) -> None:
    checked, kept = load_workspace(folder).tests_digest, load_workspace(folder).tests_digest
    _replace(folder, '"level": 3', '"level": 4')
    other = load_workspace(folder).tests_digest
    write_workspace(folder, tests=[{**_TESTS[1], "evaluation_module": {"name": "exact"}}])
    assert checked == kept
    assert checked
    assert other not in {"", checked}
    assert load_workspace(folder).tests_digest == ""
