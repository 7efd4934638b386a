"""The validated content of a workspace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from poor_bench.models.llm import LLM
from poor_bench.models.problem import Problem
from poor_bench.models.test import Test, TestClass


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The validated content of a workspace, in the order of its files."""

    data_dir: Path
    test_classes: Mapping[str, TestClass]
    """By id."""
    tests: tuple[Test, ...]
    tests_by_id: Mapping[str, Test]
    llms: tuple[LLM, ...]
    llms_by_id: Mapping[str, LLM]
    problems: tuple[Problem, ...] = ()
    """Warnings; with an error there is no workspace."""

    @property
    def enabled_llms(self) -> tuple[LLM, ...]:
        """The LLMs that runs ask."""
        return tuple(llm for llm in self.llms if llm.enabled)
