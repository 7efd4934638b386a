from __future__ import annotations

from typing import Any

import pytest

from poor_bench.errors import ConfigError
from poor_bench.runner.selection import Selection, select
from tests.conftest import WorkspaceFiles
from tests.runner.running import open_runner


@pytest.fixture
def workspace(workspace_files: WorkspaceFiles) -> Any:
    """Tests sum_001 (level 2) to sum_005 (level 1), three LLMs, the last one not enabled."""
    workspace_files.add_tests(5)
    workspace_files.tests[0]["tags"] = ["quick"]
    workspace_files.add_llm("Small", "4")
    workspace_files.add_llm("small:1b", "4", label="tiny one")
    workspace_files.add_llm("off", "4", enabled=False)
    return open_runner(workspace_files.write()).workspace


def test_no_filter_chooses_all_tests_and_the_enabled_llms(workspace: Any) -> None:
    chosen = select(workspace, Selection())
    assert [llm.id for llm in chosen.llms] == ["scripted:Small", "scripted:small:1b"]
    assert len(chosen.tests) == 5


@pytest.mark.parametrize(
    ("pattern", "ids"),
    [
        ("scripted:*", ["scripted:Small", "scripted:small:1b"]),
        ("scripted:s*", ["scripted:small:1b"]),
        ("tiny one", ["scripted:small:1b"]),
        ("scripted:off", ["scripted:off"]),
        ("*off", []),
    ],
)
def test_globs_mind_case_and_only_full_names_choose_what_is_not_enabled(
    workspace: Any, pattern: str, ids: list[str]
) -> None:
    assert [llm.id for llm in select(workspace, Selection(llms=(pattern,))).llms] == ids


@pytest.mark.parametrize(
    ("filters", "test_ids"),
    [
        ({"tests": ("sum_001", "*3")}, ["sum_001", "sum_003"]),
        ({"levels": frozenset({1, 2})}, ["sum_001", "sum_005"]),
        ({"tags": ("q*",)}, ["sum_001"]),
        ({"tests": ("*",), "levels": frozenset({3})}, ["sum_002"]),
    ],
)
def test_filters_of_one_kind_widen_and_kinds_narrow_the_choice(
    workspace: Any, filters: dict[str, Any], test_ids: list[str]
) -> None:
    assert [test.test_id for test in select(workspace, Selection(**filters)).tests] == test_ids


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ({"llms": ("scripted:smal",)}, "--llm 'scripted:smal' matches nothing"),
        ({"classes": ("sum",)}, "--class 'sum' matches nothing"),
        ({"tests": ("sum_9",)}, "--test 'sum_9' matches nothing"),
        ({"tags": ("slow",)}, "--tag 'slow' matches nothing"),
        ({"levels": frozenset({9})}, "--level matches nothing"),
        ({"tests": ("sum_001",), "levels": frozenset({5})}, "no test matches all filters together"),
    ],
)
def test_filter_that_matches_nothing_is_an_error_with_a_way_out(
    workspace: Any, filters: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said) as raised:
        select(workspace, Selection(**filters))
    assert raised.value.hint
