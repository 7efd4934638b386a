"""Runs all trials."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from poor_bench.sandbox.levels import Level
from poor_bench.sandbox.sandbox import Sandbox
from poor_bench.sandbox.selftest.exhausting import TRIALS as EXHAUSTING
from poor_bench.sandbox.selftest.forging import TRIALS as FORGING
from poor_bench.sandbox.selftest.ground import prepared_ground
from poor_bench.sandbox.selftest.reaching import TRIALS as REACHING

TRIALS = (*REACHING, *EXHAUSTING, *FORGING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What came of one way to break out.

    Attributes:
        name: What was tried, in a few words.
        holds_from: The lowest level that promises to withstand it.
        evidence: What shows that it got through; empty if the sandbox held.
        is_promised: The sandbox promises to withstand it.
        wall: The mechanism that must be in force as well; empty for none.
    """

    name: str
    holds_from: Level
    evidence: str
    is_promised: bool
    wall: str = ""

    @property
    def needs(self) -> str:
        """What a sandbox must have to withstand it."""
        return f"level {self.holds_from.label}{f' and {self.wall}' if self.wall else ''}"

    @property
    def held(self) -> bool:
        """Whether the sandbox held."""
        return not self.evidence


def run_selftest(sandbox: Sandbox) -> Iterator[Finding]:
    """Try to break out of a sandbox; findings come as they are made, a few seconds in all.

    Raises:
        SandboxError: If the sandbox cannot be set up.
    """
    status = sandbox.status()
    with prepared_ground() as ground:
        for trial in TRIALS:
            evidence = trial.evidence(sandbox, ground)
            yield Finding(
                name=trial.name,
                holds_from=trial.holds_from,
                evidence=evidence,
                is_promised=trial.is_promised(status),
                wall=trial.needs or "",
            )
