from __future__ import annotations

from poor_bench.statistics.comparison import name_tie_groups


def test_groups_after_z_have_two_letters() -> None:
    letters = name_tie_groups([(f"llm {number}",) for number in range(704)])
    named = [letters[f"llm {number}"] for number in (0, 25, 26, 27, 51, 52, 701, 702, 703)]
    assert named == ["a", "z", "aa", "ab", "az", "ba", "zz", "aaa", "aab"]
    assert len(set(letters.values())) == 704


def test_groups_of_one_llm_stay_apart_where_names_are_long() -> None:
    groups = [("x",) if number in {0, 27} else ("y",) for number in range(28)]
    assert name_tie_groups(groups)["x"] == "a,ab"


def test_few_groups_are_written_without_commas() -> None:
    assert name_tie_groups([("x", "y"), ("y", "z")]) == {"x": "a", "y": "ab", "z": "b"}
