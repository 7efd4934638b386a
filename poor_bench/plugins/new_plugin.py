"""Write the files of a new evaluator or issue detector."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template
from typing import NamedTuple

from poor_bench.errors import ConfigError
from poor_bench.issues.detect import DETECTORS
from poor_bench.plugins.registry import EvaluatorRegistry

_TEMPLATES = Path(__file__).parent / "templates"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,60}")
_ANOTHER = "choose another name"


class NewEvaluator(NamedTuple):
    """Paths of the written files."""

    evaluator: Path
    test: Path


def write_new_evaluator(name: str, folder: Path, registry: EvaluatorRegistry) -> NewEvaluator:
    """Write an evaluator that works, and a test that passes, as a start.

    Args:
        name: Its name in test classes and tests: lower case letters, digits, underscores.
        folder: The workspace's `evaluators/`; the test goes to `tests/` in it.
        registry: The existing evaluators.

    Raises:
        ConfigError: If the name is not valid, or is taken.
    """
    _require_name(name, "an evaluator")
    files = NewEvaluator(folder / f"{name}.py", folder / "tests" / f"test_{name}.py")
    for path in files:
        _require_free(path)
    if name in registry:
        raise ConfigError(f"the evaluator {name!r} exists already", hint=_ANOTHER)
    for path, template in zip(files, ("evaluator.txt", "test.txt"), strict=True):
        _write(path, template, name)
    return files


def write_new_detector(name: str, folder: Path) -> Path:
    """Write an issue detector that works, as a start.

    Args:
        name: The id of its cause: lower case letters, digits, underscores.
        folder: The workspace's `issues/`.

    Raises:
        ConfigError: If the name is not valid, or is taken, also by a built-in cause.
    """
    _require_name(name, "a detector")
    path = folder / f"{name}.py"
    _require_free(path)
    if name == "new" or name in {detector.id for detector in DETECTORS}:
        raise ConfigError(f"the cause {name!r} exists already", hint=_ANOTHER)
    _write(path, "detector.txt", name)
    return path


def _require_name(name: str, kind: str) -> None:
    if _NAME.fullmatch(name) is None:
        likely = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        example = likely if _NAME.fullmatch(likely) else "word_count"
        raise ConfigError(
            f"{name!r:.80} cannot be the name of {kind}",
            hint=f"use lower case letters, digits and underscores, such as `{example}`",
        )


def _require_free(path: Path) -> None:
    if path.exists():
        raise ConfigError(f"{path} exists already", hint=_ANOTHER)


def _write(path: Path, template: str, name: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = Template((_TEMPLATES / template).read_text(encoding="utf-8"))
    path.write_text(text.substitute(name=name), encoding="utf-8")
