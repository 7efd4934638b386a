from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from poor_bench.errors import ConfigError
from poor_bench.evaluation.suite_file import check_suite, read_suite

CASE = {"id": "one", "directive": "Do it."}


def write(folder: Path, suite: Any) -> Path:
    path = folder / "suite.yaml"
    path.write_text(suite if isinstance(suite, str) else yaml.safe_dump(suite))
    return path


def problems_of(folder: Path, suite: Any) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read_suite(write(folder, suite), folder)
    return [str(problem) for problem in caught.value.problems]


def test_what_is_left_out_has_the_documented_default(tmp_path: Path) -> None:
    suite = read_suite(write(tmp_path, {"name": "shop", "cases": [CASE]}), tmp_path)
    (case,) = suite.cases
    assert (case.profile, case.execution_mode, case.trials) == ("default", "hybrid_auto", 1)
    assert (case.max_steps, case.thinking, case.allow_private_networks) == (50, "high", False)
    assert (case.expect.must_succeed, case.expect.handoff) == (True, "allow")
    assert case.expect.min_trial_pass_rate is None


def test_all_problems_are_told_at_once_with_file_case_and_line(tmp_path: Path) -> None:
    text = """\
name: bad
cases:
  - id: first
    directive: go
    execution_mode: playbook_only
    expect:
      max_action: 3
      wibble: 1
  - id: second
    directive: go
    start_url: file:///etc/passwd
    output_schema: {type: strin}
    colour: red
"""
    told = problems_of(tmp_path, text)
    assert [line.split(" ")[0] for line in told] == [
        f"{tmp_path}/suite.yaml:{number}:".rstrip(":") for number in (5, 7, 8, 11, 12, 13)
    ]
    assert "case `first`: `playbook_only` needs the key `playbook`" in told[0]
    assert "did you mean `max_actions`?" in told[1]
    assert "case `second`: `file:///etc/passwd` is not an http(s) URL" in told[3]
    assert "is not a JSON Schema" in told[4]
    assert "this key is not used" in told[5]


@pytest.mark.parametrize(
    ("fields", "place", "words"),
    [
        ({"start_url": "http://"}, "start_url", "not an http(s) URL"),
        ({"start_url": "http://a b/"}, "start_url", "not an http(s) URL"),
        ({"start_url": "http://[::1/"}, "start_url", "not an http(s) URL"),
        ({"start_url": "javascript:alert(1)"}, "start_url", "not an http(s) URL"),
        ({"start_url": "{server}/x"}, "start_url", "needs the key `server`"),
        ({"credentials": {"PW": "https://a.example/login"}}, "PW", "must be an origin"),
        ({"credentials": {"my pw": "https://a.example"}}, '"my pw"', "environment variable"),
        ({"profile": "no such thing"}, "profile", "is not a profile"),
        ({"trials": 0}, "trials", "at least 1"),
        ({"thinking": "hard"}, "thinking", "'high'"),
        ({"id": "../evil"}, "id", "must match"),
        ({"expect": {"handoff": "require"}}, "handoff", "only a `hybrid_auto` case"),
        ({"expect": {"min_actions": 3, "max_actions": 2}}, "min_actions", "`max_actions`"),
        ({"expect": {"min_trial_pass_rate": 1.5}}, "min_trial_pass_rate", "at most 1"),
    ],
    ids=str,
)
def test_impossible_case_is_refused(
    tmp_path: Path, fields: dict[str, Any], place: str, words: str
) -> None:
    (told,) = problems_of(tmp_path, {"name": "bad", "cases": [{**CASE, **fields}]})
    assert place in told
    assert words in told


@pytest.mark.parametrize(
    ("suite", "words"),
    [
        ({"name": "x"}, "`cases` is missing"),
        ({"name": "x", "cases": []}, "at least one case"),
        ({"name": "x", "cases": [3]}, "must be a mapping"),
        ([], "`name` and `cases`"),
        ({"nmae": "x", "cases": [CASE]}, "did you mean `name`?"),
        ({"name": "x", "cases": [CASE, {**CASE, "id": "ONE"}]}, "another case has this id"),
        ("name: [", "not YAML"),
    ],
    ids=str,
)
def test_suite_of_another_form_is_refused(tmp_path: Path, suite: Any, words: str) -> None:
    assert words in "\n".join(problems_of(tmp_path, suite))


def test_server_stands_for_an_address_where_the_suite_has_one(tmp_path: Path) -> None:
    case = {**CASE, "start_url": "{server}/x", "credentials": {"PW": "{server}"}}
    suite = {"name": "x", "server": "shop:create_app", "cases": [case]}
    assert read_suite(write(tmp_path, suite), tmp_path).cases[0].start_url == "{server}/x"


def test_playbooks_are_found_by_name_and_by_path(tmp_path: Path) -> None:
    (tmp_path / "playbooks").mkdir()
    (tmp_path / "playbooks" / "buy.yaml").write_text("steps: []")
    (tmp_path / "near.yaml").write_text("steps: []")
    for written in ("buy", "near.yaml", "./near.yaml", "playbooks/buy.yaml"):
        suite = {"name": "x", "cases": [{**CASE, "playbook": written}]}
        assert read_suite(write(tmp_path, suite), tmp_path).cases[0].playbook == written
    path = write(tmp_path, {"name": "x", "cases": [{**CASE, "playbook": "buyy"}]})
    suite, (problem,) = check_suite(path, tmp_path)
    assert suite is not None
    assert "playbook `buyy` does not exist" in problem.message
    assert "did you mean `buy`?" in problem.hint


def test_suite_may_bring_llms_with_their_free_parameters(tmp_path: Path) -> None:
    llm = {"provider": "scripted", "name": "demo", "parameters": {"responses": "hi"}}
    suite = read_suite(write(tmp_path, {"name": "x", "llms": [llm], "cases": [CASE]}), tmp_path)
    assert suite.llms[0].id == "scripted:demo"
    assert suite.llms[0].parameters == {"responses": "hi"}
