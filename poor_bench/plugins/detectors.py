"""Issue detectors of a workspace: each file in its folder `issues/` is one.

```
detect(result)   required: evidence as a text where a scored result has the issue, else None
SEVERITY         "high", "medium" (default) or "low"; a low one is never charged with lost score
TRY              one sentence of advice
```

The first line of the module's docstring is the title, the rest the meaning. The file's name is the
id of the cause; a file with the id of a built-in detector replaces it.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from poor_bench.errors import PluginError, describe_crash
from poor_bench.issues.detect import order_detectors
from poor_bench.issues.detector import (
    FAILED,
    Affected,
    Detector,
    IssueContext,
    IssueSeverity,
    Trial,
    TrialTable,
    always,
    never,
    shorten_quote,
)
from poor_bench.messages import write_count
from poor_bench.models.problem import Problem
from poor_bench.plugins.sources import list_folders

_EVIDENCE = 200


class Look(NamedTuple):
    """What a detector made of one trial."""

    evidence: str | None = None
    crash: str = ""


class OwnDetector:
    """One module of the folder; a crash is kept as a finding, so that no other one is lost."""

    def __init__(self, name: str, path: Path, module: ModuleType, version: str) -> None:
        self.name = name
        self.path = path
        self.version = version
        self._module = module
        _require_contract(module, path)

    def look(self, trial: Trial) -> Look:
        """Ask the module about a trial; failures to run are not shown to it."""
        if trial.result.score is None:
            return Look()
        try:
            return Look(_read_evidence(self._module.detect(trial.result), trial))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - kept as a finding
            return Look(crash=describe_crash(error, str(self.path)))

    def as_detector(self) -> Detector:
        """Describe it as the built-in ones are."""
        title, _, meaning = (inspect.getdoc(self._module) or self.name).partition("\n")
        severity = IssueSeverity(getattr(self._module, "SEVERITY", IssueSeverity.MEDIUM))
        return Detector(
            id=self.name,
            title=title.strip().rstrip("."),
            severity=severity,
            meaning=" ".join(meaning.split()),
            advice=str(getattr(self._module, "TRY", "")),
            check=lambda trial: trial.once(self.look).evidence,
            explains_loss=never if severity is IssueSeverity.LOW else always,
            version=self.version,
        )

    @property
    def mark(self) -> str:
        """Name under which crashes are noted."""
        return f"{FAILED}:{self.name}"

    def find_crash(self, trial: Trial) -> str | None:
        """Find out what the module raised for a trial."""
        return trial.once(self.look).crash or None


def load_detectors(folder: Path) -> tuple[Detector, ...]:
    """Combine the built-in detectors with those of a folder.

    A file that cannot be loaded costs only itself: the cause `detector_failed` names it.

    Args:
        folder: The workspace's `issues/`; it need not exist.
    """
    own, errors = _load(folder)
    failed = [_build_failed_detector(own, list(map(str, errors.values())))] if own or errors else []
    return order_detectors([*failed, *(detector.as_detector() for detector in own)])


def list_detector_problems(folder: Path) -> list[Problem]:
    """List the files of a folder that cannot be loaded as detectors, with the reason.

    Args:
        folder: The workspace's `issues/`; it need not exist.
    """
    return [
        Problem(file=str(path), place="", message=str(error), hint=error.hint, code="bad-detector")
        for path, error in _load(folder)[1].items()
    ]


def _load(folder: Path) -> tuple[list[OwnDetector], dict[Path, PluginError]]:
    own: list[OwnDetector] = []
    errors: dict[Path, PluginError] = {}
    version = _hash(folder)
    for name, source in list_folders([folder]).sources.items():
        try:
            own.append(OwnDetector(name, source.path, source.import_module(), version))
        except PluginError as error:
            errors[source.path] = error
    return own, errors


def _hash(folder: Path) -> str:
    """Compute what changes with every file of the folder: one may import another."""
    digest = blake2b(digest_size=16)
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _require_contract(module: ModuleType, path: Path) -> None:
    try:
        inspect.signature(module.detect).bind("result")
    except (AttributeError, TypeError, ValueError):
        wanted = "define `detect(result)`, which returns a text or None"
        raise PluginError(f"{path}: {wanted}") from None
    severity = getattr(module, "SEVERITY", IssueSeverity.MEDIUM)
    if severity not in set(IssueSeverity):
        raise PluginError(f'{path}: SEVERITY must be "high", "medium" or "low", not {severity!r}')


def _read_evidence(answer: object, trial: Trial) -> str | None:
    if answer is None or answer is False or answer == "":
        return None
    if answer is True:
        return shorten_quote(trial.result.details, _EVIDENCE)
    if not isinstance(answer, str):
        raise TypeError(f"detect must return a text or None, not {type(answer).__name__}")
    return shorten_quote(answer, _EVIDENCE)


def _build_failed_detector(own: Sequence[OwnDetector], problems: Sequence[str]) -> Detector:
    def find(table: TrialTable, _: IssueContext) -> Affected:
        """Find the first crash of each with the number of all; they tend to be the same."""
        import numpy as np

        crashed = [(detector, table.find(detector.mark)[0]) for detector in own]
        known = [(detector, entries) for detector, entries in crashed if len(entries)]
        loaded = problems if len(table.trials) else []

        def tell(place: int, trial: Trial) -> str:
            if place < len(loaded):
                return loaded[place]
            detector, entries = known[place - len(loaded)]
            more = f" (in {write_count(len(entries), 'result')})" if len(entries) > 1 else ""
            return (detector.find_crash(trial) or "") + more

        firsts = [*(0 for _ in loaded), *(entries[0] for _, entries in known)]
        return Affected(np.array(firsts, dtype=np.int64), tell)

    return Detector(
        id=FAILED,
        title="Detector failed",
        severity=IssueSeverity.HIGH,
        meaning="A detector in the folder issues/ of the workspace raised an error.",
        advice="Correct the file at the line shown; all other detectors are complete.",
        across=find,
        marks={detector.mark: detector.find_crash for detector in own},
    )
