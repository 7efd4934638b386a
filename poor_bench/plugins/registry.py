"""All evaluators by name; each is imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import RLock

from poor_bench.config.nearest_name import name_hint
from poor_bench.errors import PluginError
from poor_bench.plugins.loaded_evaluator import LoadedEvaluator
from poor_bench.plugins.module_contract import require_contract
from poor_bench.plugins.sources import (
    EntryPointSource,
    EvaluatorSource,
    FileSource,
    list_entry_points,
    list_folders,
)


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What came of loading every evaluator."""

    evaluators: tuple[LoadedEvaluator, ...]
    failures: Mapping[str, PluginError]
    """Name to what is wrong, for the ones that cannot be used."""


class EvaluatorRegistry:
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
        """Return the names of all evaluators, sorted, whether they can be used or not."""
        return tuple(sorted({*self._files, *self._entry_points}))

    def __contains__(self, name: str) -> bool:
        return name in self._files or name in self._entry_points

    def get(self, name: str) -> LoadedEvaluator:
        """Return an evaluator, imported now if it was not before.

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
            source = self._source(name)
            module = source.import_module()
            require_contract(module, source.origin)
        except PluginError as error:
            return error
        return LoadedEvaluator(name, source.origin, module, self.get)

    def _source(self, name: str) -> EvaluatorSource:
        source = self._files.get(name) or self._entry_points.get(name)
        if source is None:
            hint = name_hint(name, self.names())
            raise PluginError(f"the evaluator {name!r} does not exist", hint=hint)
        return source

    @cached_property
    def _entry_points(self) -> Mapping[str, EntryPointSource]:
        return list_entry_points()


def load_evaluators(folders: Sequence[Path]) -> EvaluatorRegistry:
    """Return the evaluators of `folders` and of installed packages; imports none of them.

    Args:
        folders: Usually the workspace's `evaluators/`, then `project_evaluators_folder()`. Where
            two hold a file of the same name, the earlier one's is used, and `notes` says so. A
            file wins over an entry point of its name.
    """
    listing = list_folders(folders)
    return EvaluatorRegistry(listing.sources, listing.notes)
