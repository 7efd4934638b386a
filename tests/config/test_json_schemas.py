from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from poor_bench.cli.init import create_workspace
from poor_bench.config.json_schemas import build_json_schemas, write_json_schemas
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result, result_to_record

PROJECT = Path(__file__).parents[2]


def errors_in(name: str, content: Any) -> list[str]:
    validator = jsonschema.Draft7Validator(build_json_schemas()[f"{name}.schema.json"])
    return [error.message for error in validator.iter_errors(content)]


@pytest.mark.parametrize("name", sorted(build_json_schemas()))
def test_the_stored_schemas_are_up_to_date(name: str) -> None:
    stored = (PROJECT / "schemas" / name).read_text(encoding="utf-8")
    assert stored == write_json_schemas()[name], (
        "run `python -m poor_bench.config.json_schemas schemas`"
    )


@pytest.mark.parametrize("name", sorted(build_json_schemas()))
def test_the_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft7Validator.check_schema(build_json_schemas()[name])


@pytest.mark.parametrize("name", ["test_classes.yaml", "tests.json", "llms.json"])
def test_a_new_workspace_satisfies_its_schemas(tmp_path: Path, name: str) -> None:
    create_workspace(tmp_path)
    content = yaml.safe_load((tmp_path / name).read_text(encoding="utf-8"))
    assert errors_in(name.partition(".")[0], content) == []


def test_editors_underline_unknown_keys_but_not_comments() -> None:
    test = {"test_id": "a", "class_id": "b", "level": 1, "text": "x"}
    assert errors_in("tests", {"tests": [{**test, "_note": 1}], "$schema": "x"}) == []
    assert errors_in("tests", {"tests": [{**test, "levell": 1}]}) != []


def test_editors_want_one_of_text_and_texts() -> None:
    test = {"test_id": "a", "class_id": "b", "level": 1}
    assert errors_in("tests", {"tests": [test]}) != []
    assert errors_in("tests", {"tests": [{**test, "text": "x", "texts": ["x"]}]}) != []


def test_what_is_stored_satisfies_the_schema_of_results() -> None:
    score = Result(llm_id="a", test_id="t", score=0.5, marks=("truncated",), think=True)
    failure = Result(
        llm_id="a", test_id="t", failure=Failure(kind=FailureKind.TIMEOUT, message="late")
    )
    rows = [json.loads(json.dumps(result_to_record(result))) for result in (score, failure)]
    assert errors_in("results", {"version": "1.0", "results": {"a": rows}}) == []


def test_fields_are_described() -> None:
    results = json.dumps(build_json_schemas()["results.schema.json"])
    assert "ISO 8601, UTC." in results
