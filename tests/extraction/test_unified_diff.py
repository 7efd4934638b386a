from __future__ import annotations

import difflib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from poor_bench.extraction.found import Found
from poor_bench.extraction.unified_diff import (
    DiffDoesNotApplyError,
    apply_hunks,
    extract_diff,
    list_changed_lines,
    normalise_changes,
    parse_diff,
)
from tests.extraction.strategies import hostile_text

DIFF = "--- a/x.txt\t2024-01-01\n+++ b/x.txt\n@@ -1,2 +1,2 @@ section\n same\n-old\n+new\n"


def test_names_signs_and_places_are_read():
    (file,) = parse_diff(DIFF)
    (hunk,) = file.hunks
    assert file.name == "x.txt"
    assert (hunk.start, hunk.is_malformed) == (1, False)
    assert hunk.lines == ((" ", "same"), ("-", "old"), ("+", "new"))
    assert (hunk.old, hunk.new) == (["same", "old"], ["same", "new"])


def test_several_files_are_kept_apart():
    other = DIFF.replace("x.txt", "y.txt")
    assert [file.name for file in parse_diff(f"diff --git a b\n{DIFF}{other}")] == [
        "x.txt",
        "y.txt",
    ]


def test_removed_line_that_looks_like_a_header_is_a_line():
    (file,) = parse_diff("--- a\n+++ a\n@@ -1,2 +1 @@\n--- sql comment\n x\n")
    assert list(list_changed_lines(file.hunks)) == [("-", "-- sql comment")]


def test_new_file_has_the_new_name():
    (file,) = parse_diff("--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+hello\n")
    assert file.name == "new.txt"


def test_line_without_sign_is_unchanged_and_malformed():
    (file,) = parse_diff("--- a\n+++ a\n@@ -1,2 +1,2 @@\nsame\n-old\n+new\n")
    (hunk,) = file.hunks
    assert hunk.lines[0] == (" ", "same")
    assert hunk.is_malformed


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (DIFF, Found.BARE),
        (f"```diff\n{DIFF}```", Found.FENCED),
        (f"``````diff\n{DIFF}```", Found.FENCED),
        (f"Here it is:\n{DIFF}\nThis changes one line.", Found.IN_PROSE),
        (f"{DIFF}\nThis changes one line.", Found.BARE),
    ],
)
def test_diff_is_found_and_said_how(text, found):
    extracted = extract_diff(text)
    assert extracted.found is found
    assert list(list_changed_lines(extracted.value[0].hunks)) == [("-", "old"), ("+", "new")]
    assert extracted.value[0].hunks[0].lines[0] == (" ", "same")


@pytest.mark.parametrize("text", ["", "no diff", "--- a\n+++ b\n", "--- a\n+++ a\n@@ -1 +1 @@\n x"])
def test_what_changes_nothing_is_no_diff(text):
    assert extract_diff(text) is None


def test_hunk_goes_to_the_nearest_place_that_fits():
    (file,) = parse_diff("@@ -9,1 +9,1 @@\n-a\n+b\n")
    lines = ["a", "x", "x", "x", "x", "x", "x", "a", "x"]
    assert apply_hunks(lines, file.hunks) == [*lines[:7], "b", "x"]


def test_hunk_that_fits_nowhere_is_named():
    (file,) = parse_diff("@@ -1 +1 @@\n-x\n+y\n@@ -3 +3 @@\n-nowhere\n+b\n")
    with pytest.raises(DiffDoesNotApplyError, match="hunk 2"):
        apply_hunks(["x", "y", "z"], file.hunks)


def test_rewriting_a_block_is_the_same_as_changing_its_line():
    (short,) = parse_diff("@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n")
    (rewritten,) = parse_diff("@@ -1,3 +1,3 @@\n-a\n-b\n-c\n+a\n+B\n+c\n")
    assert normalise_changes(short.hunks) == normalise_changes(rewritten.hunks) == [(["b"], ["B"])]


LINES = st.lists(st.sampled_from(["a", "b", "c", "", "- d", "++ e"]), max_size=12)


@given(LINES, LINES, st.integers(0, 4))
@example([""], ["a", ""], 1)
def test_every_real_diff_applies(old, new, n_context):
    diff = "\n".join(difflib.unified_diff(old, new, "f", "f", lineterm="", n=n_context))
    hunks = [hunk for file in parse_diff(diff) for hunk in file.hunks]
    assert apply_hunks(old, hunks) == new


@given(hostile_text)
def test_any_text_is_survived(text):
    extracted = extract_diff(text)
    if extracted is not None:
        hunks = [hunk for file in extracted.value for hunk in file.hunks]
        assert any(True for _ in list_changed_lines(hunks))
        normalise_changes(hunks)
