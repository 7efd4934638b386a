"""All evaluators by name: import each when it is first needed, check its parameters, call it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from poor_bench.config.names import name_hint
from poor_bench.errors import EvaluatorError, PluginError, PoorBenchError, describe_crash
from poor_bench.models.failure import FailureKind
from poor_bench.plugins.sources import (
    EntryPointSource,
    EvaluatorSource,
    FileSource,
    ParameterProblem,
    check_against_model,
    find_parameters_model,
    find_project_evaluators,
    hash_code,
    hash_digests,
    list_entry_points,
    list_folders,
    require_contract,
    takes_context,
    takes_judge,
)
from poor_bench.plugins.supervised import LeftError, TookTooLongError, call_supervised
from poor_bench.scoring.verdict import AnswerFormat, Verdict, add_printed, check_verdict

if TYPE_CHECKING:
    from poor_bench.scoring.judging import AskJudge, JudgeAnswer, JudgeQuestion, Part

T = TypeVar("T")

TIME_LIMIT_S = 300.0
"""Seconds that an evaluator of a user may take for one response, without asking a judge."""
_SANDBOX = "poor_bench.sandbox"
"""Named by the source of evaluators that run code."""


class LoadedEvaluator:
    """One evaluator module behind the contract that the rest of the package relies on.

    Attributes:
        name: What test classes and tests call it.
        origin: Where it comes from, for messages.
        takes_any: True if it takes whatever parameters.
        is_alone: True if it asks no judge and calls no other evaluator.
    """

    def __init__(
        self,
        name: str,
        origin: str,
        module: ModuleType,
        find: Callable[[str], LoadedEvaluator],
    ) -> None:
        self.name = name
        self.origin = origin
        self._module = module
        self._find = find
        self._takes_context = takes_context(module.evaluate)
        self._takes_judge = takes_judge(module.evaluate)
        self._has_parts = hasattr(module, "parts")  # who has none is not asked for each test
        self.takes_any = not self._has_parts and find_parameters_model(module) is None
        self.is_alone = not (self._has_parts or self._takes_judge)
        file = getattr(module, "__file__", None)
        self._file = Path(file) if file else None

    def evaluate(
        self, response: str, parameters: Mapping[str, Any], judge: AskJudge | None = None
    ) -> Verdict:
        """Score a response.

        Args:
            response: The answer, without thinking.
            parameters: Of the evaluator, which gets a copy.
            judge: Whom an evaluator asks that needs a judge; it fails without one.

        Raises:
            EvaluatorError: If the evaluator raised, or returned something illegal.
            PoorBenchError: Whatever error of ours the evaluator itself raised.
        """
        extra = self._list_extra_arguments(judge or _Nobody())

        def evaluate() -> Any:
            return self._module.evaluate(response, dict(parameters), **extra)

        try:
            limit_s = None if self._takes_judge or self._takes_context else TIME_LIMIT_S
            returned, printed = self._call(evaluate, limit_s)
            return add_printed(check_verdict(returned), printed)
        except PoorBenchError:
            raise
        except (LeftError, TookTooLongError) as error:
            raise self._report_failure(str(error)) from error
        except (Exception, SystemExit) as error:
            raise self._report_failure(self._crash(error)) from error

    def _call(self, function: Callable[[], Any], limit_s: float | None) -> tuple[Any, str]:
        """Call a function of the module; return its result and, for a user's module, its output."""
        if self._is_built_in:
            return function(), ""
        return call_supervised(function, limit_s)

    def _report_failure(self, reason: str) -> EvaluatorError:
        message = f"evaluator {self.name!r} failed: {reason}"
        return EvaluatorError(message, kind=FailureKind.EVALUATOR)

    @cached_property
    def _is_built_in(self) -> bool:
        return self._file is not None and self._file.parent == find_project_evaluators()

    def check_parameters(self, parameters: Mapping[str, Any]) -> list[ParameterProblem]:
        """List everything that is wrong with parameters; nothing if they are right.

        Raises:
            PluginError: If the evaluator's model or function `parts` fails.
        """
        model = find_parameters_model(self._module)
        try:
            problems = check_against_model(parameters, model) if model is not None else []
        except Exception as error:
            message = f"{self.origin}: Parameters failed: {self._crash(error)}"
            raise PluginError(message) from error
        if not problems:
            for place, part in self._parts(parameters).items():
                problems += self._check_part(place, part)
        return problems

    @property
    def description(self) -> str:
        """What it does, in one line; may be empty."""
        return self.documentation.partition("\n")[0]

    @property
    def documentation(self) -> str:
        """All that its docstring says; may be empty."""
        return inspect.getdoc(self._module) or ""

    def parameters_schema(self) -> dict[str, Any]:
        """JSON schema of the parameters; empty where the evaluator declares none."""
        model = find_parameters_model(self._module)
        return model.model_json_schema() if model is not None else {}

    def wants(self, parameters: Mapping[str, Any]) -> AnswerFormat | None:
        """Format that the prompt should ask for; None where the evaluator is silent.

        Raises:
            PluginError: If the evaluator's function `wants` fails.
        """
        return self._ask("wants", parameters, AnswerFormat)

    def reference(self, parameters: Mapping[str, Any]) -> str | None:
        """Response that scores 1.0; None where the evaluator cannot tell one.

        Raises:
            PluginError: If the evaluator's function `reference` fails.
        """
        return self._ask("reference", parameters, str)

    @cached_property
    def code_digest(self) -> str:
        """Hash of this evaluator's code and of what all evaluators share."""
        return hash_code(self._file)

    def code_digest_for(self, parameters: Mapping[str, Any]) -> str:
        """Compute `code_digest`, or for an evaluator of evaluators one hash of them all."""
        digests = list(self._hash_code(parameters)) if self._has_parts else [self.code_digest]
        return digests[0] if len(digests) == 1 else hash_digests(digests)

    def runs_code(self, parameters: Mapping[str, Any]) -> bool:
        """Tell whether it runs code of responses in the sandbox, or one of its parts does.

        Raises:
            PluginError: If the evaluator's function `parts` fails.
        """
        return self._names_sandbox or any(
            self._find(part.name).runs_code(part.parameters)
            for part in self._parts(parameters).values()
        )

    @cached_property
    def _names_sandbox(self) -> bool:
        return self._file is not None and _SANDBOX in self._file.read_text("utf-8", "replace")

    def questions(self, parameters: Mapping[str, Any]) -> tuple[JudgeQuestion, ...]:
        """List its questions to judges, and those of its parts; empty for most evaluators.

        Raises:
            PluginError: If the evaluator's function `question` or `parts` fails.
        """
        questions: list[JudgeQuestion] = []
        if self._takes_judge:
            from poor_bench.scoring.judging import JudgeQuestion

            questions.append(self._ask("question", parameters, _to_question) or JudgeQuestion())
        for part in self._parts(parameters).values():
            questions += self._find(part.name).questions(part.parameters)
        return tuple(questions)

    def _list_extra_arguments(self, judge: AskJudge) -> dict[str, Any]:
        extra: dict[str, Any] = {"judge": judge} if self._takes_judge else {}
        if self._takes_context:
            from poor_bench.scoring.judging import EvaluationContext

            def by_name(name: str, response: str, parameters: Mapping[str, Any]) -> Verdict:
                return self._find(name).evaluate(response, parameters, judge)

            extra["context"] = EvaluationContext(evaluate_by_name=by_name)
        return extra

    def _hash_code(self, parameters: Mapping[str, Any]) -> Iterator[str]:
        yield self.code_digest
        for part in self._parts(parameters).values():
            yield from self._find(part.name)._hash_code(part.parameters)

    def _parts(self, parameters: Mapping[str, Any]) -> Mapping[str, Part]:
        return (self._ask("parts", parameters, dict) or {}) if self._has_parts else {}

    def _ask(
        self, name: str, parameters: Mapping[str, Any], convert: Callable[[Any], T]
    ) -> T | None:
        """Call an optional function of the module; None if it does not exist."""
        function = getattr(self._module, name, None)
        if function is None:
            return None
        try:
            answer, _ = self._call(lambda: function(parameters), TIME_LIMIT_S)
            return None if answer is None else convert(answer)
        except PoorBenchError:
            raise
        except (Exception, SystemExit) as error:
            message = f"{self.origin}: {name} failed: {self._crash(error)}"
            raise PluginError(message) from error

    def _crash(self, error: BaseException) -> str:
        return describe_crash(error, str(self._file or ""))

    def _check_part(self, place: str, part: Part) -> list[ParameterProblem]:
        try:
            evaluator = self._find(part.name)
        except PluginError as error:
            return [ParameterProblem(f"{place}.name", str(error), error.hint)]
        return [
            problem._replace(place=f"{place}.parameters.{problem.place}".rstrip("."))
            for problem in evaluator.check_parameters(part.parameters)
        ]


def _to_question(answer: Any) -> JudgeQuestion:
    from poor_bench.scoring.judging import JudgeQuestion

    if not isinstance(answer, JudgeQuestion):
        raise TypeError(f"expected a JudgeQuestion, got {type(answer).__name__}")
    return replace(answer, criteria=tuple(answer.criteria))


class _Nobody:
    """Stands in where no judge can be asked; see `poor_bench.scoring.judging.AskJudge`."""

    def __call__(self, response: str, question: JudgeQuestion) -> JudgeAnswer:
        raise EvaluatorError(
            "the evaluator needs a judge, but no judge is available here", kind=FailureKind.JUDGE
        )


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What came of loading every evaluator."""

    evaluators: tuple[LoadedEvaluator, ...]
    failures: Mapping[str, PluginError]
    """Name to what is wrong, for the ones that cannot be used."""


class EvaluatorRegistry(Collection[str]):
    """Evaluators by name; safe to use from several threads.

    Attributes:
        notes: One sentence for every file that another one of the same name hides.
    """

    def __init__(self, files: Mapping[str, FileSource], notes: Sequence[str] = ()) -> None:
        self.notes = tuple(notes)
        self._files = files
        self._loaded: dict[str, LoadedEvaluator | PluginError] = {}
        self._lock = RLock()

    def names(self) -> tuple[str, ...]:
        """List the names of all evaluators, sorted, whether they can be used or not."""
        return tuple(sorted({*self._files, *self._entry_points}))

    def __contains__(self, name: object) -> bool:
        return name in self._files or name in self._entry_points

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def get(self, name: str) -> LoadedEvaluator:
        """Get an evaluator, imported now if it was not before.

        Raises:
            PluginError: If there is none of this name, or it cannot be used.
        """
        with self._lock:
            if name not in self._loaded:
                self._loaded[name] = self._load(name)
            loaded = self._loaded[name]
        if isinstance(loaded, PluginError):
            raise loaded
        return loaded

    def load_all(self) -> LoadReport:
        """Import every evaluator; a broken one does not keep the others from working."""
        evaluators = []
        failures = {}
        for name in self.names():
            try:
                evaluators.append(self.get(name))
            except PluginError as error:
                failures[name] = error
        return LoadReport(evaluators=tuple(evaluators), failures=failures)

    def _load(self, name: str) -> LoadedEvaluator | PluginError:
        try:
            source = self._find_source(name)
            module = source.import_module()
            require_contract(module, source.origin)
        except PluginError as error:
            return error
        return LoadedEvaluator(name, source.origin, module, self.get)

    def _find_source(self, name: str) -> EvaluatorSource:
        source = self._files.get(name) or self._entry_points.get(name)
        if source is None:
            hint = name_hint(name, self.names())
            raise PluginError(f"the evaluator {name!r} does not exist", hint=hint)
        return source

    @cached_property
    def _entry_points(self) -> Mapping[str, EntryPointSource]:
        return list_entry_points()


def load_evaluators(folders: Sequence[Path]) -> EvaluatorRegistry:
    """Load the evaluators of `folders` and of installed packages; imports none of them.

    Args:
        folders: Usually the workspace's `evaluators/`, then `find_project_evaluators()`. Where
            two hold a file of the same name, the earlier one's is used, and `notes` says so. A
            file wins over an entry point of its name.
    """
    listing = list_folders(folders)
    return EvaluatorRegistry(listing.sources, listing.notes)
