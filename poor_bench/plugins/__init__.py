"""Evaluators and issue detectors from files and installed packages.

Built-in evaluators are loaded like a user's own: one file in a folder `evaluators/`.
"""

from poor_bench.plugins.registry import EvaluatorRegistry, LoadedEvaluator, load_evaluators
from poor_bench.plugins.sources import find_project_evaluators

__all__ = [
    "EvaluatorRegistry",
    "LoadedEvaluator",
    "find_project_evaluators",
    "load_evaluators",
]
