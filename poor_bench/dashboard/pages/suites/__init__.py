"""Suites: trials of agents step by step, and runs compared."""
