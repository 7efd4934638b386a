"""A probe against a stochastic model behind a server that drops settings."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from poor_bench.models.completion import Completion, Timing, Usage
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.probe.finding import (
    ProbeCall,
    ProbeFinding,
    ProbeReply,
    ProbeSubject,
    ProbeVerdict,
    Setting,
)
from poor_bench.probe.plan import MOST_CALLS, probe_settings
from tests.probe.fake_model import FakeModel, draw_model

_ALL = frozenset(Setting)


def probe(
    model: FakeModel, chosen: frozenset[Setting] = _ALL, **subject: Any
) -> tuple[dict[Setting, ProbeFinding], list[ProbeCall]]:
    asking = probe_settings(ProbeSubject(**{"own": {}, **subject}), chosen)
    calls = [next(asking)]
    while True:
        try:
            calls.append(asking.send(model.answer(calls[-1])))
        except StopIteration as end:
            return {finding.setting: finding for finding in end.value}, calls


def ignored_by(findings: dict[Setting, ProbeFinding]) -> set[Setting]:
    return {name for name, each in findings.items() if each.verdict is ProbeVerdict.IGNORED}


def test_a_server_that_obeys_is_found_to_obey_in_everything() -> None:
    findings, calls = probe(FakeModel(thinks=True))
    assert {finding.verdict for finding in findings.values()} == {ProbeVerdict.HONOURED}
    assert not any(finding.note for finding in findings.values())
    assert len(calls) <= MOST_CALLS


@pytest.mark.parametrize("setting", list(Setting))
def test_one_dropped_setting_is_found_and_no_other(setting: Setting) -> None:
    findings, _ = probe(FakeModel(dropped=frozenset({setting}), thinks=True))
    assert ignored_by(findings) == {setting}
    assert findings[setting].note
    assert findings[setting].evidence


@pytest.mark.slow(reason="simulates many servers")
def test_random_servers_are_judged_right_within_20_calls() -> None:
    counts: Counter[tuple[bool, bool]] = Counter()
    rng = np.random.default_rng(15)
    for number in range(120):
        dropped = frozenset(setting for setting in Setting if rng.random() < 0.5)
        model = draw_model(np.random.default_rng([15, number]), dropped)
        findings, calls = probe(model)
        assert len(calls) <= MOST_CALLS
        for setting in _ALL - model.hidden:
            counts[setting in dropped, setting in ignored_by(findings)] += 1
    assert counts[True, True] / (counts[True, True] + counts[False, True]) >= 0.95
    assert counts[True, True] / (counts[True, True] + counts[True, False]) >= 0.93


def test_a_cache_of_replies_does_not_pass_for_a_seed() -> None:
    model = FakeModel(dropped=frozenset({Setting.SEED}), caches=True)
    assert ignored_by(probe(model)[0]) == {Setting.SEED}


def test_a_seed_of_the_server_itself_does_not_pass_for_the_temperature() -> None:
    model = FakeModel(dropped=frozenset({Setting.TEMPERATURE}), default_seed=42)
    findings, _ = probe(model)
    assert findings[Setting.TEMPERATURE].verdict is ProbeVerdict.IGNORED
    assert findings[Setting.SEED].verdict is ProbeVerdict.HONOURED


def test_rounding_noise_does_not_pass_for_a_dropped_seed() -> None:
    verdicts = [
        probe(FakeModel(noise=0.01, rng=np.random.default_rng(seed)))[0][Setting.SEED].verdict
        for seed in range(20)
    ]
    assert verdicts.count(ProbeVerdict.IGNORED) == 0
    assert verdicts.count(ProbeVerdict.HONOURED) >= 18


@pytest.mark.parametrize("overflow", ["error", "cut", "half"])
def test_a_cut_context_is_named_with_its_size(overflow: str) -> None:
    model = FakeModel(dropped=frozenset({Setting.NUM_CTX}), context=4096, overflow=overflow)
    findings, _ = probe(model, own={"num_ctx": 16_384})
    assert findings[Setting.NUM_CTX].note == "context cut to 4,096"


def test_a_model_that_cannot_follow_orders_does_not_accuse_its_server() -> None:
    findings, _ = probe(FakeModel(skill=0.0))
    assert findings[Setting.SYSTEM_PROMPT].verdict is ProbeVerdict.HONOURED  # by its prompt tokens
    findings, _ = probe(FakeModel(skill=0.0, counts_tokens=False))
    assert findings[Setting.SYSTEM_PROMPT].verdict is ProbeVerdict.NOT_KNOWN
    assert findings[Setting.STOP].verdict is ProbeVerdict.NOT_KNOWN


def test_a_model_without_thinking_has_no_verdict_on_effort_and_costs_one_call() -> None:
    findings, calls = probe(FakeModel(), frozenset({Setting.EFFORT}))
    assert findings[Setting.EFFORT].verdict is ProbeVerdict.NOT_KNOWN
    assert len(calls) == 1


def test_what_the_api_does_not_have_is_not_asked_and_noted_only_if_the_entry_sets_it() -> None:
    unsent = frozenset({Setting.SEED, Setting.EFFORT})
    chosen = frozenset({Setting.SEED})
    findings, calls = probe(FakeModel(), unsent | {Setting.STOP}, unsent=unsent)
    assert {call.setting for call in calls} == {Setting.STOP}
    assert findings[Setting.SEED].verdict is ProbeVerdict.IGNORED
    assert not findings[Setting.SEED].note
    findings, _ = probe(FakeModel(), chosen | {Setting.STOP}, unsent=chosen, own={"seed": 1})
    assert findings[Setting.SEED].note == "seed ignored"


def test_the_sampling_of_the_entry_does_not_hide_what_is_looked_for() -> None:
    own = {"top_k": 1, "temperature": 0, "stop": ["x"], "keep_alive": "5m"}
    _, calls = probe(FakeModel(), own=own)
    assert all("top_k" not in call.parameters for call in calls)
    assert all(call.parameters["keep_alive"] == "5m" for call in calls)


def test_a_setting_that_the_server_refuses_counts_as_ignored() -> None:
    class Refusing(FakeModel):
        def answer(self, call: ProbeCall) -> ProbeReply:
            notes = ("the server does not accept seed; it was omitted",)
            completion = Completion(
                text="a b c d", timing=Timing(total_ms=1), usage=Usage(), notes=notes
            )
            return ProbeReply(completion=completion)

    findings, _ = probe(Refusing(), frozenset({Setting.SEED}))
    assert findings[Setting.SEED].note == "seed ignored"
    assert "refuses" in findings[Setting.SEED].reason


def test_failed_requests_lead_to_no_verdict() -> None:
    class Failing(FakeModel):
        def answer(self, call: ProbeCall) -> ProbeReply:
            return ProbeReply(failure=Failure(kind=FailureKind.TIMEOUT, message="silent"))

    findings, calls = probe(Failing())
    assert {finding.verdict for finding in findings.values()} == {ProbeVerdict.NOT_KNOWN}
    assert len(calls) <= MOST_CALLS
