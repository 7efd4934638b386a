from __future__ import annotations

import csv
import io
import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from poor_bench.errors import ConfigError
from poor_bench.judge.corrected import choose_next
from poor_bench.judge.judged_run import JudgeRun
from poor_bench.judge.labels import (
    LabelScope,
    collect_judged_items,
    labels_from_csv,
    labels_to_csv,
    make_label,
    next_to_csv,
)
from poor_bench.labels.label import Label, keep_current_labels
from poor_bench.labels.storage import LABELS_FILE, add_labels, read_labels
from tests.judge.run_builders import conversation_of, fallback, judgement_of, run_of

WHEN = "2026-11-22T02:00:00Z"
TALKS = (conversation_of("hello", "Hi", "Hello"), conversation_of("bye", "Bye", "=SUM(1) bye"))
RUN = run_of(
    judgement_of(7, judge="a", cases={"hello": 6, "bye": 8}),
    judgement_of(5, judge="a", cases={"hello": 4, "bye": 8}),
    judgement_of(9, judge="b", cases={"hello": 9, "bye": 9}),
    fallback("b", cases={"hello": 5, "bye": 5}),
    conversations=TALKS,
)


def label(score: float | None, case_id: str = "hello", **fields: Any) -> Label:
    given = {"dimension": "overall", "who": "Ann", "when": WHEN} | fields
    run = given.pop("run", RUN)
    return make_label(run, case_id=case_id, score=score, **given)


def find(run_id: str) -> JudgeRun:
    if run_id != RUN.run_id:
        raise ConfigError(f"there is no run {run_id!r}")
    return RUN


def test_newest_label_of_a_person_counts_and_none_takes_it_back() -> None:
    given = [label(3), label(4, who="Ben"), label(5), label(None, who="Ben")]
    assert [(item.who, item.score) for item in keep_current_labels(given)] == [("Ann", 5.0)]


def test_label_counts_for_every_run_of_the_same_conversation() -> None:
    again = replace(RUN, header=replace(RUN.header, run_id="later"))
    assert label(3, run=again).key == label(3).key


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: label(11), "from 0 to 10"),
        (lambda: label(float("nan")), "from 0 to 10"),
        (lambda: label(3, "nobody"), "no case 'nobody'"),
        (lambda: label(3, dimension="tone"), "a case has no dimensions"),
        (lambda: label(3, "", dimension="speed"), "dimension 'speed' does not exist"),
        (lambda: label(3, who=" "), "name of the person"),
    ],
)
def test_label_that_means_nothing_is_refused(make: Callable[[], Label], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_labels_are_kept_in_order_and_added_by_several_at_once(tmp_path: Path) -> None:
    assert read_labels(tmp_path) == []
    add_labels(tmp_path, [label(3), label(7, "", dimension="tone", note="kind")])
    assert read_labels(tmp_path) == [label(3), label(7, "", dimension="tone", note="kind")]
    threads = [
        threading.Thread(target=add_labels, args=(tmp_path, [label(n)])) for n in range(1, 9)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {item.score for item in read_labels(tmp_path)[2:]} == set(range(1, 9))


def test_half_a_line_of_a_dead_process_harms_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    add_labels(tmp_path, [label(3)])
    path = tmp_path / LABELS_FILE
    path.write_bytes(path.read_bytes() + b'{"about": "x", "sc')
    add_labels(tmp_path, [label(4)])
    with caplog.at_level(logging.WARNING):
        assert [item.score for item in read_labels(tmp_path)] == [3.0, 4.0]
    assert f"{LABELS_FILE}:2 is skipped" in caplog.text


def test_sheet_has_a_row_for_everything_and_keeps_what_is_filled_in() -> None:
    sheet = labels_to_csv([RUN], [label(3, note="curt"), label(8, who="Ben")])
    rows = list(csv.DictReader(io.StringIO(sheet)))
    told = [(row["case_id"], row["dimension"], row["score"], row["who"]) for row in rows]
    assert told == [
        ("hello", "overall", "3.0", "Ann"),
        ("hello", "overall", "8.0", "Ben"),
        ("bye", "overall", "", ""),
        ("", "overall", "", ""),
        ("", "tone", "", ""),
    ]
    assert rows[0]["conversation"] == "USER: Hi\nAGENT: Hello"
    assert labels_from_csv(sheet, find, file="s.csv", who="Cid", when=WHEN) == (
        label(3, note="curt"),
        label(8, who="Ben"),
    )


def test_the_weight_of_a_drawn_case_survives_sheet_and_file(tmp_path: Path) -> None:
    drawn = choose_next([RUN], [], 1)
    rows = list(csv.DictReader(io.StringIO(next_to_csv(drawn, find))))
    assert [(row["case_id"], row["score"]) for row in rows] == [(drawn[0].answer.case_id, "")]
    sheet = next_to_csv(drawn, find).replace(f",{rows[0]['weight']},", ",1.5,")
    filled = sheet.replace(",overall,,", ",overall,4,")
    [read] = labels_from_csv(filled, find, file="s.csv", who="Ann", when=WHEN)
    assert (read.score, read.weight) == (4.0, 1.5)
    add_labels(tmp_path, [read])
    assert read_labels(tmp_path) == [read]


@pytest.mark.parametrize("weight", ["0", "-1", "nan", "inf", "much"])
def test_weights_that_mean_nothing_are_refused(weight: str) -> None:
    sheet = f"run_id,case_id,score,weight\n{RUN.run_id},hello,4,{weight}\n"
    with pytest.raises(ConfigError, match="1 row"):
        labels_from_csv(sheet, find, file="s.csv", who="Cid", when=WHEN)


def test_cells_are_no_formulas() -> None:
    sheet = labels_to_csv([run_of(conversations=(conversation_of("=1+1", "Hi"),))], [])
    assert "'=1+1" in sheet


@pytest.mark.parametrize("note", ["=1+1", "'=1", " \t-x ", 'a "b",\r\nc', "x" * 200_000])
def test_a_sheet_gives_the_texts_back_as_they_were(note: str) -> None:
    sheet = labels_to_csv([RUN], [label(3, note=note)])
    assert labels_from_csv(sheet, find, file="s.csv", who="Cid", when=WHEN) == (
        label(3, note=note),
    )


def test_sheet_with_few_columns_is_enough() -> None:
    sheet = f"run_id,case_id,score\n{RUN.run_id},hello,4\n{RUN.run_id},bye,\n"
    assert labels_from_csv(sheet, find, file="s.csv", who="Cid", when=WHEN) == (
        label(4, who="Cid"),
    )


def test_all_bad_rows_are_told_at_once_with_their_lines() -> None:
    sheet = f"run_id,case_id,score\n{RUN.run_id},hello,high\nx,hello,3\n{RUN.run_id},,12\n"
    with pytest.raises(ConfigError, match=r"3 rows of s\.csv") as caught:
        labels_from_csv(sheet, find, file="s.csv", who="Cid", when=WHEN)
    assert [str(problem) for problem in caught.value.problems] == [
        "s.csv:2: must be a number from 0 to 10, not 'high'",
        "s.csv:3: there is no run 'x'",
        "s.csv:4: must be from 0 to 10, not 12",
    ]


def test_sheet_without_scores_is_refused() -> None:
    with pytest.raises(ConfigError, match="column score is missing"):
        labels_from_csv("run_id,points\n", find, file="s.csv", who="Cid", when=WHEN)


def test_each_judge_is_set_against_all_people_by_its_mean() -> None:
    labels = [label(3), label(5, who="Ben"), label(9, "bye")]
    items = collect_judged_items([RUN], labels)
    assert [(item.judge, item.humans, item.length) for item in items["a"]] == [
        (5.0, {"Ann": 3.0, "Ben": 5.0}, 5),
        (8.0, {"Ann": 9.0}, 11),
    ]
    assert [item.judge for item in items["b"]] == [9.0, 9.0]


def test_agents_as_a_whole_are_looked_at_apart() -> None:
    labels = [label(3), label(6, ""), label(2, "", dimension="tone")]
    items = collect_judged_items([RUN], labels, LabelScope.AGENTS)["a"]
    assert [(item.judge, item.human) for item in items] == [(6.0, 6.0), (6.0, 2.0)]


def test_what_nobody_labelled_is_left_out() -> None:
    assert collect_judged_items([RUN], []) == {"a": (), "b": ()}
