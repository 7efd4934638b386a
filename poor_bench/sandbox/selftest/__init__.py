"""Tries to break out of the sandbox, in the ways that hostile programs would."""

from poor_bench.sandbox.selftest.run import Finding, run_selftest

__all__ = ["Finding", "run_selftest"]
