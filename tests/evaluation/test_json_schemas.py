from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from poor_bench.evaluation.json_schemas import build_json_schemas, write_json_schemas

PROJECT = Path(__file__).parents[2]
EXAMPLE = PROJECT / "poor_bench" / "evaluation" / "suites" / "example.yaml"


def errors_in(name: str, content: Any) -> list[str]:
    validator = jsonschema.Draft7Validator(build_json_schemas()[f"{name}.schema.json"])
    return [error.message for error in validator.iter_errors(content)]


@pytest.mark.parametrize("name", sorted(build_json_schemas()))
def test_the_stored_schemas_are_up_to_date(name: str) -> None:
    stored = (PROJECT / "schemas" / name).read_text(encoding="utf-8")
    assert stored == write_json_schemas()[name], (
        "run `python -m poor_bench.evaluation.json_schemas schemas`"
    )


@pytest.mark.slow(reason="checks every shipped file")
def test_the_shipped_suite_and_playbooks_satisfy_their_schemas() -> None:
    assert errors_in("suite", yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))) == []
    playbooks = sorted((PROJECT / "data" / "playbooks").glob("*.yaml"))
    assert len(playbooks) > 5
    for path in playbooks:
        assert errors_in("playbook", yaml.safe_load(path.read_text(encoding="utf-8"))) == [], path


def test_editors_underline_what_is_no_key() -> None:
    case = {"id": "a", "directive": "go", "expect": {"max_action": 3}}
    (told,) = errors_in("suite", {"name": "x", "cases": [case]})
    assert "max_action" in told
