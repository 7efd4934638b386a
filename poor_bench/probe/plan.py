"""A whole probe: which parts, in which order, within how many calls; pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from dataclasses import replace
from typing import NamedTuple

from poor_bench.probe import context, obedience, sampling
from poor_bench.probe.finding import (
    Part,
    ProbeCall,
    ProbeFinding,
    ProbeReply,
    ProbeSubject,
    Setting,
    say_ignored,
)

MOST_CALLS = 20
ALL_SETTINGS = frozenset(Setting)


class _ProbeStep(NamedTuple):
    settings: frozenset[Setting]
    n_calls: int
    """Calls without those that doubt may cost."""
    probe: Callable[[ProbeSubject, int], Part]


_STEPS = (
    _ProbeStep(
        frozenset({Setting.RESPONSE_SCHEMA}), obedience.N_SCHEMA_CALLS, obedience.probe_schema
    ),
    _ProbeStep(frozenset({Setting.STOP}), obedience.N_STOP_CALLS, obedience.probe_stop),
    _ProbeStep(frozenset({Setting.NUM_CTX}), context.N_CALLS, context.probe_context),
    _ProbeStep(
        frozenset({Setting.SYSTEM_PROMPT}), obedience.N_SYSTEM_CALLS, obedience.probe_system_prompt
    ),
    _ProbeStep(frozenset({Setting.EFFORT}), obedience.N_EFFORT_CALLS, obedience.probe_effort),
    _ProbeStep(
        frozenset({Setting.SEED, Setting.TEMPERATURE, Setting.MAX_TOKENS}),
        sampling.N_CALLS,
        sampling.probe_sampling,
    ),
)
"""Parts that often end early come first: the others use the calls that are left."""

Probe = Generator[ProbeCall, ProbeReply, tuple[ProbeFinding, ...]]


def probe_settings(subject: ProbeSubject, chosen: Collection[Setting] = ALL_SETTINGS) -> Probe:
    """Probe settings: yields calls, is sent their replies, returns a finding for each setting.

    Args:
        subject: The model.
        chosen: Settings to find out about.

    Returns:
        Findings in the order of `Setting`, after at most `MOST_CALLS` calls.
    """
    steps = [step for step in _STEPS if _needs_calls(step, subject, chosen)]
    findings = {setting: _judge_unsent(setting, subject) for setting in subject.unsent}
    n_left = MOST_CALLS
    for number, step in enumerate(steps):
        n_reserved = sum(later.n_calls for later in steps[number:])
        asked = yield from _count(step.probe(subject, n_left - n_reserved), subject)
        n_left -= asked.n_calls
        for finding in asked.findings:
            if finding.setting not in subject.unsent or finding.setting is Setting.NUM_CTX:
                findings[finding.setting] = finding
    return tuple(findings[setting] for setting in Setting if setting in chosen)


class _PartResult(NamedTuple):
    findings: list[ProbeFinding]
    n_calls: int


def _count(part: Part, subject: ProbeSubject) -> Generator[ProbeCall, ProbeReply, _PartResult]:
    """Pass the calls of a part on, and count them."""
    n_calls = 0
    try:
        call = next(part)
        while True:
            reply = yield call
            n_calls += 1
            subject.note_reply(reply)
            call = part.send(reply)
    except StopIteration as end:
        return _PartResult(end.value, n_calls)


def _needs_calls(step: _ProbeStep, subject: ProbeSubject, chosen: Collection[Setting]) -> bool:
    """True if a step has a chosen setting that is sent; a cut context shows without num_ctx."""
    wanted = step.settings & set(chosen)
    return bool(wanted - (subject.unsent - {Setting.NUM_CTX}))


def _judge_unsent(setting: Setting, subject: ProbeSubject) -> ProbeFinding:
    """Conclude without a call; results carry a note only if the model's entry has the setting."""
    finding = say_ignored(setting, f"The provider's API has no {setting.words}; it is not sent.")
    return finding if setting.parameter in subject.own else replace(finding, note="")
