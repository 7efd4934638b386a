from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.main import main
from tests.judge.agent_workspace import VERDICT, write_workspace


def verdict(first: int, second: int) -> str:
    cases = [
        {"case": 1, "score": first, "passed": True, "feedback": ""},
        {"case": 2, "score": second, "passed": True, "feedback": ""},
    ]
    scores = {"tone": first, "facts": second}
    return json.dumps(VERDICT | {"test_case_evaluations": cases, "scores": scores})


def call(folder: Path, *arguments: str) -> int:
    return main(["--data", str(folder), "judge", *arguments])


def judged(folder: Path, judge: str, *options: str) -> None:
    assert call(folder, "run", "bikes", "--judge", f"scripted:{judge}", *options) == 0


def fill_in(folder: Path, capsys: pytest.CaptureFixture[str], scores: dict[str, str]) -> Path:
    """Export the sheet of the newest run, and write scores of cases into it."""
    capsys.readouterr()
    assert call(folder, "labels", "export", "last") == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    sheet = folder / "sheet.csv"
    with sheet.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        for row in rows:
            writer.writerow(row | {"score": scores.get(row["case_id"], "")})
    return sheet


def printed_json(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    return value


def test_judges_are_measured_by_the_labels_of_a_sheet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path, good=verdict(3, 9), bad=verdict(9, 3))
    judged(folder, "good")
    judged(folder, "bad", "--conversations", "last")
    sheet = fill_in(folder, capsys, {"hello": "3", "price": "9"})
    assert call(folder, "labels", "import", str(sheet), "--who", "Ann") == 0
    assert "Added 2 labels" in capsys.readouterr().out
    assert call(folder, "labels", "import", str(sheet), "--who", "Ann") == 0
    assert "Added 0 labels; 2 known already" in capsys.readouterr().out
    assert call(folder, "agreement", "--json") == 0
    judges = printed_json(capsys)["judges"]
    assert judges["scripted:good"]["alpha"] == 1.0
    assert judges["scripted:good"]["kappa"] == 1.0
    assert judges["scripted:bad"]["alpha"] < 0
    assert call(folder, "agreement") == 0
    out = capsys.readouterr().out
    assert "scripted:good: cannot be told yet (only 2 labelled)" in out
    assert "label 5 answers of a model or more" in out


def test_answers_to_label_next_come_as_a_sheet_and_correct_the_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path)
    listed = (folder / "llms.json").read_text()
    for euros in (10, 11, 12, 13):
        (folder / "llms.json").write_text(listed.replace("10 euros", f"{euros} euros"))
        judged(folder, "judge")
    capsys.readouterr()
    assert call(folder, "labels", "next", "--count", "6") == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert len(rows) == 6
    sheet = folder / "sheet.csv"
    with sheet.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(row | {"score": 4 + len(row["case_id"]) % 3} for row in rows)
    assert call(folder, "labels", "import", str(sheet), "--who", "Ann") == 0
    capsys.readouterr()
    assert call(folder, "agreement", "--json") == 0
    [score] = printed_json(capsys)["corrected_scores"]
    assert (score["n_labelled"], score["n_judged"]) == (6, 8)
    assert score["corrected"]["low"] < score["corrected"]["high"]
    assert call(folder, "agreement") == 0
    assert "6 of 8" in capsys.readouterr().out
    assert call(folder, "labels", "next", "--count", "9") == 0
    assert len(capsys.readouterr().out.strip().splitlines()) > 2


def test_pairs_may_be_asked_about_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = json.dumps({"reason": "nice", "winner": "1"})
    folder = write_workspace(tmp_path, duellist=first)
    pair = ("pairwise", two_runs(folder), "last", "--judge", "scripted:duellist", "--again", "1")
    capsys.readouterr()
    assert call(folder, *pair, "--dry-run") == 0
    assert "2 pairs, each in both orders, 1 of them twice" in capsys.readouterr().out
    assert call(folder, *pair, "--json") == 0
    figures = printed_json(capsys)["judges"]["scripted:duellist"]
    assert figures["inconsistency"]["value"] == 0.0
    assert figures["order_effect"]["value"] == 1.0
    assert figures["order_effect"]["n"] == 1
    assert figures["order_p_values"] == {"preference": 0.5, "effect": 0.5}


def test_bad_row_takes_the_whole_sheet_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path)
    judged(folder, "judge")
    sheet = fill_in(folder, capsys, {"hello": "3", "price": "90"})
    assert call(folder, "labels", "import", str(sheet)) == 2
    assert "must be from 0 to 10, not 90" in capsys.readouterr().err
    assert not (folder / "human_labels.jsonl").exists()


def test_agreement_without_labels_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path)
    judged(folder, "judge")
    assert call(folder, "agreement") == 0
    assert "judge labels next" in capsys.readouterr().out


def test_comparison_tells_noise_from_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = [verdict(4, 6), verdict(4, 5), verdict(4, 6)] + [verdict(8, 6)] * 3
    folder = write_workspace(tmp_path, judge=replies)
    judged(folder, "judge", "--repeat", "3")
    [first] = list((folder / "judgements").glob("*.jsonl"))
    (folder / "llms.json").write_text(
        (folder / "llms.json").read_text().replace(json.dumps(replies), json.dumps(replies[3:]))
    )
    judged(folder, "judge", "--repeat", "3")
    capsys.readouterr()
    assert call(folder, "compare", first.stem, "last", "--json") == 0
    comparison = printed_json(capsys)
    noise = {change["name"]: change["is_noise"] for change in comparison["scores"]}
    assert noise == {"overall": False, "tone": False, "facts": True}
    assert comparison["obstacles"] == []
    assert call(folder, "compare", first.stem, "last") == 0
    out = capsys.readouterr().out
    assert "within noise" in out
    assert "better" in out


def test_runs_of_other_judges_are_not_compared_silently(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path, other=verdict(5, 5))
    judged(folder, "judge")
    [first] = list((folder / "judgements").glob("*.jsonl"))
    judged(folder, "other")
    capsys.readouterr()
    assert call(folder, "compare", first.stem, "last") == 0
    out = capsys.readouterr().out
    assert "Not comparable: the judges differ" in out
    assert "better" not in out
    assert "worse" not in out
    assert out.count("not comparable") == 5


def test_a_difference_of_unknown_noise_is_not_called_better(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path, judge=[verdict(5, 5), verdict(9, 9)])
    judged(folder, "judge")
    [first] = list((folder / "judgements").glob("*.jsonl"))
    judged(folder, "judge")
    capsys.readouterr()
    assert call(folder, "compare", first.stem, "last") == 0
    out = capsys.readouterr().out
    assert out.count("may be noise: use --repeat") == 5


def test_pairwise_finds_a_judge_that_likes_the_first_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = json.dumps({"reason": "nice", "winner": "1"})
    folder = write_workspace(tmp_path, duellist=first)
    judged(folder, "judge")
    [run] = list((folder / "judgements").glob("*.jsonl"))
    judged(folder, "judge")
    pair = ("pairwise", run.stem, "last", "--judge", "scripted:duellist")
    capsys.readouterr()
    assert call(folder, *pair, "--json") == 0
    found = printed_json(capsys)
    figures = found["judges"]["scripted:duellist"]
    assert figures["counts"]["swayed"] == 2
    assert figures["first_preference"]["value"] == 1.0
    assert call(folder, *pair) == 0
    out = capsys.readouterr().out
    assert "The winner changes with the order in 100 % (34 to 100 %, n = 2) of the pairs" in out
    assert "use --again" in out
    kept = list((folder / "judgements" / "pairwise").glob("*.jsonl"))
    assert len(kept) == 2
    assert len(kept[0].read_text().splitlines()) == 3


def test_pairwise_ends_with_3_where_the_judge_cannot_be_understood(tmp_path: Path) -> None:
    folder = write_workspace(tmp_path, duellist="Both are nice.")
    judged(folder, "judge")
    assert call(folder, "pairwise", "last", "last", "--judge", "scripted:duellist") == 3


def two_runs(folder: Path) -> str:
    """Make two runs; return the id of the first."""
    judged(folder, "judge")
    [run] = list((folder / "judgements").glob("*.jsonl"))
    judged(folder, "judge")
    return run.stem


def test_comparisons_in_pairs_are_listed_and_shown_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tie = json.dumps({"reason": "alike", "winner": "tie"})
    folder = write_workspace(tmp_path, one=tie, two=tie)
    assert call(folder, "pairwise") == 0
    assert "No comparisons yet" in capsys.readouterr().out
    first = two_runs(folder)
    judges = ("--judge", "scripted:one", "--panel", "scripted:two")
    capsys.readouterr()
    assert call(folder, "pairwise", first, "last", *judges) == 0
    told = capsys.readouterr().out
    assert "of 2 cases; unanimous: 2" in told
    assert call(folder, "pairwise", "last") == 0
    assert capsys.readouterr().out == told
    assert call(folder, "pairwise", "--json") == 0
    [kept] = printed_json(capsys)["comparisons"]
    assert (kept["a"], kept["cases"]) == (first, {"hello": "tie", "price": "tie"})
    assert call(folder, "pairwise") == 0
    assert "scripted:one, scripted:two" in capsys.readouterr().out.replace("\n", " ")


def test_pairwise_tells_its_cost_before_and_keeps_to_the_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path, costly=json.dumps({"reason": "", "winner": "1"}))
    listed = json.loads((folder / "llms.json").read_text())
    listed["llms"][-1]["prices"] = {"input": 0, "output": 1000}
    (folder / "llms.json").write_text(json.dumps(listed))
    pair = ("pairwise", two_runs(folder), "last", "--judge", "scripted:costly")
    capsys.readouterr()
    assert call(folder, *pair, "--dry-run", "--json") == 0
    planned = printed_json(capsys)
    assert planned.pop("plan")["estimated_cost_usd"] == 16.0
    assert planned == {
        "duels": 2,
        "judges": ["scripted:costly"],
        "most_usd": 16.0,
    }
    assert call(folder, *pair, "--max-cost", "1") == 3
    told = capsys.readouterr().err
    assert "Cost: at most about $16.00" in told
    assert "2 pairs might have exceeded --max-cost $1.00" in told


def test_pairwise_names_the_cases_that_one_run_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path, fair=json.dumps({"reason": "", "winner": "tie"}))
    judged(folder, "judge")
    [first] = list((folder / "judgements").glob("*.jsonl"))
    judged(folder, "judge", "--case", "price")
    pair = ("pairwise", first.stem, "last", "--judge", "scripted:fair")
    capsys.readouterr()
    assert call(folder, *pair) == 0
    assert "Skipped, because only one run has them: hello" in capsys.readouterr().err
    assert call(folder, *pair, "--json") == 0
    assert "Left out" not in capsys.readouterr().err


def test_pairwise_takes_two_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_workspace(tmp_path)
    assert call(folder, "pairwise", "a", "b", "c") == 2
    assert "give two runs, A and B" in capsys.readouterr().err
