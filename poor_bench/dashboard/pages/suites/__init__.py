"""Suites: what agents did, step by step, and how runs compare."""
