from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from poor_bench.calls.budget import Budget
from poor_bench.errors import ConfigError
from poor_bench.judge.conversation import conversation_from_dict
from poor_bench.judge.judge import Judge
from poor_bench.judge.pairwise_results import PairComparison, PairOutcome, Position, combine_judges
from poor_bench.judge.pairwise_run import PairwiseRun
from poor_bench.judge.report_text import describe_panel
from poor_bench.judge.storage import PairwiseStore
from poor_bench.llm_manager import LLMManager
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.llm import LLM, Prices
from tests.judge.run_builders import conversation_of, run_of

PRICED = Prices(input=0.0, output=1000.0)


def prefer(winner: str, tokens: int = 100) -> list[dict[str, Any]]:
    text = json.dumps({"reason": "because", "winner": winner})
    return [{"text": text, "prompt_tokens": 10, "completion_tokens": tokens}]


def judge(name: str, replies: Any, prices: Prices = PRICED) -> Judge:
    parameters = {"responses": replies, "max_tokens": 200}
    llm = LLM(id=name, provider="scripted", name=name, parameters=parameters, prices=prices)
    return Judge(llm, LLMManager(Path()))


def run(*judges: Judge, n_cases: int = 3) -> PairwiseRun:
    a = [conversation_of(f"case {number}", "Hi", "GOOD") for number in range(n_cases)]
    b = [conversation_of(f"case {number}", "Hi", "bad") for number in range(n_cases)]
    manager = LLMManager(Path())
    return PairwiseRun(
        run_of(conversations=tuple(a)), run_of(conversations=tuple(b)), judges, manager
    )


def comparison(judge: str, case_id: str, outcome: PairOutcome) -> PairComparison:
    orders = {
        PairOutcome.A: (Position.FIRST, Position.SECOND),
        PairOutcome.B: (Position.SECOND, Position.FIRST),
        PairOutcome.TIE: (Position.NEITHER, Position.NEITHER),
        PairOutcome.SWAYED: (Position.FIRST, Position.FIRST),
        PairOutcome.FAILED: (None, None),
    }
    a_first, b_first = orders[outcome]
    return PairComparison(
        case_id=case_id, judge=judge, a_first=a_first, b_first=b_first, cost_usd=0.1
    )


def test_cases_that_one_run_lacks_are_named() -> None:
    good, other = conversation_of("x", "Hi", "GOOD"), conversation_of("z", "Hi", "Yo")
    broken = conversation_of("y", "Hi", failure=Failure(kind=FailureKind.TIMEOUT, message="late"))
    whole = conversation_of("y", "Hi", "Yo")
    a, b = run_of(conversations=(good, whole)), run_of(conversations=(other, good, broken))
    held = PairwiseRun(a, b, [judge("j", prefer("1"))], LLMManager(Path()))
    assert held.left_out == ["y", "z"]
    assert PairwiseRun(a, a, held.judges, held.manager).left_out == []


def test_the_group_of_a_case_is_that_of_its_comparison() -> None:
    grouped = replace(conversation_of("x", "Hi", "GOOD"), group="greetings")
    run = run_of(conversations=(grouped, conversation_of("y", "Hi", "GOOD")))
    found = PairwiseRun(run, run, [judge("j", prefer("1"))], LLMManager(Path())).compare()
    assert {item.case_id: item.group for item in found} == {"x": "greetings", "y": None}


def test_comparisons_and_conversations_of_older_files_have_no_group() -> None:
    old = asdict(comparison("j", "x", PairOutcome.A))
    del old["group"]
    assert TypeAdapter(PairComparison).validate_python(old) == comparison("j", "x", PairOutcome.A)
    talk = conversation_of("x", "Hi", "GOOD")
    record = {key: value for key, value in talk.as_dict().items() if key != "group"}
    assert conversation_from_dict(record) == talk


def test_only_cases_that_both_runs_have_compare() -> None:
    broken = conversation_of("y", "Hi", failure=Failure(kind=FailureKind.TIMEOUT, message="late"))
    good = conversation_of("x", "Hi", "GOOD")
    a = run_of(conversations=(good, conversation_of("y", "Hi", "Yo"), conversation_of("z", "Hi")))
    b = run_of(conversations=(good, broken))
    found = PairwiseRun(a, b, [judge("j", prefer("1"))], LLMManager(Path())).compare()
    assert [item.case_id for item in found] == ["x"]


def test_every_judge_of_a_panel_says_what_it_prefers() -> None:
    found = list(run(judge("one", prefer("1")), judge("two", prefer("tie"))).compare())
    assert [item.judge for item in found] == ["one"] * 3 + ["two"] * 3


def test_a_duel_that_might_cost_too_much_is_not_begun() -> None:
    # A comparison costs at most twice 200 tokens, 0.4 $, and in truth 0.2 $.
    held = run(judge("one", prefer("1")))
    assert held.estimate_cost_usd() == pytest.approx(1.2)
    held.budget = Budget(0.5)
    assert len(list(held.compare())) == 1
    assert held.budget.n_refused == 2
    assert held.budget.spent_usd == pytest.approx(0.2)


def test_several_judges_decide_by_the_greater_number() -> None:
    said = {
        "x": (PairOutcome.A, PairOutcome.A, PairOutcome.SWAYED),
        "y": (PairOutcome.A, PairOutcome.B, PairOutcome.TIE),
        "z": (PairOutcome.B, PairOutcome.FAILED, PairOutcome.SWAYED),
        "u": (PairOutcome.FAILED, PairOutcome.FAILED, PairOutcome.FAILED),
    }
    decisions = combine_judges(
        comparison(name, case_id, outcome)
        for case_id, outcomes in said.items()
        for name, outcome in zip("abc", outcomes, strict=True)
    )
    assert decisions.by_case == {
        "x": PairOutcome.A,
        "y": PairOutcome.TIE,
        "z": PairOutcome.B,
        "u": PairOutcome.FAILED,
    }
    assert decisions.n_unanimous == 1
    assert "A better: 1, B better: 1, of 4 cases" in next(describe_panel(decisions))


def test_duels_are_kept_and_found_again(tmp_path: Path) -> None:
    held = [comparison("j", "x", PairOutcome.A), comparison("j", "y", PairOutcome.FAILED)]
    for run_id in ("20261122T01", "20261122T02"):
        header = {"a": "a", "b": "b", "judges": ["j"], "n_duels": 2}
        with PairwiseStore(tmp_path).writing(run_id, header) as keep:
            for item in held:
                keep(item)
    assert [item.run_id for item in PairwiseStore(tmp_path).runs()] == [
        "20261122T01",
        "20261122T02",
    ]
    newest = PairwiseStore(tmp_path).find("last")
    assert (newest.run_id, newest.a_run_id, newest.b_run_id) == ("20261122T02", "a", "b")
    assert (newest.comparisons, newest.n_planned) == (tuple(held), 2)
    with pytest.raises(ConfigError, match="matches several"):
        PairwiseStore(tmp_path).find("20261122")
    with pytest.raises(ConfigError, match="is not a comparison"):
        PairwiseStore(tmp_path).find("2025")


def test_a_file_that_is_no_comparison_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "judgements" / "pairwise"
    folder.mkdir(parents=True)
    (folder / "20261122T03.jsonl").write_text('{"run": {"a": 1}}\n')
    (folder / "20261122T04.jsonl").write_text("not json\n")
    assert PairwiseStore(tmp_path).runs() == []
