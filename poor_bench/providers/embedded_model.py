"""Which file an embedded LLM runs from, and whether it can be asked; loads nothing itself."""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from poor_bench.errors import ProviderError
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.ports import CallControl, Reachability
from poor_bench.providers.embedded_cache import MODEL_SOURCES, SMALLEST, default_cache
from poor_bench.providers.embedded_engine import require_library
from poor_bench.providers.services import ProviderServices

FILE_VARIABLE = "POOR_BENCH_EMBEDDED_GGUF"
_SAMPLE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model that is there to be loaded."""

    path: Path
    digest: str
    """Tells this file from others, for results."""


def obtain_model(llm: LLM, services: ProviderServices, control: CallControl) -> ModelFile:
    """Return the file of an LLM's model, fetched if need be.

    Raises:
        ProviderError: If the file does not exist and cannot be fetched.
        RunCancelledError: If `control.cancelled()` turned true.
    """
    own = own_file(llm, services)
    if own is not None:
        return ModelFile(own, _digest_samples(own))
    source = MODEL_SOURCES.get(llm.name)
    if source is None:
        raise unknown_model(llm)
    return ModelFile(default_cache(services.environ).obtain(source, control), source.digest)


def own_file(llm: LLM, services: ProviderServices) -> Path | None:
    """Return the file that the LLM or the environment names; None where neither does."""
    named = llm.parameters.get("model_path") or services.environ.get(FILE_VARIABLE)
    return services.workspace / Path(str(named)).expanduser() if named else None


def unknown_model(llm: LLM) -> ProviderError:
    """Return the error for a name that stands for no model."""
    near = difflib.get_close_matches(llm.name, MODEL_SOURCES, n=1)
    known = f"did you mean {near[0]!r}? " if near else f"known: {', '.join(MODEL_SOURCES)}; "
    return ProviderError(
        f"unknown embedded model {llm.name!r}",
        kind=FailureKind.MODEL_NOT_FOUND,
        hint=f"{known}set the parameter `model_path` to use your own GGUF file",
    )


def find_cached_model(name: str = SMALLEST, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the file of a model that is fetched on demand; None while it is not there.

    Raises:
        ProviderError: If there is no folder to look in.
    """
    path = default_cache(environ).locate(MODEL_SOURCES[name])
    return path if path.is_file() else None


def _digest_samples(path: Path) -> str:
    """Return a hash of size, beginning and end: files of many gigabytes are not read for it."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            beginning = file.read(_SAMPLE_BYTES)
            file.seek(max(0, size - _SAMPLE_BYTES))
            end = file.read(_SAMPLE_BYTES)
    except OSError as error:
        raise ProviderError(
            f"the model's file {path} cannot be read: {error.strerror}",
            kind=FailureKind.MODEL_NOT_FOUND,
            hint=f"see the parameter `model_path` and the variable {FILE_VARIABLE}",
        ) from error
    return f"sampled:{hashlib.sha256(b'%d' % size + beginning + end).hexdigest()[:16]}"


def check_embedded(llm: LLM, services: ProviderServices) -> Reachability:
    """True if llama.cpp is installed and the model's file there."""
    try:
        require_library()
        return _check_file(llm, services)
    except ProviderError as error:
        return Reachability(reachable=False, message=_with_hint(error))


def _check_file(llm: LLM, services: ProviderServices) -> Reachability:
    own = own_file(llm, services)
    if own is not None:
        message = str(own) if own.is_file() else f"the file {own} does not exist"
        return Reachability(reachable=True, model_present=own.is_file(), message=message)
    names = tuple(MODEL_SOURCES)
    source = MODEL_SOURCES.get(llm.name)
    if source is None:
        message = _with_hint(unknown_model(llm))
        return Reachability(reachable=True, model_present=False, message=message, models=names)
    if find_cached_model(llm.name, services.environ):
        return Reachability(reachable=True, model_present=True, models=names)
    message = f"its file ({source.download_bytes // 10**6} MB) is downloaded in the first run"
    return Reachability(reachable=True, message=message, models=names)


def _with_hint(error: ProviderError) -> str:
    return f"{error} ({error.hint})" if error.hint else str(error)
