"""Run all checks over the tests of a workspace, and write the safe fixes into tests.json.

```
index/problems.json    key of what was checked; what is wrong with it
```

The file may be deleted at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poor_bench.config.document import Place, write_atomically
from poor_bench.config.edit_json import edit_entries
from poor_bench.config.load import TESTS_FILE, Workspace, decode_tests_file
from poor_bench.errors import PoorBenchError
from poor_bench.lint.cheats import CheatScore
from poor_bench.lint.checks import (
    check_blank,
    check_cheats,
    check_classes,
    check_context,
    check_format,
    check_function_name,
    check_judges,
    check_labels,
    check_lengths,
    check_reference,
    check_reported,
    find_context_size,
    is_lasting,
)
from poor_bench.lint.duplicates import check_duplicates
from poor_bench.lint.signatures import check_cases, check_inputs
from poor_bench.lint.subject import EvaluatorFacts, Finding, Fix, LintSubject, list_subjects
from poor_bench.models.problem import Problem
from poor_bench.models.test import EvaluatorSpec, merge_specs

if TYPE_CHECKING:
    from pydantic import TypeAdapter


def lint_workspace(
    workspace: Workspace, facts: EvaluatorFacts, cheats: Sequence[CheatScore] = ()
) -> list[Finding]:
    """Find all that is wrong with the enabled tests of a workspace, in the order of its files.

    Args:
        workspace: What was loaded.
        facts: Answers questions about its evaluators.
        cheats: What answers that need no model score, where that was measured.
    """
    subjects = [subject for subject in list_subjects(workspace) if subject.test.enabled]
    findings = [*check_classes(workspace, subjects, facts), *check_judges(subjects, facts)]
    sizes = ((llm.id, find_context_size(llm)) for llm in workspace.llms)
    contexts = {llm_id: size for llm_id, size in sizes if size is not None}
    for subject in subjects:
        findings += _check_test(subject, contexts, facts)
    findings += check_duplicates(subjects, facts)
    findings += check_cheats(workspace, subjects, cheats)
    return findings


def list_problems(
    workspace: Workspace, facts: EvaluatorFacts, cheats: Sequence[CheatScore] = ()
) -> list[Problem]:
    """Find the same as `lint_workspace`, or read what is kept of the same tests and code.

    Nothing is kept where judges are asked, whose rubrics may change, or a response has no score.
    """
    path = workspace.data_dir / "index" / "problems.json"
    classes = workspace.test_classes
    specs = [
        merge_specs(classes[test.class_id].evaluator, test.evaluator) for test in workspace.tests
    ]
    key = _identify(workspace, [facts.code_digest(spec) for spec in specs], cheats)
    known = _load(path, key)
    if known is None:
        known = [finding.problem for finding in lint_workspace(workspace, facts, cheats)]
        if all(map(is_lasting, known)) and not any(map(facts.is_judged, specs)):
            _save(path, key, known)
    return known


def _identify(workspace: Workspace, evaluators: Iterable[str], cheats: Sequence[CheatScore]) -> str:
    """Compute what changes with all that checks look at, and with our code."""
    package = Path(__file__).parents[1]
    code = [path.read_bytes() for path in sorted(package.rglob("*.py"))]
    files = workspace.tests, workspace.test_classes, workspace.llms
    told = repr((str(workspace.data_dir), files, list(evaluators), cheats))
    return blake2b(b"".join([*code, told.encode("utf-8", "surrogatepass")])).hexdigest()


def _load(path: Path, key: str) -> list[Problem] | None:
    try:
        stored, _, content = path.read_bytes().partition(b"\n")
        return _adapt_problems().validate_json(content) if stored == key.encode() else None
    except (OSError, ValueError):
        return None


def _save(path: Path, key: str, problems: list[Problem]) -> None:
    """Keep the problems; without permission or space, nothing is kept."""
    with suppress(OSError, PoorBenchError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, f"{key}\n{_adapt_problems().dump_json(problems).decode()}")


@cache
def _adapt_problems() -> TypeAdapter[list[Problem]]:
    from pydantic import TypeAdapter

    return TypeAdapter(list[Problem])


def _check_test(
    subject: LintSubject, contexts: Mapping[str, int], facts: EvaluatorFacts
) -> Iterator[Finding]:
    yield from check_reported(subject)
    yield from check_function_name(subject)
    yield from check_cases(subject)
    yield from check_inputs(subject)
    yield from check_format(subject, facts)
    yield from check_labels(subject, facts)
    yield from check_lengths(subject, facts)
    yield from check_context(subject, contexts)
    if not facts.is_judged(subject.spec):
        yield from check_reference(subject, facts)
        yield from check_blank(subject, facts)


def apply_fixes(workspace: Workspace, fixes: Iterable[Fix]) -> int:
    """Change tests.json as `fixes` say, in one atomic step; the rest of it stays as it is.

    Returns:
        How many tests were changed.

    Raises:
        ConfigError: If the file cannot be read or written, or would not be valid afterwards; it
            is untouched then.
    """
    of_test: dict[str, list[Fix]] = {}
    for fix in fixes:
        of_test.setdefault(fix.test_id, []).append(fix)

    def change(entries: list[Any]) -> None:
        for entry in entries:
            for fix in of_test.get(entry["test_id"], ()):
                _put(entry, fix.place, fix.value)

    if of_test:
        edit_entries(
            workspace.data_dir / TESTS_FILE,
            "tests",
            change,
            lambda document, report: decode_tests_file(document, workspace.test_classes, report),
        )
    return len(of_test)


def _put(entry: dict[str, Any], place: Place, value: Any) -> None:
    *parents, last = place
    inner: Any = entry
    for key in parents:
        inner = inner[key]
    inner[last] = value


def find_fault(
    class_entry: Mapping[str, Any], test_entry: Mapping[str, Any], facts: EvaluatorFacts
) -> str:
    """Describe what is wrong with a test, in words; empty if nothing is.

    Args:
        class_entry: The test's class, as it shall stand in its file; names the evaluator.
        test_entry: The test, as it shall stand in its file.
        facts: Scores responses.
    """
    spec = build_spec(class_entry, test_entry)
    reference = test_entry.get("reference_response")
    try:
        if facts.is_judged(spec):
            return ""
        if reference is not None and (score := facts.score(spec, reference)) != 1.0:
            return f"its reference response scores {score:.3g}, not 1.0"
        blank = facts.score(spec, "")
    except PoorBenchError as error:
        return f"it cannot be scored: {error}"
    return f"an empty response scores {blank:.3g}, not 0" if blank else ""


def build_spec(class_entry: Mapping[str, Any], test_entry: Mapping[str, Any]) -> EvaluatorSpec:
    """Build the evaluator that will be in force for a new test; see `find_fault`."""
    of_class = class_entry["evaluation_module"]
    own = test_entry.get("evaluation_module", {})
    return merge_specs(
        EvaluatorSpec(of_class["name"], of_class.get("parameters", {})),
        EvaluatorSpec(own.get("name", of_class["name"]), own.get("parameters", {})),
    )
