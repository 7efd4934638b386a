"""People's ratings on the dashboard: the bar, the column, the filter, the issue."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from poor_bench.dashboard.pages.model.results import page_of_rows
from poor_bench.dashboard.pages.model.url import ModelUrl
from poor_bench.dashboard.result_panel.rating_bar import (
    BarView,
    RatingIds,
    SentBoxes,
    choose_edits,
    default_rater,
    save_boxes,
    save_rating,
    view_bar,
)
from poor_bench.dashboard.services.rated_answers import RatedAnswers
from poor_bench.dashboard.services.services import Services
from poor_bench.errors import ConfigError
from poor_bench.labels.storage import read_labels
from poor_bench.results.query import RatingFilter
from poor_bench.results.table import TrialKey
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import scored, services_with, write_results
from tests.dashboard.seen_text import text_of

LLM, OTHER = "scripted:good", "scripted:twin"


@pytest.fixture
def services(workspace_files: WorkspaceFiles) -> Services:
    return services_with(workspace_files, {"good": [1.0, 0.0], "twin": [1.0, 1.0]}, n_tests=2)


def target(services: Services, place: int = 0, llm_id: str = LLM) -> list[object]:
    tests = services.files.workspace().tests
    return [llm_id, tests[place].test_id, 1, False]


def shown(services: Services, place: int = 0, who: str = "Ann") -> BarView:
    return view_bar(services, target(services, place), who)


def rate(services: Services, score: float | None, place: int = 0, who: str = "Ann") -> BarView:
    answer = shown(services, place, who).answer
    assert answer is not None
    return save_rating(services, answer, {"score": score})


def n_labels(services: Services) -> int:
    return len(read_labels(services.files.config().data_dir))


def rows(services: Services, wanted: RatingFilter | None, llm_id: str = LLM) -> list[object]:
    url = ModelUrl(llm_id=llm_id, ratings=(wanted,) if wanted else ())
    page = page_of_rows(services, url.search, {"startRow": 0, "endRow": 10})
    return [(row["test_id"], row["rating"]) for row in page["rowData"]]


def test_the_bar_shows_ones_own_rating_and_those_of_others(services: Services) -> None:
    assert shown(services).fields == ("", "", "")
    rate(services, 0.0)
    said = {"score": 0.7, "note": "<b>odd</b>", "tags": ("key", "tone")}
    save_rating(services, shown(services, who="Ben").answer or [], said)
    assert (shown(services).thumbs, shown(services).fields[0]) == (("filled", "default"), 0.0)
    assert text_of(shown(services).others) == "Ben: 0.70. <b>odd</b> [key] [tone]"
    assert shown(services, who="Ben").fields == (0.7, "<b>odd</b>", "key, tone")
    assert shown(services, who=" ").answer == [
        *target(services),
        shown(services).answer[4],
        default_rater(),
    ]


def test_the_same_again_and_nothing_to_take_back_are_not_stored(services: Services) -> None:
    rate(services, None)
    assert n_labels(services) == 0
    rate(services, 1.0)
    rate(services, 1.0)
    assert n_labels(services) == 1
    rate(services, None)
    assert (n_labels(services), shown(services).own) == (2, None)


def test_a_rating_of_an_answer_that_was_replaced_meanwhile_is_refused(services: Services) -> None:
    seen = shown(services).answer
    rate(services, 1.0)
    _, test_id, *_ = target(services)
    newer = [scored(str(test_id), 1.0, response="newer", timestamp="2099-01-01T00:00:00Z")]
    write_results(services.files.config().data_dir, {LLM: newer})
    services.refresh()
    assert seen is not None
    with pytest.raises(ConfigError, match="has a new answer"):
        save_rating(services, seen, {"score": 0.0})
    assert shown(services).own is None
    assert n_labels(services) == 1


def test_a_clock_that_stands_still_loses_no_change(services: Services) -> None:
    still = RatedAnswers(services.files, services.results, lambda: datetime(2026, 1, 1, tzinfo=UTC))
    llm_id, test_id, *_ = target(services)
    answer = shown(services).answer
    assert answer is not None
    for score in (1.0, 0.0, 0.5):
        key = TrialKey(str(test_id), 1, False)
        still.rate(str(llm_id), key, answer[4], "Ann", {"score": score})
    assert shown(services).fields[0] == 0.5


def test_results_show_their_rating_and_are_found_by_it(services: Services) -> None:
    first, second = (test.test_id for test in services.files.workspace().tests)
    rate(services, 1.0, place=0)
    rate(services, 1.0, place=1)
    rate(services, 0.5, place=1, who="Ben")
    assert rows(services, None) == [(first, 1.0), (second, 0.75)]
    assert rows(services, RatingFilter.DISPUTED) == [(second, 0.75)]
    assert rows(services, RatingFilter.UNRATED) == []
    # the same words of another model have the same rating, its other answer has none
    assert rows(services, RatingFilter.RATED, OTHER) == [(first, 1.0)]
    assert rows(services, RatingFilter.UNRATED, OTHER) == [(second, None)]


def test_people_who_disagree_are_an_issue_at_once(services: Services) -> None:
    before = services.issues.of_llm(LLM)
    rate(services, 1.0, place=1)
    [issue] = services.issues.of_llm(LLM)[len(before) :]
    assert (issue.detector_id, issue.evidence) == (
        "people_disagree",
        "1 person: 1.00, evaluator: 0.00",
    )
    assert [each.detector_id for each in services.issues.wait().issues].count(
        "people_disagree"
    ) == 1
    found = services.issues.all_of_llm(LLM).value
    assert found is not None
    assert [each.detector_id for each in found].count("people_disagree") == 1
    assert services.issues.trials(LLM, "people_disagree") == {(issue.test_id, 1)}
    rate(services, None, place=1)
    assert services.issues.of_llm(LLM) == before


def test_every_rating_changes_what_pages_look_at(services: Services) -> None:
    before = services.version()
    rate(services, 1.0)
    assert services.version() != before


TAKEN_BACK = {"score": None, "note": "", "tags": ()}
EMPTY = ("", "", "")


@pytest.mark.parametrize(
    ("trigger", "key", "held", "saved", "edits"),
    [
        (RatingIds.UP, None, (0.5, "n", "a"), (0.5, "n", "a"), {"score": 1.0}),
        (RatingIds.DOWN, 0.3, (0, "n", "a"), (0.5, "n", "a"), {"score": 0.0}),
        (RatingIds.KEYED, 0.3, (None, None, None), EMPTY, {"score": 0.3}),
        (RatingIds.KEYED, 0.3, ("", "n", ""), EMPTY, {"score": 0.3, "note": "n"}),
        (RatingIds.KEYED, None, (0.5, "n", "a"), (0.5, "n", "a"), TAKEN_BACK),
        (RatingIds.CLEAR, 0.3, ("", "", ""), EMPTY, TAKEN_BACK),
        (RatingIds.NOTE, 0.3, (0.5, "n", "b; a"), (0.5, "", "b, a"), {"note": "n"}),
        (RatingIds.SCORE, None, ("", "n", "a"), (0, "n", "a"), {"score": None}),
        (RatingIds.TAGS, None, ("", "", ""), EMPTY, {}),
    ],
)
def test_only_what_was_edited_is_changed(
    trigger: RatingIds,
    key: float | None,
    held: tuple[object, ...],
    saved: tuple[object, ...],
    edits: dict[str, object],
) -> None:
    assert choose_edits(trigger, key, held, saved) == edits


def test_what_was_sent_is_not_sent_again_before_the_boxes_are_filled() -> None:
    sent, shown = SentBoxes(most=2), ["answer", EMPTY, "first"]
    assert sent.of(shown) == sent.of(None) == (0, None)
    held = sent.note(shown, 1, (0.5, "mine", "b; a"), {"score": 1.0})
    assert sent.of(shown) == (1, held) == (1, [1.0, "mine", "b, a"])
    boxes = (1, "mine", "a, b, new")
    assert choose_edits(RatingIds.TAGS, None, boxes, EMPTY, held) == {"tags": ("a", "b", "new")}
    for later in ("second", "third"):
        sent.note(["answer", EMPTY, later], 2, EMPTY, {})
    assert sent.of(shown) == (0, None)  # the oldest is forgotten


def test_what_is_put_back_after_it_was_sent_is_stored() -> None:
    saved, sent = (0.5, "n", "key"), ("", "", "")  # taken back, and the boxes not filled since
    boxes = (0.5, "", "key")
    edits = choose_edits(RatingIds.TAGS, None, boxes, saved, sent)
    assert edits == {"score": 0.5, "tags": ("key",)}


def test_a_comment_typed_right_after_a_rating_was_taken_back_is_stored() -> None:
    held, saved = ("", "new", ""), (0.5, "old", "a")
    assert choose_edits(RatingIds.KEYED, None, held, saved) == TAKEN_BACK | {"note": "new"}


def test_a_tab_that_shows_an_old_rating_overwrites_nothing(services: Services) -> None:
    answer = shown(services).answer or []
    save_rating(services, answer, {"score": 0.7, "note": "theirs"})
    edits = choose_edits(RatingIds.TAGS, None, (None, "", "key"), EMPTY)  # boxes of a stale tab
    view = save_rating(services, answer, edits)
    assert view.fields == (0.7, "theirs", "key")
    save_rating(services, answer, choose_edits(RatingIds.NOTE, None, EMPTY, EMPTY))
    assert shown(services).fields == (0.7, "theirs", "key")


def test_a_request_that_a_later_one_has_overtaken_writes_nothing_old(services: Services) -> None:
    sent, boxes = SentBoxes(), [shown(services).answer, EMPTY, "first"]
    assert save_boxes(services, sent, (2, RatingIds.NOTE, None, ("", "whole", "key"), boxes))
    assert save_boxes(services, sent, (1, RatingIds.NOTE, None, ("", "who", ""), boxes)) is None
    assert shown(services).fields == ("", "whole", "key")
    assert save_boxes(services, sent, (3, RatingIds.NOTE, None, ("", "", "key"), boxes))
    assert shown(services).fields == ("", "", "key")


def test_edits_at_the_same_time_all_stay(services: Services) -> None:
    answer = shown(services).answer or []
    edits = [{"score": 0.7}, {"note": "late"}, {"tags": ("key",)}]
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(lambda edit: save_rating(services, answer, edit), edits))
    assert shown(services).fields == (0.7, "late", "key")
