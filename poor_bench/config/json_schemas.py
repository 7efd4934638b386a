"""JSON Schemas of the files of a workspace, so that editors complete and check them.

`python -m poor_bench.config.json_schemas FOLDER` writes them.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import Field, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from poor_bench.config.file_models import AgentFile, FileModel, LLMEntry, TestClassEntry, TestEntry
from poor_bench.config.gate_entries import GateEntry
from poor_bench.config.judge_settings import ConfigFile
from poor_bench.models.failure import Failure
from poor_bench.models.result import Result

_DIALECT = "http://json-schema.org/draft-07/schema#"
"""Newest dialect that the JSON and YAML support of common editors implements completely."""


class TestClassesFile(FileModel):
    """test_classes.yaml: the test classes."""

    version: str | float = Field("1.0", description="Version of the file format.")
    test_classes: list[TestClassEntry]


class TestsFile(FileModel):
    """tests.json: the tests."""

    version: str | float = Field("1.0", description="Version of the file format.")
    tests: list[TestEntry]


class LLMsFile(FileModel):
    """llms.json: the models to evaluate."""

    version: str | float = Field("1.0", description="Version of the file format.")
    llms: list[LLMEntry]


class GatesFile(FileModel):
    """gates.yaml: limits that the results must meet."""

    version: str | float = Field("1.0", description="Version of the file format.")
    gates: list[GateEntry]


class _Draft7(GenerateJsonSchema):
    schema_dialect = _DIALECT


def build_json_schemas() -> dict[str, dict[str, Any]]:
    """JSON Schema of each file, by the name of the schema file."""
    models: dict[str, type[FileModel]] = {
        "test_classes": TestClassesFile,
        "tests": TestsFile,
        "llms": LLMsFile,
        "gates": GatesFile,
        "config": ConfigFile,
        "agent": AgentFile,
    }
    schemas = {name: build_file_schema(model) for name, model in models.items()}
    schemas["results"] = _build_results_schema()
    return {f"{name}.schema.json": schema for name, schema in schemas.items()}


def build_file_schema(model: type[FileModel]) -> dict[str, Any]:
    """JSON Schema of one kind of file."""
    return {"$schema": _DIALECT, **model.model_json_schema(schema_generator=_Draft7)}


def write_json_schemas() -> dict[str, str]:
    """Content of each schema file, by its name."""
    return {
        name: f"{json.dumps(schema, indent=2)}\n" for name, schema in build_json_schemas().items()
    }


def _build_results_schema() -> dict[str, Any]:
    record = TypeAdapter(Result).json_schema(ref_template="#/definitions/{model}")
    definitions = record.pop("$defs")
    _describe_properties(record, Result)
    _describe_properties(definitions["Failure"], Failure)
    del record["properties"]["llm_id"]
    record["required"] = ["test_id"]
    rows = {"type": "object", "additionalProperties": {"type": "array", "items": record}}
    return {
        "$schema": _DIALECT,
        "title": "ResultsFile",
        "description": "results.json: the newest result of every trial, by LLM id.",
        "type": "object",
        "required": ["results"],
        "properties": {"version": {"type": "string"}, "results": rows},
        "definitions": definitions,
    }


def _describe_properties(schema: dict[str, Any], described: type) -> None:
    """Use the docstring below a field of the class as the description of the property."""
    (body,) = ast.parse(inspect.getsource(described)).body
    assert isinstance(body, ast.ClassDef)
    for field, below in pairwise(body.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=text)):
                schema["properties"][name]["description"] = text


if __name__ == "__main__":
    for file_name, content in write_json_schemas().items():
        Path(sys.argv[1], file_name).write_text(content, encoding="utf-8")
