"""The page on the architecture, held against the package."""

from __future__ import annotations

import ast
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


PARTS_OF_VERBS = ("extraction", "scoring", "autopsy", "generators", "../evaluators")
"""Parts whose functions are verbs. Others still have nouns: add a part when it has none."""
VERB = re.compile(
    r"_*(?:"
    r"add|apply|are|ask|begins|blank|build|check|choose|close|closes|collect|compare|compile|"
    r"compute|conclude|cost|count|cut|decode|defines|do|does|double|draw|drop|end|evaluate|explain|"
    r"extract|find|finish|fits|fold|generate|guess|has|holds|import|invent|is|join|keep|"
    r"limit|list|load|make|may|mean|measure|move|multiplies|multiply|name|normalise|number|"
    r"observe|occurs|open|parse|prepare|put|read|reject|repair|replace|require|resolve|"
    r"reverse|rotate|round|rules|run|score|screen|search|share|sort|split|strip|subtract|sum|"
    r"swap|take|takes|unwrap|walk|wants|write"
    r")(?:_|$)"
)
NOT_VERBS = {
    "reference", "parts", "question",  # hooks of evaluators, which users write, too
    "words", "without_thinking", "first", "digests", "family_names", "as_json",
    "_in_own_case", "_normal", "_passes",
}  # fmt: skip


def test_functions_are_verbs() -> None:
    folders = [ROOT / "poor_bench" / part for part in PARTS_OF_VERBS]
    found = {
        f"{path.name}: {node.name}"
        for folder in folders
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and not _may_have_any_name(node)
    }
    assert all(folder.is_dir() for folder in folders)
    assert not found


def _may_have_any_name(function: ast.FunctionDef) -> bool:
    name, decorators = function.name, " ".join(map(ast.unparse, function.decorator_list))
    is_conversion = "_to_" in name or "_from_" in name
    is_named_by_use = "property" in decorators or "validator" in decorators
    is_verb = VERB.match(name) is not None
    return is_verb or is_conversion or is_named_by_use or name in NOT_VERBS or name[:2] == "__"
