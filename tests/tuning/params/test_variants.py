from __future__ import annotations

import json

import pytest

from poor_bench.config.document import Document, Report
from poor_bench.config.json_document import parse_json
from poor_bench.config.load import decode_llms_file
from poor_bench.models.llm import LLM, Prices, Timeouts, resolve_llm_id
from poor_bench.tuning.sweep import make_entry, make_variant, write_value

BASE = LLM(
    id="ollama:gemma3:1b",
    provider="ollama",
    name="gemma3:1b",
    label="Gemma",
    base_system_prompt="Be nice.",
    size=1.0,
    parameters={"temperature": 0, "response_format": "class"},
    enabled=False,
    timeouts=Timeouts(total_s=30),
    prices=Prices(input=1.0, output=2.0),
    tags=("small",),
)


def test_a_variant_says_in_its_id_what_differs() -> None:
    variant = make_variant(BASE, {"temperature": 0.4, "think": True})
    assert variant.id == "ollama:gemma3:1b:temperature=0.4,think=true"
    assert variant.llm.parameters == {"temperature": 0.4, "response_format": "class", "think": True}
    assert variant.llm.base_system_prompt == "Be nice."


def test_text_as_response_format_leaves_the_llm_free() -> None:
    variant = make_variant(BASE, {"response_format": "text"})
    assert variant.llm.parameters == {"temperature": 0}
    assert variant.id.endswith(":response_format=text")


def test_none_takes_a_parameter_away() -> None:
    assert "temperature" not in make_variant(BASE, {"temperature": None}).llm.parameters


def test_a_system_prompt_is_no_parameter() -> None:
    llm = make_variant(BASE, {"base_system_prompt": "Be terse."}).llm
    assert llm.base_system_prompt == "Be terse."
    assert llm.parameters == BASE.parameters


@pytest.mark.parametrize("choice", [{"think": True}, {"temperature": 0.4}, {"top_k": 5}])
def test_results_of_a_variant_are_never_taken_for_those_of_its_base(choice: dict) -> None:
    variant = make_variant(BASE, choice)
    assert resolve_llm_id(variant.id, [BASE]) is None
    assert resolve_llm_id(variant.id, [BASE, variant.llm]) == variant.id


def test_texts_that_begin_alike_get_different_names() -> None:
    one, other = write_value("Think step by step."), write_value("Think step by step!")
    assert one != other
    assert " " not in one + other


def test_an_entry_of_the_file_gives_the_same_llm_again() -> None:
    llm = make_variant(BASE, {"temperature": 0.4}).llm
    document: Document = parse_json(json.dumps({"llms": [make_entry(llm)]}))
    loaded = decode_llms_file(document, Report("llms.json"))
    assert loaded.report.problems == []
    assert list(loaded.items) == [llm]
