"""JSON Schemas of suites and playbooks, so that editors complete and check them.

`python -m poor_bench.evaluation.json_schemas FOLDER` writes them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from poor_bench.config.json_schemas import build_file_schema
from poor_bench.evaluation.browser.playbook_file import Playbook
from poor_bench.evaluation.suite_file import SuiteFile


def build_json_schemas() -> dict[str, dict[str, Any]]:
    """JSON Schema of each file, by the name of the schema file."""
    return {
        "suite.schema.json": build_file_schema(SuiteFile),
        "playbook.schema.json": build_file_schema(Playbook),
    }


def write_json_schemas() -> dict[str, str]:
    """Content of each schema file, by its name."""
    return {
        name: f"{json.dumps(schema, indent=2)}\n" for name, schema in build_json_schemas().items()
    }


if __name__ == "__main__":
    for file_name, content in write_json_schemas().items():
        Path(sys.argv[1], file_name).write_text(content, encoding="utf-8")
