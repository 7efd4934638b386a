"""Asks a model what a probe wants to know, then with more and more requests at once.

What is asked and concluded stands in `plan.py` and `load_curve.py`. Each level of load has a
manager of its own: the limits of an endpoint are the strictest that were ever asked for, and an
embedded model takes its number of slots while loading.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Set
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from poor_bench.errors import ProviderError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import Message
from poor_bench.models.failure import Failure, FailureScope
from poor_bench.models.llm import LLM
from poor_bench.pool.control import RunControl
from poor_bench.pool.events import JobDone, LLMUnavailable
from poor_bench.pool.pool import JobResult, Pool
from poor_bench.pool.queues import Work
from poor_bench.probe.finding import ProbeCall, ProbeFinding, ProbeReply, ProbeSubject, Setting
from poor_bench.probe.load_curve import (
    LoadCurve,
    LoadLevel,
    LoadSample,
    collect_answers,
    find_knee,
    find_stop,
    measure_level,
)
from poor_bench.probe.plan import ALL_SETTINGS, probe_settings
from poor_bench.probe.report import ProbeReport, hash_settings
from poor_bench.prompts import hash_text
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
        settings=hash_settings(llm),
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


PROMPTS = (
    "List twelve animals with four legs.",
    "Explain in a few sentences why leaves are green.",
    "Write a short story about a lighthouse.",
    "Count from one to thirty in words.",
)
_MAX_TOKENS = 64
_LEAST_REQUESTS = 2 * len(PROMPTS)


def count_requests(concurrency: int) -> int:
    """Count the requests of a level: each prompt twice, and two for each place."""
    return max(_LEAST_REQUESTS, 2 * concurrency)


def list_levels(most: int) -> list[int]:
    """List the levels: 1, 2, 4, ... up to `most`.

    Example:
        >>> list_levels(10)
        [1, 2, 4, 8]
    """
    return [2**power for power in range(most.bit_length()) if 2**power <= most]


def measure_load(
    open_manager: Callable[[], LLMManager],
    llm: LLM,
    most: int,
    tell: Callable[[int], None] = lambda _concurrency: None,
) -> LoadCurve:
    """Measure latency, throughput and answers by concurrency, until more does not pay.

    Args:
        open_manager: Opens a manager that does not repeat requests.
        llm: The model.
        most: Most requests at once, at least 1.
        tell: Called before each level.

    Raises:
        ConfigError: If the model's settings cannot be used.
        ProviderError: If the model cannot be asked.
    """
    levels: list[LoadLevel] = []
    usual: Mapping[int, Set[str]] = {}
    stopped = ""
    for concurrency in list_levels(most):
        tell(concurrency)
        manager = open_manager()
        try:
            samples = _ask_level(manager, llm, concurrency)
        finally:
            manager.close()
        levels.append(measure_level(concurrency, samples, usual))
        usual = usual or collect_answers(samples)
        stopped = find_stop(levels)
        if stopped:
            break
    return LoadCurve(levels=tuple(levels), recommended=find_knee(levels), stopped=stopped)


def _ask_level(manager: LLMManager, llm: LLM, concurrency: int) -> list[LoadSample]:
    """Ask all requests of a level.

    Raises:
        ProviderError: If the model cannot be loaded.
    """
    asked = replace(llm, concurrency=concurrency, requests_per_minute=None)
    parameters = ProbeSubject(own=llm.parameters).parameters(temperature=0, max_tokens=_MAX_TOKENS)
    n_requests = count_requests(concurrency)
    works = [Work(items=range(n_requests), n_items=n_requests, llm=asked, concurrency=concurrency)]
    pool = Pool(manager, RunControl())
    samples = []
    with closing(pool.run(works, partial(_measure_request, manager, asked, parameters))) as events:
        for event in events:
            if isinstance(event, JobDone):
                samples.append(event.value)
            elif isinstance(event, LLMUnavailable):
                kind = event.failure.kind
                raise ProviderError(event.failure.message, kind=kind, hint=event.hint)
    return samples


def _measure_request(
    manager: LLMManager, llm: LLM, parameters: Mapping[str, Any], number: int
) -> JobResult[LoadSample]:
    prompt = number % len(PROMPTS)
    clock = manager.clock
    started = clock.monotonic()
    try:
        done = manager.complete(llm, (Message("user", PROMPTS[prompt]),), parameters=parameters)
    except ProviderError as error:
        failed = LoadSample(
            prompt=prompt, started_s=started, ended_s=clock.monotonic(), failure=str(error)
        )
        return JobResult(failed)
    sample = LoadSample(
        prompt=prompt,
        started_s=started,
        ended_s=clock.monotonic(),
        latency_ms=done.timing.total_ms - (done.timing.load_ms or 0.0),
        tokens=done.usage.completion_tokens,
        text=f"{done.thinking}\n{done.text}",
    )
    return JobResult(sample)
