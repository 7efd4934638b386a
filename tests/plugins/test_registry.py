from __future__ import annotations

import os
import sys

import pytest

from poor_bench.errors import PluginError
from poor_bench.plugins import load_evaluators

HALF = '"""Gives half."""\n\n\ndef evaluate(response, parameters):\n    return 0.5, "half"\n'
FULL = HALF.replace("0.5", "1.0").replace("half", "all")


def test_names_are_the_files_without_underscore(write):
    write("half", HALF)
    write("_shared", "raise RuntimeError('never imported')")
    folder = write("zero", "def evaluate(response, parameters):\n    return 0.0, ''\n")
    (folder / "notes.txt").write_text("not an evaluator")
    registry = load_evaluators([folder, folder.parent / "missing"])
    assert registry.names() == ("half", "zero")
    assert "half" in registry
    assert "_shared" not in registry


def test_evaluator_is_imported_on_first_use_only(write, tmp_path):
    mark = tmp_path / "imported"
    source = f"import pathlib\npathlib.Path({str(mark)!r}).touch(exist_ok=False)\n" + HALF
    registry = load_evaluators([write("half", source)])
    assert registry.names() == ("half",)
    assert not mark.exists()
    assert registry.get("half") is registry.get("half")
    assert mark.exists()


def test_unknown_name_is_reported_with_the_nearest_one(write):
    registry = load_evaluators([write("math_evaluator", HALF)])
    with pytest.raises(PluginError, match="evaluator 'math_evaluater' does not exist") as caught:
        registry.get("math_evaluater")
    assert "math_evaluator" in caught.value.hint


BROKEN = {
    "syntax": ("def evaluate(:", "SyntaxError"),
    "raises": ("1 / 0", "ZeroDivisionError"),
    "exits": ("raise SystemExit(3)", "SystemExit: 3"),
    "dependency": ("import no_such_package", "no_such_package"),
    "empty": ("", "no function evaluate"),
    "no_function": ("evaluate = 3", "no function evaluate"),
    "arity": ("def evaluate(response): ...", "does not take"),
    "parameters": ("def evaluate(r, p): ...\nParameters = dict", "not a pydantic model"),
    "wants": ("def evaluate(r, p): ...\nwants = 'json'", "wants is not a function"),
}


@pytest.mark.parametrize(("source", "reason"), BROKEN.values(), ids=BROKEN)
def test_broken_evaluator_is_reported_by_file_and_the_others_work(write, source, reason):
    write("broken", source)
    registry = load_evaluators([write("half", HALF)])
    report = registry.load_all()
    assert [evaluator.name for evaluator in report.evaluators] == ["half"]
    message = str(report.failures["broken"])
    assert "broken.py" in message
    assert reason in message


def test_module_that_raised_leaves_nothing_behind(write):
    registry = load_evaluators([write("broken_midway", "1 / 0")])
    assert list(registry.load_all().failures) == ["broken_midway"]
    assert not any(name.endswith(".broken_midway") for name in sys.modules)


def test_earlier_folder_wins_and_a_note_says_so(write):
    own = write("half", FULL, "own")
    theirs = write("half", HALF, "theirs")
    registry = load_evaluators([own, theirs])
    assert registry.get("half").evaluate("", {}).score == 1.0
    (note,) = registry.notes
    assert str(own / "half.py") in note
    assert str(theirs / "half.py") in note


def test_the_same_folder_twice_is_nothing_to_note(write):
    folder = write("half", HALF)
    assert load_evaluators([folder, folder]).notes == ()


def test_modules_of_one_name_do_not_mix(write):
    own = load_evaluators([write("half", FULL, "own")])
    theirs = load_evaluators([write("half", HALF, "theirs")])
    assert own.get("half").evaluate("", {}).details == "all"
    assert theirs.get("half").evaluate("", {}).details == "half"


def test_dataclass_with_postponed_annotations_works(write):
    source = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Item:\n    value: int\n" + HALF.partition("\n\n\n")[2]
    )
    registry = load_evaluators([write("half", source)])
    assert registry.get("half").evaluate("", {}) == (0.5, "half")


def install(folder, **modules):
    """Write what an installed package leaves of its entry points."""
    metadata = folder / f"{'_'.join(modules)}-1.0.dist-info"
    metadata.mkdir()
    lines = (f"{name} = {module}\n" for name, module in modules.items())
    (metadata / "entry_points.txt").write_text(f"[poor_bench.evaluators]\n{''.join(lines)}")
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {metadata.stem}\n")


def test_what_is_installed_later_is_found_too(write, monkeypatch):
    folder = write("installed_evaluator", FULL, "site")
    monkeypatch.syspath_prepend(str(folder))
    assert "later" not in load_evaluators([])
    install(folder, later="installed_evaluator")
    os.utime(folder, (1, 1))  # not within the same tick of the clock
    assert "later" in load_evaluators([])


def test_entry_points_of_installed_packages_are_evaluators(write, monkeypatch):
    folder = write("installed_evaluator", FULL, "site")
    monkeypatch.syspath_prepend(str(folder))
    install(folder, installed="installed_evaluator", broken="no_such_module", half="no_such_module")
    registry = load_evaluators([write("half", HALF)])
    assert registry.names() == ("broken", "half", "installed")
    assert registry.get("installed").evaluate("", {}).score == 1.0
    assert registry.get("half").evaluate("", {}).score == 0.5
    with pytest.raises(PluginError, match="no_such_module"):
        registry.get("broken")
