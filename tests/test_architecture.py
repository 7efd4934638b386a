"""The page on the architecture, held against the package."""

from __future__ import annotations

import importlib.util
import re
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType

import grimp
import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"


@pytest.fixture(scope="module")
def architecture() -> ModuleType:
    spec = importlib.util.spec_from_file_location("architecture", ROOT / "docs" / "architecture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_shows_the_imports_of_today(architecture: ModuleType) -> None:
    drawn = architecture.draw(architecture.read_imports(), architecture.read_pure_parts())
    is_current = drawn == architecture.PICTURE.read_text(encoding="utf-8")
    assert is_current, (
        "the imports changed: run `python docs/architecture.py` and commit the result"
    )


def test_parts_stand_above_what_they_import(architecture: ModuleType) -> None:
    imports = {"a": frozenset("bc"), "b": frozenset("c"), "c": frozenset(), "d": frozenset("c")}
    assert architecture.find_rows(imports) == [["c"], ["b", "d"], ["a"]]
    assert architecture.drop_implied(imports) == imports | {"a": frozenset("b")}


@pytest.mark.parametrize("page", [PAGE, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_pages_name_files_that_exist(page: Path) -> None:
    named = re.findall(r"`([a-z_/]+(?:/|\.py))`", page.read_text(encoding="utf-8"))
    places = (ROOT, ROOT / "poor_bench")
    missing = [name for name in named if not any((place / name).exists() for place in places)]
    assert named
    assert not missing


def test_no_module_imports_itself_in_a_circle() -> None:
    graph = grimp.build_graph("poor_bench", cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the circle


def test_no_docstring_begins_with_return() -> None:
    sources = [
        path for part in ("poor_bench", "evaluators") for path in (ROOT / part).rglob("*.py")
    ]
    begun = re.compile(r'^\s*r?"""Returns? ', re.MULTILINE)
    found = [path.name for path in sources if begun.search(path.read_text(encoding="utf-8"))]
    assert sources
    assert not found
