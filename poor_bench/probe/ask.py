"""Asks what a probe wants to know; the decisions are in `plan.py`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import NamedTuple

from poor_bench.errors import ProviderError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.failure import Failure, FailureScope
from poor_bench.models.llm import LLM
from poor_bench.probe.finding import ProbeCall, ProbeFinding, ProbeReply, ProbeSubject, Setting
from poor_bench.probe.plan import ALL_SETTINGS, probe_settings
from poor_bench.probe.report import ProbeReport, settings_fingerprint
from poor_bench.prompts.fingerprint import hash_text
from poor_bench.providers.parameters import list_ignored_parameters


class _Heard(NamedTuple):
    findings: tuple[ProbeFinding, ...]
    n_calls: int
    digests: tuple[str, ...]


def probe_llm(
    manager: LLMManager,
    llm: LLM,
    chosen: Collection[Setting] = ALL_SETTINGS,
    tell: Callable[[ProbeCall], None] = lambda _call: None,
) -> ProbeReport:
    """Find out which settings the server of a model honours.

    Args:
        manager: Asks the model.
        llm: The model, with its own parameters.
        chosen: Settings to find out about.
        tell: Called before each request.

    Raises:
        ConfigError: If the model's settings cannot be used.
        ProviderError: If the model cannot be asked at all.
        RunCancelledError: If the user stopped it.
    """
    manager.preload(llm)
    started = manager.clock.now_iso()
    heard = _converse(manager, llm, chosen, tell, hash_text(started, 6).upper())
    return ProbeReport(
        created=manager.clock.now_iso(),
        settings=settings_fingerprint(llm),
        digests=heard.digests,
        n_calls=heard.n_calls,
        findings=heard.findings,
    )


def _converse(
    manager: LLMManager,
    llm: LLM,
    chosen: Collection[Setting],
    tell: Callable[[ProbeCall], None],
    nonce: str,
) -> _Heard:
    probe = probe_settings(
        ProbeSubject(own=llm.parameters, unsent=find_unsent(llm), nonce=nonce), chosen
    )
    n_calls, digests = 0, dict[str, None]()
    try:
        call = next(probe)
        while True:
            tell(call)
            reply = _ask(manager, llm, call)
            n_calls += 1
            if reply.completion is not None and reply.completion.model_digest:
                digests[reply.completion.model_digest] = None
            call = probe.send(reply)
    except StopIteration as end:
        return _Heard(end.value, n_calls, tuple(digests))


def find_unsent(llm: LLM) -> frozenset[Setting]:
    """Find the settings that the provider's API does not have."""
    names = {setting.parameter: None for setting in Setting if setting.parameter}
    unsent = list_ignored_parameters(llm.provider, names)
    return frozenset(setting for setting in Setting if setting.parameter in unsent)


def _ask(manager: LLMManager, llm: LLM, call: ProbeCall) -> ProbeReply:
    """Ask; another num_ctx needs another provider, as embedded models take it while loading."""
    asked, num_ctx = llm, call.parameters.get("num_ctx")
    if num_ctx != llm.parameters.get("num_ctx"):
        asked = replace(llm, parameters={**llm.parameters, "num_ctx": num_ctx})
    try:
        return ProbeReply(
            completion=manager.complete(asked, call.messages, parameters=call.parameters)
        )
    except ProviderError as error:
        if error.kind.scope is not FailureScope.REQUEST:
            raise
        return ProbeReply(failure=Failure(kind=error.kind, message=str(error)))
    finally:
        if asked is not llm and manager.is_local(llm):
            manager.unload(asked)
