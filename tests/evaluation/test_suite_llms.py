"""Which LLM acts, by whatever name a suite or the command line knows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from poor_bench.errors import ConfigError
from poor_bench.evaluation.models import EvalSuite
from poor_bench.evaluation.runner import choose_llms
from tests.evaluation.builders import make_case

SUITE = EvalSuite(name="suite", cases=[make_case()])
LLM = {"provider": "scripted", "name": "a", "label": "Model A", "parameters": {"responses": "4"}}


def chosen(folder: Path, wanted: str) -> list[str]:
    (folder / "llms.json").write_text(json.dumps({"llms": [LLM]}))
    return [llm.id for llm in choose_llms(SUITE, folder, wanted).values() if llm is not None]


@pytest.mark.parametrize("name", ["scripted:a", "Model A", "scripted:a:false"])
def test_an_llm_is_found_by_each_of_its_names(tmp_path: Path, name: str) -> None:
    assert chosen(tmp_path, name) == ["scripted:a"]


def test_an_unknown_llm_is_an_error_that_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="LLM `scripted:aa` does not exist") as raised:
        chosen(tmp_path, "scripted:aa")
    assert "`scripted:a`" in raised.value.hint
