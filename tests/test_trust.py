"""Notes about the trust in figures, and their badges."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from poor_bench import metrics
from poor_bench.dashboard.components.badges import describe_score, rerun_link, trust_badges
from poor_bench.metrics.trust import list_trial_notes, list_trust_notes, write_trust
from poor_bench.models.failure import WAITS_FOR_JUDGE, Failure, FailureKind
from poor_bench.reports.html.charts import build_heat_map
from poor_bench.reports.html.page import report_to_html
from poor_bench.reports.markdown_report import report_to_markdown
from poor_bench.statistics.summary import Group, GroupBy, StaleReason, Summary
from tests.dashboard.seen_text import components, of_type, text_of
from tests.reports.builders import make_report, scored

TIMEOUT = Failure(kind=FailureKind.TIMEOUT, message="too slow")


def _row(**fields: Any) -> Summary:
    known: dict[str, Any] = {
        "group": Group(llm_id="a"), "n_tests": 64, "n_asked": 64, "n_all": 64, "n_pending": 0,
        "n_scored": 64, "n_failed": 0, "n_passed": 9, "score": None, "strict_score": None,
        "pass_rate": None, "n_stale": 0,
    }  # fmt: skip
    return Summary(**(known | fields))


STATES = [
    ({"n_tests": 48}, "48 of 64 tests", "Scored on 48 of 64 tests that any model was scored on."),
    (
        {"n_stale": 3, "stale_reasons": Counter({StaleReason.PROMPT: 2, StaleReason.EVALUATOR: 1})},
        "3 stale",
        "3 of 64 scores. Changed since: prompt (2), evaluator (1).",
    ),
    ({"n_pending": 16}, "16 pending", "16 tests without a result of this model."),
    (
        {"n_failed": 2, "failures": {FailureKind.TIMEOUT: 2}},
        "2 failed",
        "2 trials failed to run, without a score: timeout 2.",
    ),
    (
        {"n_failed": 4, "failures": {FailureKind.JUDGE: 4}},
        "4 judge pending",
        "4 responses without a score: the judge has not answered.",
    ),
]


@pytest.mark.parametrize(("fields", "text", "meaning"), STATES)
def test_each_state_has_a_badge_with_its_count_and_a_tooltip(
    fields: dict[str, Any], text: str, meaning: str
) -> None:
    badges = trust_badges(list_trust_notes(_row(**fields)), "/run?llm=a")
    [badge] = [part for part in of_type(badges, "Span") if hasattr(part, "title")]
    assert badge.children == text
    assert badge.title == meaning
    assert "Re-run these" in text_of(badges)


def test_a_row_that_lacks_nothing_has_no_badge() -> None:
    assert trust_badges(list_trust_notes(_row())) is None


def test_what_is_not_known_gives_no_badge() -> None:
    assert write_trust(_row(n_all=None, n_pending=None, n_stale=None)) == ""


def test_failures_and_waiting_judgements_are_counted_apart() -> None:
    failures = {FailureKind.JUDGE: 4, FailureKind.TIMEOUT: 1}
    row = _row(n_failed=5, failures=failures)
    assert write_trust(row) == "1 failed, 4 judge pending"
    assert metrics.N_FAILED.show(row) == "1"
    assert "1 failed to run, 4 judge pending" in describe_score(row)


def test_badges_differ_by_more_than_their_colour() -> None:
    texts = {text.strip("0123456789 ") for _, text, _ in STATES}
    assert len(texts) == len(STATES)


def test_the_link_selects_the_model_class_and_level_of_the_row() -> None:
    group = Group(llm_id="ollama:a", class_id="math", level=2)
    assert rerun_link(_row(group=group)) == "/run?llm=ollama%3Aa&class=math&level=2"


def test_the_link_selects_repeated_trials_and_adds_none_to_other_tests() -> None:
    repeated = _row(last_trial=3, n_stale=6)
    assert rerun_link(repeated).endswith("&trials=3&redo=again")
    assert rerun_link(_row(last_trial=3, n_pending=2)).endswith("&trials=3")


def test_a_model_that_no_run_can_ask_has_no_link() -> None:
    assert rerun_link(_row(n_pending=None)) == ""
    badges = trust_badges(list_trust_notes(_row(n_tests=1)), "")
    assert not [part for part in components(badges) if type(part).__name__ == "Link"]


@pytest.mark.parametrize(
    ("failure", "reason", "text"),
    [
        (None, None, ""),
        (None, StaleReason.MODEL, "stale"),
        (TIMEOUT, None, "failed"),
        (WAITS_FOR_JUDGE, None, "judge pending"),
    ],
)
def test_a_trial_has_at_most_one_badge(
    failure: Failure | None, reason: StaleReason | None, text: str
) -> None:
    assert " ".join(note.text for note in list_trial_notes(failure, reason)) == text


def test_rows_by_class_of_every_report_say_what_they_lack() -> None:
    results = [
        *(scored(f"t{n}", 1.0, llm_id="whole") for n in range(4)),
        *(scored(f"t{n}", 1.0, llm_id="partial") for n in range(3)),
    ]
    data = make_report(results)
    rows = data.summaries(GroupBy.LLM_CLASS)
    lacking = {row.group.llm_id: data.write_missing(row) for row in rows}
    assert lacking == {"whole": "", "partial": "3 of 4 tests, 1 pending"}
    assert "3 of 4 tests, 1 pending" in report_to_markdown(data, GroupBy.LLM_CLASS)
    assert "3 of 4 tests; no rank, 1 pending" in report_to_html(data)
    [_, partial] = build_heat_map(data)
    assert [cell.trust for cell in partial.cells] == ["3 of 4 tests, 1 pending"]
