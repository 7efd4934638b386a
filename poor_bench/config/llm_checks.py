"""Check that every LLM can be asked somewhere, as far as its entry tells."""

from __future__ import annotations

from collections.abc import Callable

from poor_bench.config.loaded import Loaded
from poor_bench.config.nearest_name import misspelt_name, nearest_name
from poor_bench.config.report import Place, Report
from poor_bench.errors import ConfigError
from poor_bench.models.llm import LLM
from poor_bench.providers.catalog import provider_names
from poor_bench.providers.endpoint import endpoint_of
from poor_bench.providers.parameters import COMMON, ignored_parameters, unknown_parameters

IsOwnProvider = Callable[[str], bool]
"""True for the name of a provider that the calling program brings along."""


def no_own_provider(_name: str) -> bool:
    """Accept only the providers of the catalog."""
    return False


def check_llms(llms: Loaded[LLM], is_own_provider: IsOwnProvider = no_own_provider) -> None:
    """Note providers that are unknown or misspelt, and endpoints that are not addresses."""
    for llm_id, llm in llms.by_id.items():
        if not is_own_provider(llm.provider):
            _check_llm(llm, llms.places[llm_id], llms.report)


def _check_llm(llm: LLM, place: Place, report: Report) -> None:
    try:
        endpoint_of(llm, environ={})
    except ConfigError as error:
        key = "endpoint" if llm.endpoint else "provider"
        report.error((*place, key), str(error), hint=error.hint, code=f"bad-{key}")
        return
    _check_parameters(llm, (*place, "parameters"), report)
    meant = misspelt_name(llm.provider, provider_names())
    if meant is not None and meant != llm.provider.lower():
        message = f"`{llm.provider}` is treated as an OpenAI-compatible server"
        hint = f"did you mean `{meant}`?"
        report.warning((*place, "provider"), message, hint=hint, code="unknown-provider")


def _check_parameters(llm: LLM, place: Place, report: Report) -> None:
    for name in unknown_parameters(llm.provider, llm.parameters):
        near = nearest_name(name, COMMON)
        hint = f"did you mean `{near}`?" if near else "use `extra_body` to send it unchanged"
        message = f"unknown parameter `{name}`"
        report.warning((*place, name), message, hint=hint, code="unknown-parameter")
    for name in ignored_parameters(llm.provider, llm.parameters):
        message = f"`{llm.provider}` ignores `{name}`"
        report.warning((*place, name), message, code="ignored-parameter")
