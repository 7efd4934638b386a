from __future__ import annotations

import csv
import io
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from poor_bench.dashboard import shell
from poor_bench.dashboard.pages.judge import callbacks, pairwise
from poor_bench.dashboard.pages.judge.layout import LINKS, THIS_CASE, JudgeUrl, write_command
from poor_bench.dashboard.services.console_runs import ConsoleRun, ConsoleState
from poor_bench.dashboard.services.run_state import RunPhase
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.shell import show_page
from poor_bench.dashboard.start_form import plan_or_tell, show_console_run
from poor_bench.dashboard.table_files import TableFile
from poor_bench.errors import ConfigError, RunRefusedError
from poor_bench.judge.pairwise_results import PairComparison, Position
from poor_bench.judge.storage import JUDGED_RUNS, JudgementStore, PairwiseStore
from poor_bench.labels.ratings import rate_answer
from poor_bench.labels.storage import add_labels, read_labels
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.report_generator import ReportGenerator
from poor_bench.runner.selection import Selection
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import scored, services_of, services_with, write_results
from tests.dashboard.seen_text import text_of
from tests.judge.agent_workspace import write_workspace
from tests.judge.run_builders import conversation_of, fallback, header_of, judgement_of

ATTACK = '<img src=x onerror="alert(1)">'
TALKS = (
    conversation_of("hello", "Hi", f"Hello {ATTACK}", expected_behavior="Greets"),
    conversation_of("bye", "Bye", "So long"),
)
WEIGHTS = {"tone": 40.0, "facts": 30.0, "rules": 30.0}


@pytest.fixture
def services(workspace_files: WorkspaceFiles) -> Services:
    return services_with(workspace_files, {"one": [1, 0, 1]})


def judged(services: Services, run_id: str, *scores: float, **fields: Any) -> None:
    """Store a run whose judge gave these scores, one after the other."""
    given = {"started": f"2026-11-{run_id}T01:00:00Z", "weights": WEIGHTS, "repeat": len(scores)}
    store = JudgementStore(services.files.config().data_dir)
    talks = fields.pop("conversations", TALKS)
    with store.writing(header_of(run_id, **given | fields)) as writer:
        for talk in talks:
            writer.add_conversation(talk)
        for score in scores:
            dimensions = dict.fromkeys(WEIGHTS, score)
            cases = {"hello": score, "bye": score + 1}
            writer.add_judgement(judgement_of(score, scores=dimensions, cases=cases))


def seen(services: Services, search: str = "") -> str:
    return text_of([*callbacks.show(services, search), *callbacks.context(services, search)])


def label(services: Services, about: str = THIS_CASE, score: object = 3.0, who: str = "Ann") -> str:
    shown, _ = callbacks.save_label(services, "?case=hello", about, score, who, "why not")
    return text_of(shown)


def folder(services: Services) -> Path:
    return services.files.config().data_dir


def test_page_without_runs_says_how_to_make_one(services: Services) -> None:
    assert "Select one of agents/*.yaml." in seen(services)
    assert "Judge" in text_of(show_page(services, "/judge", ""))


def test_ratings_of_judged_answers_show_the_judge_s_agreement_without_any_run(
    workspace_files: WorkspaceFiles,
) -> None:
    services = services_with(workspace_files, {"one": []})
    (test, *_) = workspace_files.tests
    by_judge = scored(test["test_id"], 0.7, judgement={"judge": "scripted:strict"})
    write_results(folder(services), {"scripted:one": [by_judge]})
    services = services_of(folder(services))
    assert "scripted:strict" not in seen(services)
    (result,) = ReportGenerator(services.files.config()).results()
    add_labels(folder(services), [rate_answer(result, score=0.2, who="Ann", when="2026-11-21")])
    assert "scripted:strict" in seen(services)


def test_newest_run_is_shown_with_its_worst_case_open(services: Services) -> None:
    judged(services, "20", 4.0)
    judged(services, "21", 6.0, 7.0)
    shown = seen(services)
    assert "2026-11-21 01:00 UTC" in shown
    assert "6.50" in shown
    assert "Not approved" in shown
    assert "Expected: Greets" in shown
    assert "6.0 to 7.0, sd 0.71" in shown


def test_text_of_llms_stays_text(services: Services) -> None:
    judged(services, "20", 4.0)
    assert f"Hello {ATTACK}" in seen(services)


def test_chosen_run_and_case_stand_in_the_address(services: Services) -> None:
    judged(services, "20", 4.0)
    judged(services, "21", 6.0)
    shown = seen(services, "?run=20&case=bye")
    assert "2026-11-20" in shown
    assert "So long" in shown
    assert "Expected: Greets" not in shown


def test_comparison_greys_out_what_is_noise(services: Services) -> None:
    judged(services, "20", 4.0, 4.1)
    judged(services, "21", 4.1, 4.2)
    shown = seen(services, "?run=21&base=20")
    assert "within noise" in shown
    assert "+0.10" in shown
    judged(services, "22", 9.0, 9.1)
    assert "better" in seen(services, "?run=22&base=20")


def test_runs_that_cannot_be_compared_are_named(services: Services) -> None:
    judged(services, "20", 4.0)
    judged(services, "21", 4.0, rubric_hash="other")
    assert "Not comparable: the rubrics differ" in seen(services, "?run=21&base=20")


def test_broken_conversation_and_fallback_are_told(services: Services) -> None:
    failure = Failure(kind=FailureKind.TIMEOUT, message="no reply within 5 s")
    judged(services, "20", conversations=(conversation_of("hello", "Hi", failure=failure),))
    store = JudgementStore(folder(services))
    with store.writing(header_of("21", started="2026-11-21", weights=WEIGHTS)) as writer:
        writer.add_conversation(TALKS[0])
        writer.add_judgement(fallback(scores=dict.fromkeys(WEIGHTS, 5.0)))
    assert "no reply within 5 s" in seen(services, "?run=20")
    assert "excluded from all scores: a: no connection" in seen(services, "?run=21")
    assert "Incomplete" in seen(services, "?run=21")


def test_agents_have_switches_and_a_history_of_their_own(services: Services) -> None:
    judged(services, "20", 4.0)
    judged(services, "21", 6.0, agent_id="support", agent_name="Support desk")
    assert "Support desk" in seen(services)
    assert "2026-11-20" in seen(services, "?agent=sales")


def test_runs_of_an_agent_without_a_name_show_its_id(services: Services) -> None:
    judged(services, "20", 4.0)
    judged(services, "21", 6.0, agent_id="support")
    labels = [option["label"] for option in pairwise.list_run_options(services)]
    assert [label.partition(", ")[0] for label in labels] == ["support", "sales"]
    assert "support" in seen(services, "?run=20")


def test_score_of_a_person_is_kept_shown_and_measured_by(services: Services) -> None:
    judged(services, "20", 4.0)
    assert label(services) == "Saved: hello."
    [kept] = read_labels(folder(services))
    assert (kept.case_id, kept.score, kept.who, kept.note) == ("hello", 3.0, "Ann", "why not")
    shown = seen(services, "?case=hello")
    assert "why not" in shown
    assert "only 1 labelled" in shown


def test_the_answer_to_score_next_is_linked_and_its_weight_kept(services: Services) -> None:
    judged(services, "20", 4.0)
    for case_id in ("first", "second"):
        drawn = services.judged.next_answer()
        assert drawn is not None, case_id
        name = drawn.answer.case_id
        assert f"Score next: {name}, seller" in " ".join(seen(services).split())
        callbacks.save_label(services, f"?case={name}", THIS_CASE, 5.0, "Ann", "")
    assert services.judged.next_answer() is None
    assert "Score next" not in seen(services)
    assert [kept.weight for kept in read_labels(folder(services))] == [1.0, 1.0]


def test_agent_as_a_whole_and_its_dimensions_can_be_scored(services: Services) -> None:
    judged(services, "20", 4.0)
    offered = callbacks.label_choices(services, "")
    assert offered[1:] == [
        callbacks.WHOLE,
        "Overall: tone",
        "Overall: facts",
        "Overall: rules",
    ]
    for about in offered[1:3]:
        assert label(services, about) == f"Saved: {about}."
    kept = [(item.case_id, item.dimension) for item in read_labels(folder(services))]
    assert kept == [("", "overall"), ("", "tone")]


@pytest.mark.parametrize(
    ("score", "who", "told"),
    [
        (None, "Ann", "score must be 0 to 10"),
        ("", "Ann", "score must be 0 to 10"),
        (11, "Ann", "must be from 0 to 10"),
        (3, "", "name of the person"),
    ],
)
def test_score_that_means_nothing_is_refused(
    services: Services, score: object, who: str, told: str
) -> None:
    judged(services, "20", 4.0)
    assert told in label(services, score=score, who=who)
    assert read_labels(folder(services)) == []


def test_new_runs_and_labels_change_the_version(services: Services) -> None:
    versions = [services.version()]
    judged(services, "20", 4.0)
    versions.append(services.version())
    label(services)
    versions.append(services.version())
    assert len(set(versions)) == 3


FORM = ("bikes", ["scripted:judge"], 1, "mean", "")


def with_agent(services: Services) -> Services:
    write_workspace(folder(services))
    return services


def previewed(services: Services, *fields: Any) -> tuple[str, bool]:
    plan = partial(callbacks.plan_run, services)
    planned = plan_or_tell(plan, False, *fields)
    return text_of(planned.shown), planned.is_off


def test_form_offers_agents_and_llms(services: Services) -> None:
    assert callbacks.options(services) == (
        [],
        [{"value": "scripted:one", "label": "scripted:one"}],
    )
    agents, judges = callbacks.options(with_agent(services))
    assert agents == [{"value": "bikes", "label": "bikes"}]
    assert [judge["value"] for judge in judges] == ["scripted:seller", "scripted:judge"]


def test_form_tells_what_will_be_done_before_it_can_be_started(services: Services) -> None:
    assert previewed(services, None, *FORM[1:])[1]
    shown, is_disabled = previewed(with_agent(services), *FORM)
    assert not is_disabled
    assert "by scripted:judge" in shown
    assert "2 dimensions; threshold 8" in shown
    assert not callbacks.plan_run(services, *FORM).needs_consent


@pytest.mark.parametrize(
    ("provider", "prices", "shown"),
    [("openai", {}, "n/a"), ("ollama", {}, "$0"), ("openai", {"input": 1e6, "output": 0}, "$")],
)
def test_the_highest_cost_is_not_known_without_the_prices_of_a_hosted_judge(
    services: Services,
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
    prices: dict[str, float],
    shown: str,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "never sent")
    path = folder(with_agent(services)) / "llms.json"
    llms = json.loads(path.read_text())["llms"]
    judge = {"provider": provider, "name": "hosted", "prices": prices}
    path.write_text(json.dumps({"llms": [*llms, judge]}))
    plan = callbacks.plan_run(services, FORM[0], [f"{provider}:hosted"], *FORM[2:])
    [cost] = re.findall(r"Highest cost(.*)without repairs", text_of(plan.shown))
    assert cost.strip().startswith(shown)
    assert (cost.strip() == "$0") == (shown == "$0")


def test_a_long_run_asks_first(services: Services) -> None:
    assert callbacks.plan_run(with_agent(services), *FORM[:2], 100, *FORM[3:]).needs_consent


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        (1, ["nobody"], "does not exist"),
        (2, "", "must be 1 to 100"),
        (2, 101, "must be 1 to 100"),
        (4, -1, "0 or more"),
        (4, "much", "0 or more"),
    ],
)
def test_form_refuses_what_cannot_be_run(
    services: Services, field: int, value: Any, told: str
) -> None:
    fields = [*FORM[:field], value, *FORM[field + 1 :]]
    shown, is_disabled = previewed(with_agent(services), *fields)
    assert is_disabled
    assert told in shown


def test_tests_are_not_run_beside_a_judged_run(services: Services) -> None:
    class Running(ConsoleRun):
        def state(self) -> ConsoleState:
            return ConsoleState(phase=RunPhase.RUNNING)

    services.commands[JUDGED_RUNS.name] = Running(services.data_dir)
    with pytest.raises(RunRefusedError, match="another run is in progress"):
        services.runs.start(Selection())


@pytest.mark.slow(reason="a process")
def test_run_is_followed_from_start_to_end(services: Services) -> None:
    assert show_console_run(services, JUDGED_RUNS)[1] == "card is-absent"
    with_agent(services)
    run = services.commands[JUDGED_RUNS.name]
    run.start("bikes", write_command(*FORM))
    run.wait(120.0)
    body, class_name, head, is_over = show_console_run(services, JUDGED_RUNS)
    assert is_over
    assert class_name == "card started-run"
    assert text_of(head).startswith("Finished bikes")
    assert "7.00 of 10" in text_of(body)
    assert "7.00" in seen(services)


def lines(file: TableFile) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file.csv)))


def test_all_tables_are_files(services: Services) -> None:
    for write in (
        callbacks.scores_csv,
        callbacks.cases_csv,
        callbacks.runs_csv,
        callbacks.trust_csv,
    ):
        assert lines(write(services, "")) == []
    judged(services, "20", 4.0, 4.2)
    judged(services, "21", 4.4, 4.6)
    label(services)
    scores = lines(callbacks.scores_csv(services, ""))
    assert [(each["Dimension"], each["Score"]) for each in scores] == [
        ("tone", "4.5"),
        ("facts", "4.5"),
        ("rules", "4.5"),
    ]
    changes = lines(callbacks.scores_csv(services, "?run=21&base=20"))
    assert {"Before", "After", "Noise"} <= changes[0].keys()
    cases = lines(callbacks.cases_csv(services, "?run=20"))
    assert [(case["Case"], case["Judgements"]) for case in cases] == [("hello", "2"), ("bye", "2")]
    assert [each["Run ID"] for each in lines(callbacks.runs_csv(services, ""))] == ["21", "20"]
    [trust] = lines(callbacks.trust_csv(services, ""))
    assert trust["Labelled"] == "1"


def test_a_comparison_of_two_runs_is_a_command_of_the_console() -> None:
    command = pairwise.write_command("--resume=last", "b", ["x:1", "x:2"], 0.5)
    assert command[:2] == ["judge", "pairwise"]
    assert {"--judge=x:1", "--panel=x:2", "--max-cost=0.5"} <= set(command)
    assert command[-3:] == ["--", "--resume=last", "b"]


@pytest.mark.parametrize("b", [None, "", "a"])
def test_a_comparison_needs_two_runs(b: str | None) -> None:
    with pytest.raises(ConfigError, match="two runs"):
        pairwise.write_command("a", b, [], "")


def test_stored_comparisons_tell_who_was_better(services: Services) -> None:
    first, second = Position.FIRST, Position.SECOND
    made = [
        PairComparison(case_id=str(n), judge="x:1", a_first=a_first, b_first=b_first)
        for n, (a_first, b_first) in enumerate([(first, second), (first, second), (first, first)])
    ]
    header = {"a": "first", "b": "second", "judges": ["x:1"], "n_duels": 3}
    with PairwiseStore(folder(services)).writing("20261123T000000-aa", header) as keep:
        for each in made:
            keep(each)
    [line] = pairwise.read_lines(services)
    shown = text_of(pairwise.PAIRWISE.draw([line], LINKS, JudgeUrl()))
    assert "2 of 3" in shown
    assert "0 of 3" in shown
    assert "first" in shown
    [saved] = lines(pairwise.pairwise_csv(services, ""))
    assert (saved["Cases"], saved["A better"], saved["B better"]) == ("3", "2", "0")


def test_a_run_without_judgements_says_so_and_what_to_do(services: Services) -> None:
    judged(services, "20", repeat=2)
    shown = seen(services)
    assert "Not judged Restart if stopped." in shown
    assert shown.count("n/a") >= 2  # overall score and noise
    assert "Dimension Weight" not in shown


def test_agents_without_tests_are_judged_all_the_same(services: Services) -> None:
    judged(services, "20", 4.0)
    (folder(services) / "tests.json").unlink()
    services.refresh()
    before = services.version()
    assert shell.show_problems(services, "/judge") == (None, "page")
    assert shell.show_problems(services, "/tests")[1] == "page is-blocked"
    assert "4.00" in seen(services)
    judged(services, "21", 6.0, 7.0)
    assert services.version() != before
    assert "6.50" in seen(services)
