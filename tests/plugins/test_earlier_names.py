"""An evaluator that a user copied from an earlier version keeps loading."""

import sys
import tomllib
from pathlib import Path

import pytest

from poor_bench import extraction
from poor_bench.extraction import text_overlap
from poor_bench.plugins import load_evaluators, sources

NAMES = tomllib.loads((Path(sources.__file__).parent / "earlier_names.toml").read_text("utf-8"))
COPIED = """
from {module} import *

def evaluate(response, parameters):
    return 1.0, "right"
"""


@pytest.mark.parametrize("earlier", sorted(NAMES["modules"]))
def test_a_copy_of_an_earlier_evaluator_still_loads(tmp_path: Path, earlier: str) -> None:
    (tmp_path / "mine.py").write_text(COPIED.format(module=earlier), encoding="utf-8")
    verdict = load_evaluators([tmp_path]).get("mine").evaluate("4", {})
    assert verdict.score == 1.0


def test_names_that_it_imported_are_there(tmp_path: Path) -> None:
    source = (
        "from poor_bench.scoring.format_rule import under_format_rule\n"
        "from poor_bench.scoring.answer_format import AnswerFormat\n"
        "from poor_bench.scoring.context import EvaluationContext\n"
        "from poor_bench.wording import counted\n\n"
        "def evaluate(response, parameters):\n"
        '    return under_format_rule(1.0, counted(2, "test"), broken="", strict=False)\n'
    )
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    assert load_evaluators([tmp_path]).get("mine").evaluate("4", {}).details == "2 tests"


@pytest.mark.parametrize(
    ("module", "function"),
    [(module, name) for module, functions in NAMES["functions"].items() for name in functions],
)
def test_functions_are_found_by_their_earlier_names(
    tmp_path: Path, module: str, function: str
) -> None:
    source = f'"""Mine."""\n\nfrom {module} import {function}\n\n\n'
    source += f"def evaluate(response, parameters):\n    return 1.0, {function}.__name__\n"
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    verdict = load_evaluators([tmp_path]).get("mine").evaluate("", {})
    assert verdict.details == NAMES["functions"][module][function]


@pytest.fixture
def _unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, text_overlap.__name__)
    monkeypatch.setattr(extraction, "text_overlap", text_overlap)


@pytest.mark.usefixtures("_unloaded")
def test_a_module_that_is_imported_later_has_them_too(tmp_path: Path) -> None:
    source = f"from {text_overlap.__name__} import chrf\n\n\ndef evaluate(response, parameters):\n"
    (tmp_path / "mine.py").write_text(source + "    return chrf('a', 'a'), ''\n", encoding="utf-8")
    assert load_evaluators([tmp_path]).get("mine").evaluate("", {}).score == 1.0
    assert sys.modules[text_overlap.__name__] is not text_overlap


@pytest.mark.usefixtures("_unloaded")
def test_modules_that_an_evaluator_does_not_use_are_not_imported(tmp_path: Path) -> None:
    source = "def evaluate(response, parameters):\n    return 1.0, ''\n"
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    load_evaluators([tmp_path]).get("mine")
    assert text_overlap.__name__ not in sys.modules


def test_a_moved_module_keeps_what_it_is(tmp_path: Path) -> None:
    from poor_bench import messages

    (tmp_path / "mine.py").write_text(COPIED.format(module="poor_bench.wording"), encoding="utf-8")
    load_evaluators([tmp_path]).get("mine")
    assert sys.modules["poor_bench.wording"] is messages
    assert messages.__spec__ is not None
    assert messages.__spec__.name == messages.__name__
