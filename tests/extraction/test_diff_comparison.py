from __future__ import annotations

import pytest

from poor_bench.extraction.unified_diff import (
    compute_shared_changes,
    explain_difference,
    list_all_changes,
    parse_diff,
)


def diff(name: str, *lines: str) -> str:
    return "\n".join([f"--- {name}", f"+++ {name}", "@@ -1,3 +1,3 @@", *lines, ""])


ONE = diff("a.txt", " x", "-y", "+z")
TWO = diff("b.txt", "-p", "+q")


def test_order_of_files_and_folders_do_not_count():
    ours = parse_diff(TWO + ONE)
    theirs = parse_diff(ONE.replace("a.txt", "src/a.txt") + TWO)
    assert explain_difference(ours, theirs) == ""


@pytest.mark.parametrize(
    ("got", "difference"),
    [
        (ONE + TWO, "expected changes in 1 file, got 2"),
        (ONE.replace("a.txt", "c.txt"), "expected file 'a.txt', got 'c.txt'"),
        (ONE.replace("+z", "+w"), "it changes other lines than expected"),
    ],
)
def test_difference_is_told(got, difference):
    assert explain_difference(parse_diff(got), parse_diff(ONE)) == difference


def test_share_counts_changed_lines_with_their_signs():
    assert compute_shared_changes(parse_diff(ONE), parse_diff(ONE)) == 1.0
    assert compute_shared_changes(parse_diff(ONE), parse_diff(ONE + TWO)) == pytest.approx(2 / 3)
    assert compute_shared_changes(parse_diff(TWO), parse_diff(ONE)) == 0.0


def test_changes_are_listed_with_their_signs():
    assert list(list_all_changes(parse_diff(ONE + TWO))) == ["-y", "+z", "-p", "+q"]
