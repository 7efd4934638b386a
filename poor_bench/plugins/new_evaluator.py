"""Write the files of a new evaluator."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template
from typing import NamedTuple

from poor_bench.errors import ConfigError
from poor_bench.plugins.registry import EvaluatorRegistry

_TEMPLATES = Path(__file__).parent / "templates"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,60}")


class NewEvaluator(NamedTuple):
    """The files that were written."""

    evaluator: Path
    test: Path


def write_new_evaluator(name: str, folder: Path, registry: EvaluatorRegistry) -> NewEvaluator:
    """Write an evaluator that works, and a test that passes, for the user to go on from.

    Args:
        name: What test classes and tests will call it: lower case letters, digits, underscores.
        folder: The workspace's `evaluators/`; the test goes to `tests/` in it.
        registry: The evaluators that there are.

    Raises:
        ConfigError: If the name cannot be used, or is taken.
    """
    if _NAME.fullmatch(name) is None:
        raise ConfigError(
            f"{name!r:.80} cannot be the name of an evaluator",
            hint="use lower case letters, digits and underscores, such as `word_count`",
        )
    files = NewEvaluator(folder / f"{name}.py", folder / "tests" / f"test_{name}.py")
    for path in files:
        if path.exists():
            raise ConfigError(f"{path} is there already", hint="choose another name")
    if name in registry:
        raise ConfigError(f"there is an evaluator {name!r} already", hint="choose another name")
    files.test.parent.mkdir(parents=True, exist_ok=True)
    for path, template in zip(files, ("evaluator.txt", "test.txt"), strict=True):
        text = Template((_TEMPLATES / template).read_text(encoding="utf-8"))
        path.write_text(text.substitute(name=name), encoding="utf-8")
    return files
