"""Valid entries of a workspace with many tests are kept; nothing that is kept outlives its file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from poor_bench.config import kept_entries, load
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


_CLASSES = """
- id: sums
  description: of two numbers
  work_prompt_template: {default: "Solve {problem}", overrides: {"scripted:demo": "{problem}?"}}
  evaluation_module: {name: math_evaluator, parameters: {precision: 2, half: 0.5}}
  response_schema: {type: object, properties: {n: {minimum: 1.0}}}
  tags: [short]
"""
_LLMS: list[dict[str, Any]] = [
    {"provider": "scripted", "name": "demo", "tags": ["quick"], "size": 7, "prices": {"input": 2}},
    {"provider": "ollama", "name": "b", "parameters": {"temperature": 1, "stop": ["a"]}},
]


@pytest.fixture
def rich_folder(tmp_path: Path) -> Path:
    """A workspace whose classes and LLMs are kept."""
    write_workspace(tmp_path, test_classes=_CLASSES, tests=_TESTS, llms=_LLMS)
    load_workspace(tmp_path)
    return tmp_path


def _load_all_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> load.Workspace:
    with monkeypatch.context() as patched:
        for name in ("decode_test_classes_file", "decode_llms_file", "decode_tests_file"):
            patched.setattr(load, name, _refuse_to_check)
        return load_workspace(folder)


def test_unchanged_classes_and_llms_are_not_checked_again(
    rich_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = _load_all_kept(rich_folder, monkeypatch)
    for name in ("classes", "llms"):
        (rich_folder / "index" / f"checked_{name}.json").unlink()
    checked = load_workspace(rich_folder)
    assert repr(kept.test_classes) == repr(checked.test_classes)
    assert repr(kept.llms_by_id) == repr(checked.llms_by_id)


def test_a_changed_class_or_llm_shows_at_once(rich_folder: Path) -> None:
    _replace(rich_folder, "of two numbers", "of three", "test_classes.yaml")
    _replace(rich_folder, '"quick"', '"slow"', "llms.json")
    for _ in range(2):
        changed = load_workspace(rich_folder)
        assert changed.test_classes["sums"].description == "of three"
        assert changed.llms[0].tags == ("slow",)


def test_what_is_wrong_with_kept_classes_and_llms_has_its_line(rich_folder: Path) -> None:
    _replace(rich_folder, '"class_id": "sums"', '"class_id": "products"')
    (rich_folder / "llms.json").write_text(json.dumps({"llms": _LLMS[1:]}, indent=1), "utf-8")
    told = []
    for _ in range(2):
        with pytest.raises(ConfigError) as raised:
            load_workspace(rich_folder)
        told.append(raised.value.problems)
    first, second = told
    assert first == second
    of_classes = [problem for problem in first if problem.file.endswith(".yaml")]
    assert {problem.code for problem in of_classes} == {"empty-class", "unknown-llm"}
    assert all(problem.line for problem in of_classes)


def test_llms_with_a_warning_are_not_kept(rich_folder: Path) -> None:
    _replace(rich_folder, '"temperature"', '"temprature"', "llms.json")
    for _ in range(2):
        found = load_workspace(rich_folder).problems
        assert [problem.message for problem in found] == ["unknown parameter `temprature`"]


def test_kept_llms_are_not_those_of_a_program_with_its_own_providers(rich_folder: Path) -> None:
    _replace(rich_folder, '"ollama"', '"mine"', "llms.json")
    assert load_workspace(rich_folder, is_own_provider=lambda name: name == "mine").llms[1]
    with pytest.raises(ConfigError, match="1 problem"):
        load_workspace(rich_folder)


@pytest.mark.parametrize("name", ["classes", "llms"])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda _: 7,
        lambda rows: [row[1] for row in rows],
        lambda rows: [[place, fields | {"further": 1}] for place, fields in rows],
        lambda rows: [[place, fields | {"tags": None}] for place, fields in rows],
        lambda rows: [[place, {"id": fields["id"]}] for place, fields in rows],
    ],
)
def test_foreign_classes_and_llms_are_not_trusted(
    rich_folder: Path, name: str, spoil: Callable[[Any], Any]
) -> None:
    path = rich_folder / "index" / f"checked_{name}.json"
    content = path.read_bytes()
    before = load_workspace(rich_folder)
    about, rows = orjson.loads(content.partition(b"\n")[2])
    write_kept(path, about, spoil(rows))
    assert load_workspace(rich_folder).llms == before.llms
    assert path.read_bytes() == content
    path.write_bytes(content.replace(b"tags", b"sags"))
    assert load_workspace(rich_folder).test_classes == before.test_classes
    assert path.read_bytes() == content


def test_what_another_version_kept_is_checked_again(
    rich_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(kept_entries, "_digest_definitions", lambda: b"another version")
        with pytest.raises(AssertionError, match="checked again"):
            _load_all_kept(rich_folder, monkeypatch)
    assert _load_all_kept(rich_folder, monkeypatch)


def test_few_tests_keep_no_classes_and_llms(tmp_path: Path) -> None:
    load_workspace(write_workspace(tmp_path))
    assert not (tmp_path / "index").exists()


_SAY_NOTHING_OF_ENTRIES = {
    *("command_line", "errors", "messages", "models.problem", "ports", "prompts"),
    *("models.completion", "models.failure", "models.result", "providers.api_keys"),
    *("providers.chat_wire", "providers.error_reply", "providers.transport.reply"),
}


def test_all_code_that_says_which_entries_are_valid_is_known() -> None:
    package, found, to_visit = Path(load.__file__).parents[1], set(), {"config.load"}
    while to_visit:
        name = to_visit.pop()
        path = package / f"{name.replace('.', '/')}.py"
        found.add(path.relative_to(package).as_posix())
        imported = re.findall(r"(?m)^ *from poor_bench\.([\w.]+) import", path.read_text("utf-8"))
        seen = {each.removesuffix(".py").replace("/", ".") for each in found}
        to_visit |= {*imported} - seen - _SAY_NOTHING_OF_ENTRIES
    assert found == {*kept_entries._DEFINITIONS}
