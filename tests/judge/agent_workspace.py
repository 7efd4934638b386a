"""A workspace with one agent, whose LLM and judges are scripted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

AGENT = """\
llm: scripted:seller
system_prompt: You sell bicycles.
skill: {name: Selling, rubric: "### 1. TONE (50%)\\n### 2. FACTS (50%)"}
cases:
  - {id: hello, input: Hi, expected_behavior: Greets}
  - id: price
    turns: [Hi, "How much?"]
    contains: [euro]
"""
VERDICT = {
    "scores": {"tone": 8, "facts": 6},
    "test_case_evaluations": [
        {"case": 1, "score": 9, "passed": True, "feedback": "warm"},
        {"case": 2, "score": 5, "passed": False, "feedback": "vague"},
    ],
    "strengths": [],
    "weaknesses": [],
    "failures": [],
    "warnings": [],
    "recommendations": [],
}


def scripted(name: str, responses: Any) -> dict[str, Any]:
    parameters = {"responses": responses, "load_ms": 1}
    return {"provider": "scripted", "name": name, "parameters": parameters}


def write_workspace(folder: Path, **responses: Any) -> Path:
    given = {"seller": "Hello! 10 euros.", "judge": json.dumps(VERDICT)} | responses
    (folder / "agents").mkdir(parents=True)
    (folder / "agents" / "bikes.yaml").write_text(AGENT)
    llms = [scripted(name, replies) for name, replies in given.items()]
    (folder / "llms.json").write_text(json.dumps({"llms": llms}))
    return folder
