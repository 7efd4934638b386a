from poor_bench.statistics.significance import benjamini_hochberg


def test_the_largest_passing_p_value_selects_all_below_it() -> None:
    assert benjamini_hochberg([0.03, 0.001, 0.9, 0.031], 0.05) == [True, True, False, True]
    assert benjamini_hochberg([0.04, 0.03, 0.02, 0.01], 0.05) == [True] * 4
    assert benjamini_hochberg([0.2, 0.9], 0.05) == [False, False]
    assert benjamini_hochberg([], 0.05) == []
