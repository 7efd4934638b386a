"""Runs candidate code, which is hostile until proven otherwise, and brings back plain data.

What it guarantees, at which level, is in `levels`; `selftest` tries to break it.
"""

from poor_bench.sandbox.default import (
    require_level,
    run_cases,
    run_check,
    sandbox_status,
    shared_sandbox,
)
from poor_bench.sandbox.describing import describe_value
from poor_bench.sandbox.levels import Level, Mechanism, SandboxStatus, parse_level
from poor_bench.sandbox.limits import Limits
from poor_bench.sandbox.outcomes import (
    CaseEnd,
    CaseOutcome,
    CheckEnd,
    CheckOutcome,
    ErrorReport,
    LoadEnd,
    LoadOutcome,
    ProgramOutcome,
)
from poor_bench.sandbox.program import Check, Program
from poor_bench.sandbox.sandbox import Sandbox
from poor_bench.sandbox.wire.plain import OpaqueObject

__all__ = [
    "CaseEnd",
    "CaseOutcome",
    "Check",
    "CheckEnd",
    "CheckOutcome",
    "ErrorReport",
    "Level",
    "Limits",
    "LoadEnd",
    "LoadOutcome",
    "Mechanism",
    "OpaqueObject",
    "Program",
    "ProgramOutcome",
    "Sandbox",
    "SandboxStatus",
    "describe_value",
    "parse_level",
    "require_level",
    "run_cases",
    "run_check",
    "sandbox_status",
    "shared_sandbox",
]
