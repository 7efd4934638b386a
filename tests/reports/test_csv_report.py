from __future__ import annotations

import csv
import io

from poor_bench.models.result import Result
from poor_bench.reports.csv_table import results_to_csv
from tests.comparison.builders import failed, make_tests, scored


def rows(*results: Result) -> list[dict[str, str]]:
    tests = make_tests("t", "u")
    text = "".join(results_to_csv(((result, False) for result in results), tests))
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_every_result_is_a_row_with_class_level_and_failure() -> None:
    good, bad = rows(scored("t", 0.5, marks=("truncated", "loop")), failed("u"))
    assert (good["class_id"], good["level"], good["trial"]) == ("sums", "1", "1")
    assert (good["score"], good["marks"]) == ("0.5", "truncated loop")
    assert (bad["score"], bad["failure"]) == ("", "refused")


def test_text_survives_and_is_never_a_formula() -> None:
    [row] = rows(scored("t", response='=HYPERLINK("x")\n"quoted", comma', details="@SUM(A1)"))
    assert row["response"] == '\'=HYPERLINK("x")\n"quoted", comma'
    assert row["details"] == "'@SUM(A1)"
