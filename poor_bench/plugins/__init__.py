"""Evaluators from files and installed packages, loaded on first use.

Built-in evaluators come in by the same door as a user's own: one file in a folder `evaluators/`.
"""

from poor_bench.plugins.loaded_evaluator import LoadedEvaluator
from poor_bench.plugins.registry import (
    EvaluatorRegistry,
    load_evaluators,
    project_evaluators_folder,
)

__all__ = [
    "EvaluatorRegistry",
    "LoadedEvaluator",
    "load_evaluators",
    "project_evaluators_folder",
]
