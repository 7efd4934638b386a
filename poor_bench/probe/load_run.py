"""Asks the same few prompts with more and more requests at once; `load_curve.py` has the figures.

Each level has a manager of its own: the limits of an endpoint are the strictest that were ever
asked for, and an embedded model takes its number of slots while loading.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

from poor_bench.errors import ProviderError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import Message
from poor_bench.models.llm import LLM
from poor_bench.pool.control import RunControl
from poor_bench.pool.events import JobDone, LLMUnavailable
from poor_bench.pool.pool import JobResult, Pool
from poor_bench.pool.queues import Work
from poor_bench.probe.finding import ProbeSubject
from poor_bench.probe.load_curve import (
    LoadCurve,
    LoadLevel,
    LoadSample,
    collect_answers,
    find_knee,
    find_stop,
    measure_level,
)

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
    with closing(pool.run(works, partial(_ask, manager, asked, parameters))) as events:
        for event in events:
            if isinstance(event, JobDone):
                samples.append(event.value)
            elif isinstance(event, LLMUnavailable):
                kind = event.failure.kind
                raise ProviderError(event.failure.message, kind=kind, hint=event.hint)
    return samples


def _ask(
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
