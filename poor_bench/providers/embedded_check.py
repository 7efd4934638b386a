"""Find out whether an embedded LLM can be asked, without loading or fetching anything."""

from __future__ import annotations

from poor_bench.errors import ProviderError
from poor_bench.models.llm import LLM
from poor_bench.ports import Reachability
from poor_bench.providers.embedded_catalog import MODEL_SOURCES
from poor_bench.providers.embedded_engine import require_library
from poor_bench.providers.embedded_model import cached_model, own_file, unknown_model
from poor_bench.providers.services import ProviderServices


def check_embedded(llm: LLM, services: ProviderServices) -> Reachability:
    """Return whether llama.cpp is installed and the model's file there."""
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
    if cached_model(llm.name, services.environ):
        return Reachability(reachable=True, model_present=True, models=names)
    message = f"its file ({source.download_bytes // 10**6} MB) is downloaded in the first run"
    return Reachability(reachable=True, message=message, models=names)


def _with_hint(error: ProviderError) -> str:
    return f"{error} ({error.hint})" if error.hint else str(error)
