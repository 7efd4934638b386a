"""One workspace: its files, its evaluators and its results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poor_bench.config.load import (
    TEST_CLASSES_FILE,
    TESTS_FILE,
    Workspace,
    find_llms_file,
    load_workspace,
)
from poor_bench.config.names import find_llm, make_unknown_llm_error
from poor_bench.errors import ConfigError, PluginError
from poor_bench.evaluator_answers import ParameterChecks, RegistryFacts
from poor_bench.lint import CHEATS_FILE
from poor_bench.models.llm import LLM, resolve_llm_id
from poor_bench.models.result import Result
from poor_bench.models.test import EvaluatorSpec, Test, TestClass
from poor_bench.plugins import EvaluatorRegistry, find_project_evaluators, load_evaluators
from poor_bench.results.store import ResultStore, open_store, without_collector

if TYPE_CHECKING:
    import pandas as pd

    from poor_bench.config.edit_entries import AddedTests, FileChange, LLMEdit, TestEdit
    from poor_bench.config.entries import IsOwnProvider
    from poor_bench.issues.detector import Detector, IssueContext
    from poor_bench.labels.ratings import AnswerRatings
    from poor_bench.lint.cheats import CheatScore
    from poor_bench.lint.subject import Finding
    from poor_bench.models.problem import Problem
    from poor_bench.probe.report import ProbeReport
    from poor_bench.scoring.verdict import AnswerFormat


class WorkspaceFolder:
    """Opens what belongs to a workspace when it is first asked for, and keeps it.

    Attributes:
        data_dir: Folder of the workspace.
    """

    def __init__(
        self, data_dir: Path | str = "data", *, is_own_provider: IsOwnProvider | None = None
    ) -> None:
        """Open nothing yet.

        Args:
            data_dir: Folder of the workspace.
            is_own_provider: True for the name of a provider that the caller brings along, see
                `LLMManager`; None where llms.json may name only those of the catalog.
        """
        self.data_dir = Path(data_dir)
        self._is_own_provider = is_own_provider

    @cached_property
    def evaluators(self) -> EvaluatorRegistry:
        """The evaluators of the workspace, then those of the project."""
        return load_evaluators([self.data_dir / "evaluators", find_project_evaluators()])

    @cached_property
    def detectors(self) -> tuple[Detector, ...]:
        """The built-in detectors of issues and those of the workspace's folder `issues/`."""
        from poor_bench.plugins.detectors import load_detectors

        return load_detectors(self.data_dir / "issues")

    @cached_property
    def issue_context(self) -> IssueContext:
        """Facts about tests and models that detectors of issues need.

        Raises:
            ConfigError: With every problem of every file.
            StoreError: If people's ratings cannot be read.
        """
        from poor_bench.issues.facts import build_context
        from poor_bench.labels.ratings import compute_people_scores

        known = self.workspace
        context = build_context(
            known.tests_by_id, known.test_classes, known.llms_by_id, self._find_wanted_format
        )
        return replace(context, people=compute_people_scores(self.load_ratings()))

    def load_ratings(self) -> dict[str, AnswerRatings]:
        """Load people's current ratings of answers, by `Result.answer_id`.

        Raises:
            StoreError: If they cannot be read.
        """
        from poor_bench.labels.ratings import group_ratings
        from poor_bench.labels.storage import read_labels

        return group_ratings(read_labels(self.data_dir))

    def _find_wanted_format(self, spec: EvaluatorSpec) -> AnswerFormat | None:
        try:
            return self.evaluators.get(spec.name).wants(spec.parameters)
        except PluginError:
            return None

    @cached_property
    @without_collector()
    def workspace(self) -> Workspace:
        """The validated test classes, tests and LLMs.

        Raises:
            ConfigError: With every problem of every file.
        """
        return load_workspace(
            self.data_dir,
            known_evaluators=self.evaluators,
            check_parameters=ParameterChecks(self.evaluators),
            is_own_provider=self._is_own_provider,
        )

    @cached_property
    def store(self) -> ResultStore:
        """The results; those under keys that older tools wrote belong to the LLMs they mean.

        Raises:
            ConfigError: With every problem of every file.
        """
        llms = self.workspace.llms
        return open_store(self.data_dir, cache(lambda key: resolve_llm_id(key, llms) or key))

    def reload(self) -> None:
        """Forget everything that was read, so that changed files are read again."""
        for name in ("evaluators", "detectors", "issue_context", "workspace", "store"):
            self.__dict__.pop(name, None)

    def load_test_classes(self) -> list[TestClass]:
        """Load the test classes in the order of their file.

        Raises:
            ConfigError: With every problem of every file.
        """
        return list(self.workspace.test_classes.values())

    def load_tests(self) -> list[Test]:
        """Load the tests in the order of their file.

        Raises:
            ConfigError: With every problem of every file.
        """
        return list(self.workspace.tests)

    def load_llms(self) -> list[LLM]:
        """Load the LLMs in the order of their file, also those that are not enabled.

        Raises:
            ConfigError: With every problem of every file.
        """
        return list(self.workspace.llms)

    def lint(self) -> list[Finding]:
        """Describe what is wrong with the tests themselves.

        Raises:
            ConfigError: With every problem of every file, if they cannot even be loaded.
        """
        from poor_bench.lint.lint import lint_workspace

        return lint_workspace(self.workspace, self.evaluator_facts(), self.load_cheats())

    def list_problems(self) -> list[Problem]:
        """Describe the same as `lint`, from what is kept where that still holds."""
        from poor_bench.lint.lint import list_problems

        return list_problems(self.workspace, self.evaluator_facts(), self.load_cheats())

    def measure_cheats(self, on_test: Callable[[], None] = lambda: None) -> list[CheatScore]:
        """Score answers that need no model on every test, and keep the scores.

        Args:
            on_test: Called after each test.

        Raises:
            ConfigError: With every problem of every file, or if the scores cannot be kept.
        """
        from poor_bench.lint.cheats import CheatFile, identify_tests, score_cheats
        from poor_bench.lint.subject import list_subjects

        subjects = list(list_subjects(self.workspace))
        facts = self.evaluator_facts()
        scores = list(score_cheats(subjects, facts, on_test=on_test))
        CheatFile(self.data_dir).save(identify_tests(subjects, facts), scores)
        return scores

    def load_cheats(self) -> Sequence[CheatScore]:
        """Load the findings of `measure_cheats`; empty if the tests have changed since.

        Raises:
            ConfigError: With every problem of every file.
        """
        if not (self.data_dir / CHEATS_FILE).exists():
            return ()
        from poor_bench.lint.cheats import CheatFile, identify_tests
        from poor_bench.lint.subject import list_subjects

        file = CheatFile(self.data_dir)
        return file.load(identify_tests(list_subjects(self.workspace), self.evaluator_facts()))

    def evaluator_facts(self) -> RegistryFacts:
        """Build the facts about evaluators that checks of tests need.

        Raises:
            ConfigError: With every problem of every file.
        """
        return RegistryFacts(self.evaluators, self.data_dir, self.workspace.llms)

    def add_llms(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Add entries to llms.json, and forget what was read.

        Raises:
            ConfigError: If the file, as it was or as it would be, has an error, or cannot be
                written; it is untouched then.
        """
        from poor_bench.config.edit_entries import add_llms

        add_llms(self.data_dir, entries)
        self.reload()

    def add_tests(
        self, class_entry: Mapping[str, Any], tests: Sequence[Mapping[str, Any]]
    ) -> AddedTests:
        """Add tests, and their class where it is new, and forget what was read.

        Raises:
            ConfigError: If a file, as it was or as it would be, has an error, or cannot be
                written; the workspace is untouched then.
        """
        from poor_bench.config.edit_entries import add_tests

        added = add_tests(self.data_dir, class_entry, tests)
        self.reload()
        return added

    def edit_tests(self, edit: TestEdit) -> FileChange:
        """Change some tests in the same way, and forget what was read.

        Raises:
            ConfigError: If a test does not exist any more, or the workspace, as it was or as it
                would be, has an error, or cannot be written; it is untouched then.
        """
        from poor_bench.config.edit_entries import edit_tests

        classes = self.workspace.test_classes
        with self._whole_or_not_at_all(self.data_dir / TESTS_FILE):
            return edit_tests(self.data_dir, edit, classes)

    def edit_llms(self, edit: LLMEdit) -> None:
        """Change, delete, copy or move one LLM.

        Raises:
            ConfigError: If the file no longer has it, or, as it was or as it would be, has an
                error, or cannot be written; it is untouched then.
        """
        from poor_bench.config.edit_entries import edit_llms

        llms = self.workspace.llms
        with self._whole_or_not_at_all(find_llms_file(self.data_dir)):
            edit_llms(self.data_dir, llms, edit)

    def change_template(self, class_id: str, template: str) -> None:
        """Write another default template of a class; comments in its file survive.

        Raises:
            ConfigError: If the file, as it was or as it would be, has an error, or cannot be
                written; it is untouched then.
        """
        from poor_bench.config.edit_yaml import change_template

        with self._whole_or_not_at_all(self.data_dir / TEST_CLASSES_FILE):
            change_template(self.data_dir, class_id, template)

    def change_system_prompt(self, class_id: str, prompt: str) -> None:
        """Write another system prompt of a class that has one; comments in its file survive.

        Raises:
            ConfigError: If the file, as it was or as it would be, has an error, or cannot be
                written; it is untouched then.
        """
        from poor_bench.config.edit_yaml import change_system_prompt

        with self._whole_or_not_at_all(self.data_dir / TEST_CLASSES_FILE):
            change_system_prompt(self.data_dir, class_id, prompt)

    @contextmanager
    def _whole_or_not_at_all(self, path: Path) -> Iterator[None]:
        """Forget what was read; put a file back if the workspace is not valid after a change."""
        from poor_bench.config.document import read_text, write_atomically

        before = read_text(path)
        yield
        self.reload()
        try:
            self.load_tests()
        except ConfigError:
            write_atomically(path, before)
            self.reload()
            raise

    def load_results(self) -> list[Result]:
        """Load the newest result of every trial, failures included.

        Raises:
            StoreError: If they cannot be read.
        """
        return list(self.store.results())

    def load_frame(self) -> pd.DataFrame:
        """Load the same as a pandas frame: a row per result, and its test's class, level, group.

        Texts are left out. A missing figure is NaN; `failure_kind` is None for a score.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        frame = self.store.table().to_frame()
        tests = [self.workspace.tests_by_id.get(test_id) for test_id in frame["test_id"]]
        frame.insert(2, "class_id", [test.class_id if test else None for test in tests])
        frame.insert(3, "level", [test.level if test else None for test in tests])
        frame["test_group"] = [test.group if test else None for test in tests]
        return frame

    def load_current_probes(self) -> dict[str, ProbeReport]:
        """Load the probes of settings that still hold, by LLM id.

        Raises:
            ConfigError: With every problem of every file.
            StoreError: If the results cannot be read.
        """
        from poor_bench.probe.storage import load_probes

        if not (probes := load_probes(self.data_dir)):
            return {}
        from poor_bench.probe.report import keep_current_probes

        table = self.store.table()
        rows = [row for llm_id in probes for row in table.find_rows(llm_id).tolist()]
        results = table.whole(rows, ("timestamp", "model_digest"), ("llm_id", "test_id", "trial"))
        return keep_current_probes(probes, self.workspace.llms_by_id, results)

    def save_results(self, results: Iterable[Result], run_id: str) -> None:
        """Add results to the stored ones; none of those is lost.

        Args:
            results: What to add; a newer result of a trial takes the place of an older one.
            run_id: Unique, sorts by time, usable as a file name.

        Raises:
            StoreError: If they could not be stored.
        """
        self.store.add(results, run_id, {})

    def llm_id_named(self, name: str) -> str:
        """Find the id of the LLM that a name means, also of one that only has results.

        Args:
            name: See `poor_bench.config.names.find_llm`.

        Raises:
            ConfigError: If no single LLM is meant; the hint names the nearest ids.
            StoreError: If the results cannot be read.
        """
        llms = self.workspace.llms
        llm = find_llm(name, llms)
        if llm is not None:
            return llm.id
        stored = self.store.count_by_llm()
        if name in stored:
            return name
        raise make_unknown_llm_error(name, llms, stored)

    def get_pending_tests(self, llm_id: str) -> list[Test]:
        """List the tests that an LLM has no score for, in the order of their file.

        Args:
            llm_id: See `llm_id_named`.

        Raises:
            ConfigError: If the LLM is unknown, or with every problem of every file.
            StoreError: If the results cannot be read.
        """
        llm_id = self.llm_id_named(llm_id)
        scored = {
            result.test_id
            for result in self.store.results()
            if result.llm_id == llm_id and result.failure is None
        }
        return [test for test in self.workspace.enabled_tests if test.test_id not in scored]
