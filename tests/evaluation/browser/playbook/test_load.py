from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.errors import ConfigError
from poor_bench.evaluation.browser.miniwob.pages import PLAYBOOKS
from poor_bench.evaluation.browser.playbook_file import load_playbook, read_playbook
from poor_bench.models.problem import Problem

SHIPPED = sorted((Path(__file__).parents[4] / "data" / "playbooks").glob("*.yaml"))


def problems_of(tmp_path: Path, text: str) -> list[Problem]:
    path = tmp_path / "playbook.yaml"
    path.write_text(text, encoding="utf-8")
    return read_playbook(path)[1]


def steps(tmp_path: Path, *written: str, params: str = "{}") -> list[Problem]:
    listed = "".join(f"  - {step}\n" for step in written)
    return problems_of(tmp_path, f"name: x\nparams: {params}\nsteps:\n{listed}")


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_playbook_is_right(path: Path) -> None:
    assert read_playbook(path)[1] == []
    assert load_playbook(path).steps


def test_every_playbook_of_miniwob_is_shipped() -> None:
    assert set(PLAYBOOKS.values()) <= {path.stem for path in SHIPPED}


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("{}", "exactly one key, not none"),
        ("{open: a, press: b}", "exactly one key, not `open` and `press`"),
        ("clik: {text: a}", "unknown key `clik`"),
        ("click: {role: button, text: a}", "not role and text"),
        ("click: {name: a}", "`name` goes with `role`"),
        ("click: {nth: 1}", "the element is missing"),
        ("click: {role: button, nam: a}", "unknown key `nam`"),
        ("type: {label: a, value: '{wort}'}", "parameter `wort` does not exist"),
        ("extract: {key: a, pattern: '('}", "is not a regular expression"),
        ("extract: {key: 'a b'}", "key"),
        ("capture: {pattern: 'x'}", "captures nothing"),
        ("wait: {}", "the element is missing"),
        ("expect: {absent: true}", "the element is missing"),
        ("for_each: {param: a, of: 'x', steps: [{press: '{b}'}]}", "parameter `b` does not exist"),
        ("scroll: sideways", "scroll"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path: Path, step: str, message: str) -> None:
    problems = steps(tmp_path, "press: Enter", step, params="{word: a}")
    assert any(message in f"{each.place} {each.message}" for each in problems), problems
    assert {each.line for each in problems} == {5}


def test_the_nearest_parameter_is_named(tmp_path: Path) -> None:
    (problem,) = steps(tmp_path, "open: '{serve}/{wort}'", params="{word: a, serve: b}")
    assert "word" in problem.hint


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    assert len(steps(tmp_path, "press: '{a}'", "press: '{b}'", "click: {}")) == 3


def test_parameters_come_from_the_file_captures_loops_and_the_server(tmp_path: Path) -> None:
    written = (
        "open: '{server}/{word}'",
        "capture: {pattern: '(?P<order>[0-9]+)'}",
        "for_each: {param: each, of: '{order}', steps: [{press: '{each}{order}'}]}",
    )
    assert steps(tmp_path, *written, params="{word: null}") == []


def test_a_capture_is_known_only_afterwards(tmp_path: Path) -> None:
    assert steps(tmp_path, "press: '{order}'", "capture: {pattern: '(?P<order>x)'}")


def test_values_must_fit_the_parameters(tmp_path: Path) -> None:
    path = tmp_path / "playbook.yaml"
    path.write_text("name: x\nparams: {a: null, b: 1}\nsteps: [{press: '{a}{b}'}]\n")
    playbook = load_playbook(path)
    assert playbook.params_with({"a": 2, "server": "s"}) == {"a": "2", "b": "1", "server": "s"}
    with pytest.raises(ConfigError, match="needs the parameters a"):
        playbook.params_with({})
    with pytest.raises(ConfigError, match="does not have a parameter 'c'"):
        playbook.params_with({"a": 1, "c": 1})
