"""Resolve what a comparison or a gate refers to: an LLM, a run, a file, the present results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poor_bench.command_line import next_command
from poor_bench.comparison.result_set import (
    ComparedSubject,
    ResultSet,
    RunFacts,
    SubjectKind,
    hash_parameters,
    hash_prompt,
)
from poor_bench.config.names import (
    find_llm,
    find_llms,
    find_nearest_name,
    is_match,
    list_names,
)
from poor_bench.errors import ConfigError, StoreError
from poor_bench.models.llm import resolve_llm_id
from poor_bench.models.result import Result
from poor_bench.results.results_file import (
    KnownTests,
    WantedTests,
    newest_of_trials,
    read_results_file,
)
from poor_bench.results.store import without_collector
from poor_bench.runs.history import (
    EARLIER,
    LAST,
    PREVIOUS,
    UNDO,
    StoredRun,
    find_run,
    read_stored_runs,
    run_names,
)

if TYPE_CHECKING:
    from poor_bench.workspace_folder import WorkspaceFolder


NOW = "now"
"""Refers to the present results."""
BEFORE = "before:"
"""With a run behind it, refers to the results as they were before that run."""


class ResultSetResolver:
    """Finds out what the words of a user refer to, and reads the results."""

    def __init__(self, config: WorkspaceFolder, llm_patterns: Sequence[str] = ()) -> None:
        """Read nothing yet.

        Args:
            config: The workspace.
            llm_patterns: Names and globs of the LLMs whose results are read; empty for all.
        """
        self._config = config
        self._patterns = llm_patterns
        self._resolve = cache(lambda key: resolve_llm_id(key, config.workspace.llms) or key)

    def open_both(
        self, before: str, after: str, *, of_all_models: bool = False
    ) -> tuple[ResultSet, ResultSet]:
        """Find two sets of results to compare; of the larger one only what is compared is read.

        Args:
            before: As in `open`.
            after: As in `open`.
            of_all_models: True to find the tests also of models that one side lacks.

        Raises:
            ConfigError: As `open`.
            StoreError: If the results cannot be read.
        """
        if after == NOW:
            old = self.open(before)
            return old, self.open(after, None if of_all_models else old.llm_ids)
        new = self.open(after)
        llm_ids = None if of_all_models else new.llm_ids
        return self.open(before, llm_ids, WantedTests(new.list_tests())), new

    def open(
        self,
        reference: str,
        llm_ids: Collection[str] | None = None,
        tests: WantedTests | None = None,
    ) -> ResultSet:
        """Find the results that a reference stands for.

        Args:
            reference: `now`, `last`, `previous`, the id of a run or its beginning, `before:` and
                any of these, an LLM's id or label, a subject of an LLM as
                `ComparedSubject.parse` reads it, or the path of a file with results.
            llm_ids: LLMs whose results are needed; of a run and of the present results, those of
                others are not read. None for all.
            tests: Tests whose scores are needed; of runs, the others are not read. None for all.

        Raises:
            ConfigError: If it refers to nothing, or not to one thing.
            StoreError: If the results cannot be read.
        """
        if reference == NOW:
            return self._open_present(llm_ids)
        if reference in {LAST, PREVIOUS} or reference.startswith(BEFORE):
            return self._open_runs(reference, llm_ids, tests)
        llm_id = self._find_llm_id(reference)
        if llm_id is not None:
            return self._open_llm(llm_id)
        subject = ComparedSubject.parse(reference)
        if subject.kind is not SubjectKind.MODEL:
            return self._open_subject(subject)
        if self._run(reference) is not None:
            return self._open_runs(reference, llm_ids, tests)
        if Path(reference).is_file():
            return self._open_file(Path(reference))
        raise self._make_unknown_error(reference)

    def resolve_baseline(self, reference: str, llm_ids: Collection[str] | None = None) -> ResultSet:
        """Find the results that all LLMs are compared with: as `open`, but not one LLM's.

        Raises:
            ConfigError: As `open`, and if it refers to an LLM.
            StoreError: If the results cannot be read.
        """
        side = self.open(reference, llm_ids)
        if side.is_llm:
            raise ConfigError(
                f"{reference} is a model; a baseline is a run or a file of results",
                hint=f"compare two models: {next_command('compare', reference)} OTHER",
            )
        return side

    @cached_property
    def present(self) -> list[Result]:
        """The present results.

        Raises:
            StoreError: If they cannot be read.
        """
        return list(self._open_present(None).results)

    def _open_present(self, llm_ids: Collection[str] | None) -> ResultSet:
        chosen = _ChosenLLMs(self._is_read, llm_ids)
        if self._patterns or llm_ids is not None:
            results = self._config.store.read_results_where(chosen.has)
        else:
            results = [*self._config.store.results()]
        present = self._open_named("the present results", results, unread=chosen.unread)
        return replace(present, is_present=True)

    def _is_read(self, llm_id: str) -> bool:
        is_named = any(is_match(llm_id, pattern) for pattern in self._patterns)
        return not self._patterns or is_named or llm_id in self._named_ids

    @cached_property
    def _named_ids(self) -> frozenset[str]:
        """Ids of the LLMs of the workspace that the patterns mean."""
        llms = self._config.workspace.llms
        return frozenset(llm.id for pattern in self._patterns for llm in find_llms(pattern, llms))

    @cached_property
    def stored_runs(self) -> list[StoredRun]:
        """The kept runs, oldest first; runs that were killed are settled before.

        Where that cannot be written, such as on a read-only disk, they stand among the others as
        they are.
        """
        store = self._config.store
        try:
            store.merge()
        except StoreError:
            return read_stored_runs([*store.paths.runs(), *store.paths.journals()])
        return read_stored_runs(store.paths.runs())

    def rescorings(self) -> Iterator[tuple[str, list[Result]]]:
        """Yield what rescorings replaced and what undoing them restored, oldest first.

        Yields:
            The kind of the kept run, `EARLIER` or `UNDO`, and its scores.

        Raises:
            StoreError: If a kept run cannot be read.
        """
        for run in self.stored_runs:
            if run.kind in {EARLIER, UNDO}:
                results = read_results_file(run.path, self._resolve).results
                yield run.kind, [result for result in results if result.failure is None]

    def run_id(self, reference: str) -> str:
        """Find the id of the run that a reference stands for.

        Raises:
            ConfigError: If it is not the reference of a run.
        """
        run = self._run(reference)
        if run is None:
            raise self._make_unknown_error(reference)
        return run.run_id

    def run_facts(self) -> dict[str, RunFacts]:
        """Collect the facts of every kept run."""
        return {run.run_id: read_run_facts(run.header) for run in self.stored_runs}

    def _open_named(
        self,
        name: str,
        results: Sequence[Result],
        more_runs: Mapping[str, RunFacts] | None = None,
        *,
        is_llm: bool = False,
        unread: Iterable[str] = (),
        unread_tests: Mapping[str, Collection[str]] | None = None,
    ) -> ResultSet:
        return ResultSet(
            name=name,
            results=results,
            unread_llms=tuple(unread),
            unread_tests=unread_tests or {},
            runs={**self.run_facts(), **(more_runs or {})},
            is_llm=is_llm,
        )

    def _find_llm_id(self, reference: str) -> str | None:
        llm = find_llm(reference, self._config.workspace.llms)
        if llm is not None:
            return llm.id
        return reference if self._config.store.read_results_of(reference) else None

    def _open_llm(self, llm_id: str) -> ResultSet:
        results = self._config.store.read_results_of(llm_id)
        if not results:
            raise ConfigError(
                f"{llm_id} has no results yet", hint=next_command("run --llm", llm_id)
            )
        return replace(self._open_named(llm_id, results, is_llm=True), is_present=True)

    def _open_subject(self, subject: ComparedSubject) -> ResultSet:
        """Find the results of one run, prompt version or set of parameters of an LLM."""
        llm_id = self._find_llm_id(subject.llm_id)
        if llm_id is None:
            raise self._make_unknown_error(subject.llm_id)
        named = replace(subject, llm_id=llm_id)
        if subject.kind is SubjectKind.RUN:
            run = self._run(subject.version)
            if run is None:
                raise self._make_unknown_error(subject.version)
            named = replace(named, version=run.run_id)
        found = [(name, each) for name, each in self._list_versions(named) if each.llm_id == llm_id]
        results = newest_of_trials(each for name, each in found if name == named.version)
        if not results:
            known = ", ".join(dict.fromkeys(name for name, _ in found if name)) or "none"
            raise ConfigError(
                f"{llm_id} has no results of {subject.kind.value} {subject.version}",
                hint=f"stored versions: {known}",
            )
        return self._open_named(named.text, results, is_llm=True)

    def _list_versions(self, subject: ComparedSubject) -> Iterator[tuple[str, Result]]:
        """Yield all stored results with the version of the kind of a subject, oldest first."""
        for run in self.stored_runs:
            if run.kind in {EARLIER, UNDO}:
                continue
            parameters = read_run_facts(run.header).parameters.get(subject.llm_id)
            of_run = "" if parameters is None else hash_parameters(parameters)
            version = run.run_id if subject.kind is SubjectKind.RUN else of_run
            for result in self.read_results([run]):
                is_prompt = subject.kind is SubjectKind.PROMPT
                yield self._find_prompt_version(result) if is_prompt else version, result
        if subject.kind is SubjectKind.PROMPT:  # results.json may hold what no run does
            yield from ((self._find_prompt_version(result), result) for result in self.present)

    def _find_prompt_version(self, result: Result) -> str:
        test = self._config.workspace.tests_by_id.get(result.test_id)
        if test is None:
            return ""
        return hash_prompt(result.system_prompt or "", result.prompt or "", test)

    def _open_runs(
        self, reference: str, llm_ids: Collection[str] | None, tests: WantedTests | None
    ) -> ResultSet:
        """Find the results of one run, or of all before it."""
        run = self._run(reference.removeprefix(BEFORE))
        if run is None:
            raise self._make_unknown_error(reference.removeprefix(BEFORE))
        runs, name = [run], f"run {run.run_id}"
        if reference.startswith(BEFORE):
            runs = self.stored_runs[: self.stored_runs.index(run)]
            name = f"the results before run {run.run_id}"
        if not runs:
            raise ConfigError(
                f"no run before {run.run_id} is stored", hint=self._propose_two_models()
            )
        chosen = _ChosenLLMs(self._is_read, llm_ids)
        results = self.read_results(runs, chosen.has, tests)
        others = tests.others if tests else {}
        return self._open_named(name, results, unread=chosen.unread, unread_tests=others)

    def _propose_two_models(self) -> str:
        llm_ids = [llm.id for llm in self._config.workspace.llms][:2]
        if len(llm_ids) < 2:
            return "a comparison needs two runs, two models or a file of results"
        return f"compare two models: {next_command('compare', *llm_ids)}"

    def _run(self, reference: str) -> StoredRun | None:
        return find_run(self.stored_runs, reference)

    def read_results(
        self,
        runs: Sequence[StoredRun],
        is_wanted: Callable[[str], bool] | None = None,
        tests: WantedTests | None = None,
    ) -> list[Result]:
        """Read the newest result of every trial of some runs.

        Args:
            runs: Oldest first.
            is_wanted: Tells of an LLM id if its results are read; None for those of the patterns.
            tests: Tests whose scores are read; None for all.

        Raises:
            StoreError: If a run cannot be read.
        """
        stored = {run.path.stem for run in self.stored_runs}
        known = KnownTests(self._config.store.paths.snapshot.parent, stored)
        with without_collector():
            results = newest_of_trials(
                result
                for run in runs
                for result in read_results_file(
                    run.path, self._resolve, is_wanted or self._is_read, tests, known
                ).results
            )
        known.keep()
        return results

    def _open_file(self, path: Path) -> ResultSet:
        results, headers = read_results_file(path, self._resolve)
        facts = {run_id: read_run_facts(header) for run_id, header in headers.items()}
        return self._open_named(str(path), results, facts)

    def _make_unknown_error(self, reference: str) -> ConfigError:
        llms = list_names(self._config.workspace.llms)
        nearest = find_nearest_name(reference, [NOW, LAST, PREVIOUS, *llms])
        hint = f"did you mean `{nearest}`? " if nearest else ""
        hint += (
            f"runs: {run_names(self.stored_runs)}" if self.stored_runs else "no runs are stored yet"
        )
        return ConfigError(f"{reference!r} is not a model, a run or a file of results", hint=hint)


class _ChosenLLMs:
    """Tells whose results are read, and collects the others."""

    def __init__(self, is_read: Callable[[str], bool], llm_ids: Collection[str] | None) -> None:
        self._is_read, self._llm_ids = is_read, llm_ids
        self.unread: dict[str, None] = {}

    def has(self, llm_id: str) -> bool:
        if not self._is_read(llm_id):
            return False
        if self._llm_ids is None or llm_id in self._llm_ids:
            return True
        self.unread[llm_id] = None
        return False


def read_run_facts(header: Mapping[str, Any]) -> RunFacts:
    """Read the facts of a run from its header; older headers have fewer."""

    def read(name: str) -> dict[str, Any]:
        value = header.get(name)
        return value if isinstance(value, dict) else {}

    parameters = read("parameters").items()
    return RunFacts(
        llm_fingerprints=read("llm_fingerprints"),
        machine=read("machine"),
        machines={
            name: facts for name, facts in read("machines").items() if isinstance(facts, dict)
        },
        parameters={llm_id: own for llm_id, own in parameters if isinstance(own, dict)},
        servers={llm_id: str(server) for llm_id, server in read("servers").items()},
        program=str(header.get("poor_bench", "")),
    )
