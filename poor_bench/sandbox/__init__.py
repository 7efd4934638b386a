"""Runs candidate code, which is hostile until proven otherwise, and brings back plain data.

What it guarantees, at which level, is in `levels`; `selftest` tries to break it.
"""

from poor_bench.sandbox.levels import (
    Level,
    Mechanism,
    SandboxStatus,
    SandboxTerms,
    describe_weakness,
    parse_level,
)
from poor_bench.sandbox.plain import OpaqueObject, describe_value
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
    describe_sandbox_terms,
    find_lowest_level,
    find_sandbox_status,
    note_levels,
    open_shared_sandbox,
    require_level,
    run_cases,
    run_check,
    trust_own_code,
)

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
    "describe_sandbox_terms",
    "describe_value",
    "describe_weakness",
    "find_lowest_level",
    "find_sandbox_status",
    "note_levels",
    "open_shared_sandbox",
    "parse_level",
    "require_level",
    "run_cases",
    "run_check",
    "trust_own_code",
]
