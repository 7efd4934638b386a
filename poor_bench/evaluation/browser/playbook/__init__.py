"""Deterministic steps in a browser, from files."""
