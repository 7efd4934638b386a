"""Where evaluators come from, what their module must define, and a hash of their code.

They are files in folders, or entry points of installed packages. A module defines:

```
evaluate(response, parameters[, *, context][, *, judge])   required: a pair (score 0.0 to 1.0,
                   details), or a poor_bench.scoring.Verdict
Parameters         a pydantic model of the parameters; wrong ones are then found before a run
wants(parameters)  the poor_bench.scoring.AnswerFormat that the prompt should ask for
reference(parameters)   a response that scores 1.0, or None where the parameters do not tell one
parts(parameters)  the evaluators that this one calls, by their place in the parameters
question(parameters)    for an evaluator that takes `judge`: the poor_bench.scoring.JudgeQuestion
                   that it asks, so that it is known beforehand who judges and by what
```

The first line of the module's docstring is what lists of evaluators show.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from poor_bench.config.document import location_to_text
from poor_bench.config.names import name_hint
from poor_bench.errors import PluginError, describe_crash
from poor_bench.plugins.supervised import LeftError, TookTooLongError, call_supervised
from poor_bench.ports import Evaluate

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails


@cache
def provide_earlier_names() -> None:
    """Let `import` find each module and function under its earlier name, too.

    Modules are not imported for that: all of them together take longer than most evaluators.
    """
    import tomllib

    names = tomllib.loads((Path(__file__).parent / "earlier_names.toml").read_text("utf-8"))
    sys.meta_path.insert(0, _EarlierNames(names["modules"], names["functions"]))
    for name in sys.modules.keys() & names["functions"]:
        _add_names(import_module(name), names["functions"][name])


def _add_names(module: ModuleType, functions: Mapping[str, str]) -> None:
    for earlier, now in functions.items():
        setattr(module, earlier, getattr(module, now))


class _EarlierNames(MetaPathFinder):
    """Finds modules by earlier names, and those whose functions had other names."""

    def __init__(
        self, modules: Mapping[str, str], functions: Mapping[str, Mapping[str, str]]
    ) -> None:
        self._modules, self._functions = modules, functions

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`."""
        if fullname in self._modules:
            return ModuleSpec(fullname, _MovedLoader(self._modules[fullname]))
        if fullname not in self._functions:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _RenamedLoader(spec.loader, self._functions[fullname])
        return spec


class _MovedLoader(Loader):
    """Gives a module that exists for its earlier name."""

    def __init__(self, name: str) -> None:
        self._module = import_module(name)
        self._spec = self._module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # Python has just set that of the earlier name


class _RenamedLoader(Loader):
    """Loads a module, then adds the earlier names of its functions."""

    def __init__(self, loader: Loader, functions: Mapping[str, str]) -> None:
        self._loader, self._functions = loader, functions

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _add_names(module, self._functions)


TIME_LIMIT_S = 120.0
"""Seconds that the import of a user's file may take."""
_PACKAGE = Path(__file__).parents[1]
_SHARED_PACKAGES = ("extraction", "scoring")


def hash_code(file: Path | None) -> str:
    """Hash an evaluator's file and the packages that all evaluators share.

    Args:
        file: The evaluator's source; None where it has none of its own.

    Returns:
        32 hexadecimal digits.
    """
    digest = blake2b(_hash_shared_code(), digest_size=16)
    if file is not None:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def hash_digests(digests: Iterable[str]) -> str:
    """Hash several hashes into one, whatever their order."""
    return blake2b("\n".join(sorted(digests)).encode(), digest_size=16).hexdigest()


@cache
def _hash_shared_code() -> bytes:
    digest = blake2b(digest_size=16)
    for package in _SHARED_PACKAGES:
        folder = _PACKAGE / package
        for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.toml")]):
            digest.update(path.relative_to(_PACKAGE).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.digest()


_OPTIONAL_FUNCTIONS = ("wants", "reference", "parts", "question")


def require_contract(module: ModuleType, origin: str) -> None:
    """Check that a module is an evaluator.

    Raises:
        PluginError: If it is not; the message has origin and reason.
    """
    problem = _describe_first_problem(module)
    if problem:
        raise PluginError(
            f"{origin} is not an evaluator: {problem}",
            hint="an evaluator defines evaluate(response, parameters) -> (score, details)",
        )


def takes_context(evaluate: Evaluate) -> bool:
    """True if a function `evaluate` wants a `context`."""
    return "context" in inspect.signature(evaluate).parameters


def takes_judge(evaluate: Evaluate) -> bool:
    """True if a function `evaluate` wants to ask a `judge`."""
    return "judge" in inspect.signature(evaluate).parameters


def find_parameters_model(module: ModuleType) -> type[BaseModel] | None:
    """Model of a module's parameters, if it has one."""
    return getattr(module, "Parameters", None)


class ParameterProblem(NamedTuple):
    """One thing that is wrong with an evaluator's parameters."""

    place: str
    """Where in the parameters, such as `evaluators[0].name`; empty for all of them."""
    message: str
    hint: str
    """The way out; may be empty."""


def check_against_model(
    parameters: Mapping[str, Any], model: type[BaseModel]
) -> list[ParameterProblem]:
    """Describe everything that `model` has against `parameters`; nothing if they are right."""
    from pydantic import ValidationError

    try:
        model.model_validate(parameters)
    except ValidationError as error:
        return [_make_problem(details, model) for details in error.errors(include_url=False)]
    return []


def _make_problem(details: ErrorDetails, model: type[BaseModel]) -> ParameterProblem:
    place = location_to_text(details["loc"])
    if details["type"] == "extra_forbidden":
        is_outer = len(details["loc"]) == 1
        names = [field.alias or name for name, field in model.model_fields.items()]
        hint = name_hint(str(details["loc"][0]), names) if is_outer else ""
        return ParameterProblem(place, "unknown parameter", hint)
    message = details["msg"].removeprefix("Value error, ")
    return ParameterProblem(place, message[:1].lower() + message[1:], "")


def _describe_first_problem(module: ModuleType) -> str:
    evaluate = getattr(module, "evaluate", None)
    if not callable(evaluate):
        return "it has no function evaluate"
    if not _can_be_called(evaluate):
        return "evaluate does not take (response, parameters)"
    model = getattr(module, "Parameters", None)
    if model is not None and not _is_model(model):
        return "Parameters is not a pydantic model"
    for name in _OPTIONAL_FUNCTIONS:
        function = getattr(module, name, None)
        if function is not None and not callable(function):
            return f"{name} is not a function"
    return ""


def _is_model(model: object) -> bool:
    from pydantic import BaseModel  # whose models have imported it

    return inspect.isclass(model) and issubclass(model, BaseModel)


def _can_be_called(evaluate: Evaluate) -> bool:
    wanted = inspect.signature(evaluate).parameters
    extra = dict.fromkeys({"context", "judge"} & set(wanted))
    try:
        inspect.signature(evaluate).bind("response", {}, **extra)
    except TypeError:
        return False
    return True


_INSTALLED_EVALUATORS = "built_in_evaluators"
"""Where `setup.py` packs them."""
ENTRY_POINT_GROUP = "poor_bench.evaluators"
"""A package offers an evaluator as `name = "its.module"` in this group."""


class EvaluatorSource(Protocol):
    """A module that has not been imported yet."""

    @property
    def origin(self) -> str:
        """Where it comes from, for messages."""

    def import_module(self) -> ModuleType:
        """Import it.

        Raises:
            PluginError: If it cannot be imported; the message has origin and reason.
        """


@dataclass(frozen=True, slots=True)
class FileSource:
    """A file of a plug-in folder."""

    path: Path

    @property
    def origin(self) -> str:
        """The file's path."""
        return str(self.path)

    def import_module(self) -> ModuleType:
        """Execute the file as a module of its own name, apart from every other's."""
        folder = blake2b(str(self.path.parent.resolve()).encode(), digest_size=4).hexdigest()
        name = f"poor_bench_evaluators_{folder}.{self.path.stem}"
        spec = importlib.util.spec_from_file_location(name, self.path)
        if spec is None:
            raise PluginError(f"{self.path} is not a Python file")
        try:
            if self.path.parent == find_project_evaluators():
                return _execute(spec)
            provide_earlier_names()
            module, printed = call_supervised(lambda: _execute(spec), TIME_LIMIT_S)
        except (Exception, SystemExit) as error:
            raise _make_broken_error(self.origin, error, str(self.path)) from error
        sys.stderr.write(printed)  # stdout may be JSON for a machine
        return module


@dataclass(frozen=True, slots=True)
class EntryPointSource:
    """An entry point of an installed package."""

    name: str
    target: str

    @property
    def origin(self) -> str:
        """The module that the entry point names."""
        return f"{self.target} (entry point {self.name!r})"

    def import_module(self) -> ModuleType:
        """Import the module as any other."""
        try:
            return importlib.import_module(self.target)
        except (Exception, SystemExit) as error:
            raise _make_broken_error(self.origin, error) from error


@dataclass(frozen=True, slots=True)
class FolderListing:
    """The evaluator files of several folders."""

    sources: Mapping[str, FileSource]
    notes: tuple[str, ...]
    """One sentence for every file that another one of the same name hides."""


def list_folders(folders: Sequence[Path]) -> FolderListing:
    """List the evaluators of `folders` by name; of two with one name the earlier folder's.

    Every `*.py` file is one whose name does not start with `_`; a folder that does not exist has
    none. No file is opened.
    """
    sources: dict[str, FileSource] = {}
    notes = []
    for path in (path for folder in folders for path in sorted(folder.glob("[!_]*.py"))):
        winner = sources.setdefault(path.stem, FileSource(path))
        if winner.path != path:
            notes.append(f"evaluator {path.stem!r}: {winner.path} is used instead of {path}")
    return FolderListing(sources=sources, notes=tuple(notes))


def list_entry_points() -> Mapping[str, EntryPointSource]:
    """List the evaluators that installed packages offer, by name."""
    return _read_entry_points(tuple((folder, _find_changed_ns(folder)) for folder in sys.path))


def _find_changed_ns(folder: str) -> int:
    """Tell when something was last installed into a folder or removed; 0 if it cannot be read."""
    try:
        return Path(folder).stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=1)
def _read_entry_points(_folders: tuple[tuple[str, int], ...]) -> Mapping[str, EntryPointSource]:
    """Read the entry points of all installed packages, of which there may be hundreds."""
    from importlib.metadata import entry_points

    return {
        point.name: EntryPointSource(name=point.name, target=point.module)
        for point in entry_points(group=ENTRY_POINT_GROUP)
    }


def _execute(spec: ModuleSpec) -> ModuleType:
    module = importlib.util.module_from_spec(spec)
    # A dataclass with postponed annotations looks its own module up while it is being executed.
    sys.modules[spec.name] = module
    try:
        if spec.loader is not None:
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return module


def _make_broken_error(origin: str, error: BaseException, file: str = "") -> PluginError:
    is_ours = isinstance(error, LeftError | TookTooLongError)
    reason = str(error) if is_ours else describe_crash(error, file)
    return PluginError(
        f"{origin} cannot be imported: {reason}",
        hint="fix or remove the file; the other evaluators work without it",
    )


@cache
def find_project_evaluators() -> Path:
    """Find the folder of the built-in evaluators: beside the package, installed within it."""
    package = Path(__file__).parents[1]
    installed = package / _INSTALLED_EVALUATORS
    return installed if installed.is_dir() else package.parent / "evaluators"
