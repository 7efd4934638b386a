from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path) -> Write:
    """Return a function that writes an evaluator file and returns its folder."""

    def write_evaluator(name: str, source: str, folder: str = "evaluators") -> Path:
        path = tmp_path / folder / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(source, encoding="utf-8")
        return path.parent

    return write_evaluator
