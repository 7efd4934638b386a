"""Suites of cases for computer-using agents."""
