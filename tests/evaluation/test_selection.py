from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from poor_bench.errors import ConfigError
from poor_bench.evaluation.models import EvalSuite
from poor_bench.evaluation.suite_file import find_suite, list_suites, select_cases
from tests.evaluation.builders import make_case

SUITE = EvalSuite(
    name="shop",
    cases=(
        make_case(id="cart-add", benchmark_tags=["smoke"]),
        make_case(id="cart-empty", benchmark_tags=["slow"], trials=3),
        make_case(id="login", benchmark_tags=["smoke", "login"]),
    ),
)


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ({}, ["cart-add", "cart-empty", "login"]),
        ({"case_patterns": ["cart-*"]}, ["cart-add", "cart-empty"]),
        ({"case_patterns": ["login", "cart-add"]}, ["cart-add", "login"]),
        ({"tags": ["smoke"]}, ["cart-add", "login"]),
        ({"tags": ["login", "slow"]}, ["cart-empty", "login"]),
        ({"tags": ["smoke"], "case_patterns": ["cart*"]}, ["cart-add"]),
    ],
    ids=str,
)
def test_chosen_cases_keep_their_order(options: dict[str, Any], ids: list[str]) -> None:
    assert [case.id for case in select_cases(SUITE, **options).cases] == ids


def test_number_of_trials_can_be_given_for_all() -> None:
    chosen = select_cases(SUITE, trials=5)
    assert {case.trials for case in chosen.cases} == {5}
    assert SUITE.cases[1].trials == 3


@pytest.mark.parametrize(
    ("options", "words", "hint"),
    [
        ({"case_patterns": ["logn"]}, "case `logn` does not exist", "`login`"),
        ({"tags": ["smke"]}, "tag `smke` does not exist", "`smoke`"),
        ({"tags": ["slow"], "case_patterns": ["login"]}, "matches all filters", ""),
    ],
    ids=str,
)
def test_what_fits_nothing_is_refused(options: dict[str, Any], words: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        select_cases(SUITE, **options)
    assert hint in caught.value.hint


def test_suites_are_found_by_path_and_by_name(tmp_path: Path) -> None:
    (tmp_path / "suites").mkdir()
    own = tmp_path / "suites" / "mine.yaml"
    own.write_text("name: mine")
    assert find_suite("mine", tmp_path) == own
    assert find_suite(str(own), tmp_path) == own
    assert find_suite("example", tmp_path).parent.name == "suites"
    assert [path.stem for path in list_suites(tmp_path)] == ["mine", "example"]
    with pytest.raises(ConfigError, match="suite `exampel` does not exist") as caught:
        find_suite("exampel", tmp_path)
    assert "`example`" in caught.value.hint
