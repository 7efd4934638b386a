"""Check classes of tests as a whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from poor_bench.config.files import TEST_CLASSES_FILE
from poor_bench.config.workspace import Workspace
from poor_bench.lint.evaluator_facts import EvaluatorFacts
from poor_bench.lint.finding import Finding, Fix
from poor_bench.lint.reference_checks import score_or_reason
from poor_bench.lint.subject import Subject
from poor_bench.messages import counted
from poor_bench.models.problem import Problem, Severity


def check_classes(
    workspace: Workspace, subjects: Sequence[Subject], facts: EvaluatorFacts
) -> Iterator[Finding]:
    """Find levels that a class leaves out, and tests that nothing shows to be passable."""
    of_class: dict[str, list[Subject]] = defaultdict(list)
    for subject in subjects:
        of_class[subject.test.class_id].append(subject)
    file = str(workspace.data_dir / TEST_CLASSES_FILE)
    for index, class_id in enumerate(workspace.test_classes):
        about = _About(file, f"test_classes[{index}]", f"class `{class_id}`")
        yield from _check_levels(of_class[class_id], about)
        yield from _check_references(of_class[class_id], about, facts)


@dataclass(frozen=True, slots=True)
class _About:
    file: str
    place: str
    name: str

    def finding(
        self, code: str, message: str, hint: str, find_fixes: Callable[[], Iterable[Fix]] = tuple
    ) -> Finding:
        problem = Problem(
            file=self.file,
            place=self.place,
            message=f"{self.name}: {message}",
            hint=hint,
            severity=Severity.WARNING,
            code=code,
        )
        return Finding(problem=problem, find_fixes=find_fixes)


def _check_levels(subjects: Sequence[Subject], about: _About) -> Iterator[Finding]:
    levels = {subject.test.level for subject in subjects}
    missing = sorted(set(range(1, max(levels, default=0))) - levels)
    if missing:
        listed = ", ".join(str(level) for level in missing[:10])
        message = f"there are tests of level {max(levels)}, but none of level {listed}"
        yield about.finding("level-without-tests", message, "add tests, or renumber the levels")


def _check_references(
    subjects: Sequence[Subject], about: _About, facts: EvaluatorFacts
) -> Iterator[Finding]:
    lacking = [
        subject
        for subject in subjects
        if subject.test.reference_response is None and not facts.is_judged(subject.spec)
    ]
    if lacking:
        message = f"no `reference_response` in {len(lacking)} of {counted(len(subjects), 'test')}"
        hint = "add one to each test: it proves that the test can be passed"

        def find_fixes() -> Iterable[Fix]:
            return filter(None, (_with_reference(subject, facts) for subject in lacking))

        yield about.finding("no-reference", message, hint, find_fixes)


def _with_reference(subject: Subject, facts: EvaluatorFacts) -> Fix | None:
    reference = facts.reference(subject.spec)
    if reference is None or score_or_reason(subject, reference, facts) != 1.0:
        return None
    return subject.fix(("reference_response",), reference)
