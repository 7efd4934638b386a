"""The table of attacks in docs/security.md names the tests that exist, and all of this folder."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
HERE = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "security.md"


def named_by_the_table() -> list[Path]:
    section = PAGE.read_text(encoding="utf-8").split("## Attacks that stay closed")[1]
    last_cells = [line.split("|")[-2] for line in section.splitlines() if line.startswith("| ")]
    names = re.findall(r"[\w/]*\btest_\w+", " ".join(last_cells))
    return [
        (TESTS if "/" in name else HERE) / f"{name.removeprefix('tests/')}.py" for name in names
    ]


def test_every_test_that_the_table_names_exists() -> None:
    named = named_by_the_table()
    assert len(named) > 15
    assert [path for path in named if not path.is_file()] == []


def test_every_attack_of_this_folder_is_in_the_table() -> None:
    missing = {*HERE.glob("test_*.py")} - {*named_by_the_table()} - {Path(__file__)}
    assert missing == set()
