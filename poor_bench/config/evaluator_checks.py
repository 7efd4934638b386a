"""Check that every test has an evaluator that exists and understands its parameters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from poor_bench.config.loaded import Loaded
from poor_bench.config.nearest_name import name_hint
from poor_bench.config.report import Place, Report, parse_place
from poor_bench.models.test import EvaluatorSpec, Test, TestClass, merge_specs

CheckParameters = Callable[[str, Mapping[str, Any]], Iterable[tuple[str, str, str]]]
"""Name and parameters of an evaluator to what is wrong: place in them, message, hint."""


@dataclass(frozen=True, slots=True)
class EvaluatorChecks:
    """Checks of a workspace against the evaluators that there are.

    Attributes:
        known: Their names; None leaves names unchecked.
        check_parameters: None leaves parameters unchecked.
    """

    known: Collection[str] | None
    check_parameters: CheckParameters | None

    def check(self, classes: Loaded[TestClass], tests: Loaded[Test]) -> None:
        """Note evaluators that are missing or unknown, and parameters that they refuse."""
        for class_id, test_class in classes.by_id.items():
            if test_class.evaluator is not None:
                place = (*classes.places[class_id], "evaluation_module")
                self._check_name(test_class.evaluator, place, classes.report)
        for test_id, test in tests.by_id.items():
            if test.class_id in classes.by_id:
                test_class = classes.by_id[test.class_id]
                self._check_test(test, test_class, tests.places[test_id], tests.report)

    def _check_test(self, test: Test, test_class: TestClass, place: Place, report: Report) -> None:
        try:
            spec = merge_specs(test_class.evaluator, test.evaluator)
        except ValueError:
            message = f"neither the test nor its class `{test_class.id}` names an evaluator"
            hint = 'add "evaluation_module": {"name": ...}'
            report.error(place, message, hint=hint, code="no-evaluator")
            return
        inside = (*place, "evaluation_module")
        if self._is_known(spec.name):
            self._check_parameters(spec, (*inside, "parameters"), report)
        elif test_class.evaluator is None or test_class.evaluator.name != spec.name:
            self._check_name(spec, inside, report)

    def _check_name(self, spec: EvaluatorSpec, place: Place, report: Report) -> None:
        if self._is_known(spec.name):
            return
        hint = name_hint(spec.name, self.known or ())
        message = f"unknown evaluator `{spec.name}`"
        report.error((*place, "name"), message, hint=hint, code="unknown-evaluator")

    def _check_parameters(self, spec: EvaluatorSpec, place: Place, report: Report) -> None:
        if self.check_parameters is None:
            return
        for where, message, hint in self.check_parameters(spec.name, spec.parameters):
            inner = (*place, *parse_place(where))
            report.error(inner, message, hint=hint, code="bad-parameter")

    def _is_known(self, name: str) -> bool:
        return self.known is None or name in self.known
