from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.main import main
from tests.judge.agent_workspace import VERDICT, write_workspace

HOSTILE = "<script>alert(1)</script>\x1b[31m"


def verdict(tone: int, facts: int) -> str:
    return json.dumps(VERDICT | {"scores": {"tone": tone, "facts": facts}})


def call(folder: Path, *arguments: str) -> int:
    return main(["--data", str(folder), "judge", *arguments])


def judged(folder: Path, *options: str) -> int:
    return call(folder, "run", "bikes", "--judge", "scripted:judge", *options)


def printed_json(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    return value


def test_run_prints_scores_feedback_and_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path)
    assert judged(folder) == 0
    out = capsys.readouterr().out
    assert "Not approved: 7.00 of 10, threshold 8" in out
    assert "9.0 scripted:judge: warm" in out
    assert "its noise is unknown" in out


def test_gate_ends_with_1_where_the_agent_is_not_approved(tmp_path: Path) -> None:
    folder = write_workspace(tmp_path, kind=verdict(9, 9))
    assert judged(folder, "--gate") == 1
    assert call(folder, "run", "bikes", "--judge", "scripted:kind", "--gate") == 0


@pytest.mark.parametrize("rule", ["contains: [dollar]", 'contains_not: ["10 EUROS"]'])
def test_gate_ends_with_1_where_a_rule_is_broken_whatever_the_judge_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rule: str
) -> None:
    folder = write_workspace(tmp_path, judge=verdict(10, 10), seller="Hello! **10**\neuros.")
    agent = folder / "agents" / "bikes.yaml"
    agent.write_text(agent.read_text().replace("contains: [euro]", rule))
    assert judged(folder) == 0
    assert judged(folder, "--gate") == 1
    out = capsys.readouterr().out
    assert "Not approved: 10.00 of 10, threshold 8; 1 case broke a rule" in out
    assert re.search(r"price .* failed\n  broken rule: '", out)


def test_gate_holds_stored_conversations_against_the_rules_of_today(tmp_path: Path) -> None:
    folder = write_workspace(tmp_path, judge=verdict(10, 10))
    assert judged(folder, "--gate") == 0
    agent = folder / "agents" / "bikes.yaml"
    agent.write_text(agent.read_text().replace("contains:", "contains_not:"))
    assert judged(folder, "--gate", "--conversations", "last") == 1


def test_a_rule_under_a_wrong_name_is_reported_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path)
    agent = folder / "agents" / "bikes.yaml"
    agent.write_text(agent.read_text().replace("contains:", "must_not_say:"))
    judged(folder, "--gate", "--dry-run")
    assert "bikes.yaml:8 cases[1].must_not_say: this key is not used" in capsys.readouterr().err


def test_judge_that_cannot_be_asked_ends_with_3_whatever_the_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path, judge=[{"failure": "auth", "times": 99}])
    assert judged(folder, "--gate") == 3
    out = capsys.readouterr().out
    assert "Incomplete: no judgement" in out
    assert "excluded from all scores" in out


def test_conversation_that_breaks_off_ends_with_3(tmp_path: Path) -> None:
    replies = {"How much": [{"failure": "auth", "times": 9}], "Hi": "Hello"}
    assert judged(write_workspace(tmp_path, seller=replies)) == 3


def test_repeats_show_the_spread_and_the_noise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path, judge=[verdict(6, 6), verdict(8, 8), verdict(7, 7)])
    assert judged(folder, "--repeat", "3") == 0
    out = capsys.readouterr().out
    assert "6.0 to 8.0, sd 1.00" in out
    assert "may differ by 4.50 points by chance alone" in out


def test_noise_is_never_told_as_more_than_the_scale_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path, judge=[verdict(1, 1), verdict(9, 9), verdict(5, 5)])
    assert judged(folder, "--repeat", "3") == 0
    out = capsys.readouterr().out
    assert "may differ by the whole scale by chance alone" in out
    assert "24.33" not in out


def test_a_judge_that_only_repeats_itself_shows_no_noise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path, judge=verdict(6, 6), free=[verdict(6, 6), verdict(6, 7)])
    assert judged(folder, "--panel", "scripted:free", "--repeat", "2") == 0
    out = capsys.readouterr().out
    assert "scripted:judge gave the same reply 2 times" in out
    assert "scripted:free gave the same reply" not in out


def test_weights_that_were_normalised_are_told_before_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path)
    agent = folder / "agents" / "bikes.yaml"
    agent.write_text(agent.read_text().replace("FACTS (50%)", "FACTS (70%)"))
    assert judged(folder, "--dry-run") == 0
    assert "Warning: Selling: the weights sum to 120 %" in capsys.readouterr().err


def test_a_case_without_a_score_is_told_and_enters_no_mean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = json.loads(verdict(6, 6))
    said["test_case_evaluations"].pop()
    folder = write_workspace(tmp_path, judge=json.dumps(said))
    assert judged(folder, "--json") == 0
    assert printed_json(capsys)["case_scores"] == {"hello": 9.0}
    assert judged(folder) == 0
    assert "[price].score is missing: 5 used instead" in capsys.readouterr().out


def test_panel_decides_by_majority_and_shows_its_disagreement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path, kind=verdict(9, 9), strict=verdict(1, 3))
    panel = ("--panel", "scripted:kind", "--panel", "scripted:strict", "--decision", "majority")
    assert judged(folder, *panel, "--json") == 0
    run = printed_json(capsys)
    assert (run["overall_score"], run["approved"]) == (7.0, False)
    assert run["disagreement"] == 7.0
    assert [member["judge"] for member in run["judges_apart"]] == [
        "scripted:judge",
        "scripted:kind",
        "scripted:strict",
    ]


def test_json_has_conversations_and_judgements(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path)
    assert judged(folder, "--case", "price", "--json") == 0
    run = printed_json(capsys)
    assert [talk["case_id"] for talk in run["conversations"]] == ["price"]
    assert run["judgements"][0]["overall_score"] == 7.0


def test_earlier_conversations_are_judged_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path, kind=verdict(9, 9))
    judged(folder)
    options = ("--judge", "scripted:kind", "--conversations", "last", "--json")
    capsys.readouterr()
    assert call(folder, "run", "bikes", *options) == 0
    run = printed_json(capsys)
    assert run["approved"]
    assert run["conversations_of"] != ""


def test_html_report_is_escaped_and_asks_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path, seller=HOSTILE)
    assert judged(folder, "--html", str(tmp_path / "r.html")) == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "default-src &#39;none&#39;" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "\x1b" not in capsys.readouterr().out


def test_html_report_has_what_every_judgement_says_of_the_whole(tmp_path: Path) -> None:
    said = json.dumps(VERDICT | {"recommendations": ["Ask for the size."]})
    folder = write_workspace(tmp_path, judge=said)
    assert judged(folder, "--repeat", "2", "--html", str(tmp_path / "r.html")) == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.count("<li>Ask for the size.</li>") == 2
    assert page.count("<h3>The whole agent</h3>") == 1


def test_runs_are_listed_shown_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path)
    assert call(folder) == 0
    assert "No judged runs yet" in capsys.readouterr().out
    judged(folder)
    capsys.readouterr()
    assert call(folder, "list") == 0
    assert "not approved" in capsys.readouterr().out
    assert call(folder, "list", "bikes", "--json") == 0
    [run] = printed_json(capsys)["runs"]
    assert call(folder, "show", run["run_id"][:12], "--turns") == 0
    assert "[user] How much?" in capsys.readouterr().out
    both = ("report", "bikes", "last", "--html", str(tmp_path / "both.html"))
    assert call(folder, *both) == 0
    assert (tmp_path / "both.html").read_text().count("<h2>bikes</h2>") == 2


def test_agents_are_listed_with_what_they_are_judged_by(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path)
    assert call(folder, "agents", "--json") == 0
    assert printed_json(capsys)["agents"] == [
        {
            "agent_id": "bikes",
            "name": "bikes",
            "llm_id": "scripted:seller",
            "n_cases": 2,
            "rubric": "Selling",
            "dimensions": ["tone", "facts"],
        }
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "bike"), "did you mean `bikes`"),
        (("run", "bikes", "--judge", "scripted:judgge"), "scripted:judgge"),
        (("run", "bikes", "--case", "prize", "--judge", "scripted:judge"), "no case 'prize'"),
        (("run", "bikes", "--panel", "scripted:judge", "--panel", "scripted:judge"), "twice"),
        (
            ("run", "bikes", "--judge", "scripted:judge", "--conversations", "x"),
            "is not a judged run",
        ),
        (("show", "nothing"), "is not a judged run"),
    ],
)
def test_what_is_not_there_ends_with_2_before_anybody_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    folder = write_workspace(tmp_path)
    assert call(folder, *arguments) == 2
    assert message in capsys.readouterr().err
    assert not list((folder / "judgements").glob("*.jsonl"))


def test_default_judge_needs_its_key_before_anybody_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_MODEL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    folder = write_workspace(tmp_path)
    assert call(folder, "run", "bikes") == 2
    assert "ANTHROPIC_API_KEY" in capsys.readouterr().err
    assert not list((folder / "judgements").glob("*.jsonl"))


def priced(folder: Path) -> Path:
    llms = json.loads((folder / "llms.json").read_text())
    for llm in llms["llms"]:
        llm["prices"] = {"input": 1000.0, "output": 1000.0}
    (folder / "llms.json").write_text(json.dumps(llms))
    return folder


def test_dry_run_tells_what_it_would_cost_and_asks_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = priced(write_workspace(tmp_path))
    assert judged(folder, "--repeat", "3", "--dry-run", "--json") == 0
    planned = printed_json(capsys)
    assert (planned["conversations"], planned["judgements"]) == (2, 3)
    assert planned["most_usd"] > 10
    assert not list((folder / "judgements").glob("*.jsonl"))
    assert judged(folder, "--dry-run") == 0
    assert "2 conversations with scripted:seller" in capsys.readouterr().out


def test_what_might_exceed_the_budget_is_not_begun(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = priced(write_workspace(tmp_path))
    assert judged(folder, "--max-cost", "5") == 3
    captured = capsys.readouterr()
    assert "Cost: at most about $" in captured.err
    assert "might have exceeded --max-cost $5.00 and were skipped" in captured.err
    assert "Incomplete" in captured.out
    assert judged(folder, "--max-cost", "500") == 0


def test_run_of_which_a_conversation_was_not_affordable_is_incomplete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = priced(write_workspace(tmp_path))
    llms = json.loads((folder / "llms.json").read_text())
    llms["llms"][0]["parameters"]["max_tokens"] = 1000
    llms["llms"][1]["prices"] = {"input": 0.0, "output": 0.0}
    (folder / "llms.json").write_text(json.dumps(llms))
    assert judged(folder, "--max-cost", "2.5", "--json") == 3
    run = printed_json(capsys)
    assert [talk["case_id"] for talk in run["conversations"]] == ["hello"]
    assert run["n_judgements"] == 1
    assert not run["is_complete"]


def test_a_broken_agent_is_skipped_and_told_while_others_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path)
    (folder / "agents" / "other.yaml").write_text("llm: scripted:absent\nsystem_prompt: x\n")
    assert judged(folder) == 2
    told = capsys.readouterr()
    assert "7.00 of 10" in told.out
    assert "other.yaml" in told.err
    assert call(folder, "run", "other", "--judge", "scripted:judge") == 2
    assert "`cases` is missing" in capsys.readouterr().err
    assert call(folder, "agents") == 2
    assert "bikes" in capsys.readouterr().out


def test_the_reason_for_a_missing_key_names_other_judges(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert call(write_workspace(tmp_path), "run", "bikes") == 2
    told = capsys.readouterr().err
    assert "ANTHROPIC_API_KEY" in told
    assert "name another judge: --judge, or `judge.model` in config.yaml" in told


def test_a_damaged_run_is_skipped_with_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    folder = write_workspace(tmp_path)
    judged(folder)
    (folder / "judgements" / "damaged.jsonl").write_text('{"run":{"agent_id":"bikes"}}\n')
    capsys.readouterr()
    assert call(folder, "list") == 0
    assert "7.00" in capsys.readouterr().out
    [warning] = {record.getMessage() for record in caplog.records}
    assert warning.endswith("damaged.jsonl is skipped: run_id: Field required")


def test_a_run_of_nobody_is_listed_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(write_workspace(tmp_path), "list", "bikes") == 0
    assert "No judged runs of bikes yet." in capsys.readouterr().out


def test_a_case_without_a_score_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_workspace(tmp_path, judge="I like it.")
    assert judged(folder) == 3
    assert "hello  n/a" in capsys.readouterr().out
    call(folder, "list")
    assert "n/a" in capsys.readouterr().out


def test_options_that_a_resumed_run_ignores_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path)
    judged(folder)
    capsys.readouterr()
    assert judged(folder, "--resume", "last", "--case", "hello") == 0
    told = capsys.readouterr().err
    assert "Ignored: --judge and --case. With --resume, those of the stored run count." in told


def test_a_cost_without_prices_is_unknown_not_zero(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    folder = write_workspace(tmp_path)
    listed = json.loads((folder / "llms.json").read_text())
    listed["llms"].append({"provider": "openai", "name": "m"})
    (folder / "llms.json").write_text(json.dumps(listed))
    hosted = ("run", "bikes", "--judge", "openai:m", "--dry-run")
    assert call(folder, *hosted, "--json") == 0
    planned = printed_json(capsys)
    assert (planned["most_usd"], planned["plan"]["estimated_cost_usd"]) == (None, None)
    assert call(folder, *hosted) == 0
    assert "unknown cost" in capsys.readouterr().out
    assert judged(folder, "--dry-run", "--json") == 0
    assert printed_json(capsys)["most_usd"] == 0


def test_a_folder_named_like_a_run_is_not_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(tmp_path)
    (folder / "judgements" / "x.jsonl").mkdir(parents=True)
    assert call(folder, "list") == 0
    assert "x" not in capsys.readouterr().out.split()
