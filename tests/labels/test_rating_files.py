from __future__ import annotations

import csv
import io
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.errors import ConfigError
from poor_bench.labels.label import Label, keep_current_labels
from poor_bench.labels.ratings import group_ratings, ratings_to_csv, ratings_to_jsonl, read_ratings
from poor_bench.labels.storage import LABELS_FILE, fingerprint_labels, merge_labels, read_labels
from poor_bench.models.result import Result
from tests.labels.builders import WHEN, answer, rating

BLUE, RED = answer(), answer("=SUM(1)", trial=2)
STORED = {("a", "t", 1): BLUE, ("a", "t", 2): RED}


def find(llm_id: str, test_id: str, trial: int) -> Result | None:
    return STORED.get((llm_id, test_id, trial))


def read(text: str) -> tuple[Label, ...]:
    return read_ratings(text, find, file="s.csv", who="Cid", when=WHEN)


def rows_of(text: str) -> list[dict[str, Any]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_sheet_brings_every_rating_back() -> None:
    labels = [
        rating(0.25, note="=1+1", tags=["wrong key", "tone"]),
        rating(None, BLUE, who="Ben", note="what?\r\n'x"),
        rating(1.0, RED, who="@Ann"),
    ]
    sheet = ratings_to_csv(STORED.values(), group_ratings(labels))
    assert {"'=1+1", "'=SUM(1)", "'@Ann"} <= {
        cell for row in rows_of(sheet) for cell in row.values()
    }
    assert "evaluator" not in sheet
    assert set(read(sheet)) == set(labels)


def test_json_lines_bring_the_history_back_and_leave_conversations_out() -> None:
    labels = [rating(0.0), rating(1.0, when="2026-11-23T02:00:00Z")]
    talk = Label(about="0123456789abcdef", score=3.0, who="Ann", when=WHEN)
    assert read(ratings_to_jsonl([*labels, talk])) == tuple(labels)


def test_a_sheet_to_fill_in_has_each_unrated_answer_once() -> None:
    again = answer(llm_id="b")
    sheet = ratings_to_csv([BLUE, again, RED], group_ratings([rating(1.0)]), with_unrated=True)
    assert [(row["trial"], row["score"]) for row in rows_of(sheet)] == [("1", "1.0"), ("2", "")]
    filled = sheet.replace("a,t,2,,", "a,t,2,0.5,")
    assert {(each.about, each.score) for each in read(filled)} == {
        (BLUE.answer_id, 10.0),
        (RED.answer_id, 5.0),
    }


def test_a_sheet_with_few_columns_rates_the_stored_answer() -> None:
    [label] = read("llm_id,test_id,score\na,t,1\na,t,\n")
    assert (label.about, label.who, label.when) == (BLUE.answer_id, "Cid", WHEN)


def test_a_rating_of_an_answer_that_is_not_stored_here_survives() -> None:
    elsewhere = rating(1.0, answer("green", llm_id="z"))
    assert read(ratings_to_csv([], group_ratings([elsewhere]))) == (elsewhere,)


def test_rubbish_is_told_in_one_message_with_every_line() -> None:
    sheet = (
        "llm_id,test_id,trial,score,about,when\n"
        "a,t,1,high,,\n"
        "a,t,1,1.5,,\n"
        "b,t,1,1,,\n"
        "a,t,x,1,,\n"
        "a,t,1,1,conversation,\n"
        "a,t,1,1,,soon\n"
        "a,t,1,1,,\n"
    )
    with pytest.raises(
        ConfigError, match=r"6 rows of s\.csv not valid; nothing is imported"
    ) as told:
        read(sheet)
    assert [str(problem) for problem in told.value.problems] == [
        "s.csv:2: score must be a number from 0 to 1, not 'high'",
        "s.csv:3: must be from 0 to 1, not 1.5",
        "s.csv:4: no answer of 'b' to 't' in trial 1",
        "s.csv:5: trial must be a whole number from 1, not 'x'",
        "s.csv:6: about must be the id of an answer, not 'conversation'",
        "s.csv:7: when must be a time such as 2026-11-22T02:00:00Z, not 'soon'",
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "is not a JSON object"),
        ("[1]", "is not a rating"),
        ('{"about": "x"}', "score: Field required"),
        ('{"about": "x", "score": 1, "who": "A", "when": "2026-01-01"}', "must be the id"),
    ],
)
def test_rubbish_in_json_lines_is_told_with_its_line(line: str, message: str) -> None:
    with pytest.raises(ConfigError) as told:
        read(ratings_to_jsonl([rating()]) + line)
    [problem] = told.value.problems
    assert problem.line == 2
    assert message in problem.message


@pytest.mark.parametrize("text", ["", "\x00", "llm_id;test_id\n", "PK\x03\x04rubbish\n\x00"])
def test_a_file_that_is_no_sheet_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="line 1: the column llm_id is missing"):
        read(text)


def test_known_ratings_are_not_added_again(tmp_path: Path) -> None:
    assert merge_labels(tmp_path, [rating(1.0), rating(1.0), rating(0.0, who="Ben")]) == 2
    before = fingerprint_labels(tmp_path)
    assert merge_labels(tmp_path, [rating(1.0)]) == 0
    assert fingerprint_labels(tmp_path) == before != (0, 0)


def test_a_killed_import_leaves_whole_lines_usable(tmp_path: Path) -> None:
    labels = [rating(1.0), rating(0.0, who="Ben")]
    merge_labels(tmp_path, labels)
    path = tmp_path / LABELS_FILE
    path.write_bytes(path.read_bytes()[:-20])
    assert merge_labels(tmp_path, labels) == 1
    assert set(keep_current_labels(read_labels(tmp_path))) == set(labels)


_RATINGS = st.lists(
    st.builds(
        rating,
        score=st.sampled_from([None, 0.0, 0.3, 1.0]),
        result=st.sampled_from([BLUE, RED]),
        who=st.sampled_from(["Ann", "=Ben"]),
        when=st.sampled_from([WHEN, "2026-11-22T02:00:01Z", "2026-11-23T02:00:00+01:00"]),
        note=st.sampled_from(["", "-1", "a,\nb"]),
    ),
    max_size=6,
)


@given(st.lists(_RATINGS, min_size=2, max_size=3), st.randoms(use_true_random=False))
def test_any_order_of_imports_of_overlapping_files_gives_the_same_state(
    parts: list[list[Label]], chance: Any
) -> None:
    files = [ratings_to_jsonl(each) for each in parts] + [ratings_to_jsonl(parts[0] + parts[1])]
    files.append(ratings_to_csv(STORED.values(), group_ratings(parts[-1])))
    other = [*files, files[0]]
    chance.shuffle(other)
    assert _state_after(files) == _state_after(other)


def _state_after(files: list[str]) -> set[Label]:
    with TemporaryDirectory() as folder:
        for text in files:
            merge_labels(Path(folder), read(text) if text else ())
        return set(keep_current_labels(read_labels(Path(folder))))
