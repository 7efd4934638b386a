import pytest

from poor_bench.issues.detector import TestFacts
from poor_bench.models.failure import FailureKind
from tests.issues.builders import failed, scored, tax_of


def test_tax_is_what_the_format_rule_takes_away() -> None:
    [row] = tax_of(
        [
            scored(1.0, test_id="t1", strict_score=0.0, found="fenced"),
            scored(0.5, test_id="t2", strict_score=0.25, found="in prose"),
            scored(1.0, test_id="t3", found="bare"),
            scored(0.0, test_id="t4", strict_score=0.0, found="in prose"),
            failed(FailureKind.TIMEOUT, test_id="t5"),
        ]
    )
    assert (row.score, row.strict_score, row.n_scored) == (0.625, 0.3125, 4)
    assert row.tax == pytest.approx(0.3125)
    assert row.n_by_found == {"fenced": 1, "in prose": 1}
    assert "Markdown" in row.fix


def test_no_broken_rule_needs_no_mend() -> None:
    [row] = tax_of([scored(1.0, found="bare")])
    assert (row.tax, row.fix) == (0.0, "")


def test_results_of_older_tools_have_no_tax() -> None:
    assert tax_of([scored(1.0)]) == []


@pytest.mark.parametrize("found", ["fenced", "in prose", "announced", "boxed", "repaired", "other"])
def test_every_way_has_a_mend(found: str) -> None:
    [row] = tax_of([scored(1.0, strict_score=0.0, found=found)])
    assert row.fix.endswith(".")


@pytest.mark.parametrize(
    ("response", "word"),
    [('{"answer": 4}\n\nAs asked.', "stop sequence"), ('Here: {"answer": 4}', "structured output")],
    ids=["value first", "value last"],
)
def test_text_behind_the_value_is_mended_by_a_stop_sequence(response: str, word: str) -> None:
    said = {"response": response, "extracted": '{"answer": 4}', "found": "in prose"}
    [row] = tax_of([scored(1.0, strict_score=0.0, **said)])
    assert word in row.fix


def test_a_whole_sentence_as_the_answer_needs_no_stop_sequence() -> None:
    said = {"response": "It is good.", "extracted": "It is good.", "found": "in prose"}
    [row] = tax_of([scored(1.0, strict_score=0.0, **said)])
    assert "structured output" in row.fix


def test_llms_and_classes_are_taxed_apart_highest_first() -> None:
    facts = {"m": TestFacts(class_id="maths"), "s": TestFacts(class_id="mood")}
    rows = tax_of(
        [
            scored(1.0, test_id="m", found="bare"),
            scored(1.0, test_id="s", strict_score=0.0, found="fenced"),
            scored(1.0, llm_id="b", test_id="m", strict_score=0.5, found="fenced"),
        ],
        facts,
    )
    assert [(row.llm_id, row.class_id, row.tax) for row in rows] == [
        ("a", "mood", 1.0),
        ("b", "maths", 0.5),
        ("a", "maths", 0.0),
    ]
