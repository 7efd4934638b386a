from poor_bench.statistics.significance import benjamini_hochberg, select_findings


def test_the_largest_passing_p_value_selects_all_below_it() -> None:
    assert benjamini_hochberg([0.03, 0.001, 0.9, 0.031], 0.05) == [True, True, False, True]
    assert benjamini_hochberg([0.04, 0.03, 0.02, 0.01], 0.05) == [True] * 4
    assert benjamini_hochberg([0.2, 0.9], 0.05) == [False, False]
    assert benjamini_hochberg([], 0.05) == []


def test_more_findings_are_selected_where_many_are_certain() -> None:
    harmless = [0.9] * 40
    few, many = [0.001, 0.01, *harmless], [*[0.001] * 6, 0.02, *harmless]
    assert sum(select_findings(few, 0.05, 0.15, 1.7)) == 1
    assert sum(select_findings(many, 0.05, 0.15, 1.7)) == 7
    assert sum(select_findings(many, 0.05, 0.05, 1.7)) == 6
    assert select_findings([], 0.05, 0.15, 1.7) == []
