from __future__ import annotations

from typing import Any

from poor_bench.comparison.causes import ChangedFacts, find_changed_facts
from poor_bench.comparison.result_set import ResultSet, RunFacts
from poor_bench.models.result import Result
from poor_bench.models.test import Test

TESTS = {
    name: Test(test_id=name, class_id="math", level=1, text=text)
    for name, text in {"t1": "1 + 1", "t2": "2 + 2\nplease"}.items()
}


def side(name: str, template: str, facts: RunFacts | None = None, **fields: Any) -> ResultSet:
    results = tuple(
        Result(
            llm_id="a",
            test_id=test.test_id,
            score=1.0,
            run_id=name,
            prompt=template.replace("{}", test.text or ""),
            **fields,
        )
        for test in TESTS.values()
    )
    return ResultSet(name=name, results=results, runs={name: facts} if facts else {})


def find(before: ResultSet, after: ResultSet, known: Any = None) -> ChangedFacts:
    return find_changed_facts(before, after, "a", TESTS, known or {})


def test_each_edited_line_is_a_hunk_of_all_tests_of_the_class() -> None:
    old, new = "Be brief.\nSolve {}\nAnswer as JSON.", "Be short.\nSolve {}\nNow."
    facts = find(side("old", old), side("new", new))
    assert [factor.name for factor in facts.factors] == [
        "prompt of class math, hunk 1 of 2",
        "prompt of class math, hunk 2 of 2",
    ]
    assert all(test.factors == {0, 1} for test in facts.tests)


def test_prompts_are_rebuilt_with_any_hunk_taken_back() -> None:
    old, new = "Be brief.\nSolve {}\nAnswer as JSON.", "Solve {}\nAnswer as JSON.\nNow."
    facts = find(side("old", old), side("new", new))
    text = "2 + 2\nplease"
    [test] = [test for test in facts.tests if test.test.test_id == "t2"]
    assert test.prompts((False, False))[1] == old.replace("{}", text)
    assert test.prompts((True, True))[1] == new.replace("{}", text)
    assert test.prompts((True, False))[1] == f"Solve {text}\nAnswer as JSON."


def test_system_prompt_is_a_factor_of_its_own() -> None:
    old = side("old", "Solve {}", system_prompt="Be kind.")
    facts = find(old, side("new", "Solve {}", system_prompt=""))
    assert [f.text for f in facts.factors] == ["system prompt, hunk 1 of 1 ('Be kind.' removed)"]


def test_changed_parameters_are_single_factors() -> None:
    old = side("old", "{}", RunFacts(parameters={"a": {"temperature": 0, "seed": 1}}))
    new = side("new", "{}", RunFacts(parameters={"a": {"temperature": 0.7, "seed": 1, "top_k": 5}}))
    facts = find(old, new)
    assert [f.text for f in facts.factors] == ["temperature (0 -> 0.7)", "top_k ((not set) -> 5)"]
    assert facts.choose_parameters((True, False)) == {"temperature": 0.7, "seed": 1}
    assert facts.choose_parameters((False, True)) == {"temperature": 0, "seed": 1, "top_k": 5}


def test_parameters_of_an_older_run_are_found_by_their_fingerprint() -> None:
    old = side("old", "{}", RunFacts(llm_fingerprints={"a": "f1"}))
    new = side("new", "{}", RunFacts(llm_fingerprints={"a": "f2"}))
    facts = find(old, new, {"f1": {"temperature": 0}, "f2": {"temperature": 1}})
    assert [factor.name for factor in facts.factors] == ["temperature"]


def test_parameters_that_no_run_recorded_are_said_to_be_unknown() -> None:
    old = side("old", "{}", RunFacts(llm_fingerprints={"a": "f1"}))
    facts = find(old, side("new", "{}", RunFacts(llm_fingerprints={"a": "f2"})))
    assert not facts.factors
    assert facts.fixed == ("parameters (an older run recorded only that they changed)",)


def test_model_server_and_machine_cannot_be_taken_back() -> None:
    laptop = {"system": "Linux", "cpu": "A", "cores": 8}
    old = side("old", "{}", RunFacts(machine=laptop, servers={"a": "s 1"}), model_digest="aa")
    new = side(
        "new", "{}", RunFacts(machine={**laptop, "cpu": "B"}, servers={"a": "s 2"}),
        model_digest="bb",
    )  # fmt: skip
    facts = find(old, new)
    assert [text.split()[0] for text in facts.fixed] == ["model", "server", "machine"]
    assert facts.digests_after == {"bb"}


def test_prompt_that_was_not_recorded_is_said_to_be_unknown() -> None:
    facts = find(side("old", ""), side("new", "Solve {}"))
    assert facts.fixed == ("prompt of 2 tests (an older run did not record it)",)
    assert not facts.factors


def test_nothing_changed() -> None:
    facts = find(side("old", "Solve {}"), side("new", "Solve {}"))
    assert (facts.factors, facts.fixed, len(facts.tests)) == ((), (), 2)
