"""Runs candidate code, which is hostile until proven otherwise, and brings back plain data.

What it guarantees, at which level, is in `levels`; `selftest` tries to break it.
"""

from poor_bench.sandbox.levels import (
    Level,
    Mechanism,
    SandboxStatus,
    SandboxTerms,
    parse_level,
    weakness_of,
)
from poor_bench.sandbox.program import (
    CaseEnd,
    CaseOutcome,
    Check,
    CheckEnd,
    CheckOutcome,
    ErrorReport,
    Limits,
    LoadEnd,
    LoadOutcome,
    Program,
    ProgramOutcome,
)
from poor_bench.sandbox.sandbox import (
    Sandbox,
    accept_level,
    noting_levels,
    require_level,
    run_cases,
    run_check,
    running_own_code,
    sandbox_status,
    sandbox_terms,
    shared_sandbox,
)
from poor_bench.sandbox.wire.plain import OpaqueObject, describe_value

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
    "SandboxTerms",
    "accept_level",
    "describe_value",
    "noting_levels",
    "parse_level",
    "require_level",
    "run_cases",
    "run_check",
    "running_own_code",
    "sandbox_status",
    "sandbox_terms",
    "shared_sandbox",
    "weakness_of",
]
