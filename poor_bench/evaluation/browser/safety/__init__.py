"""Limits of a browser under test: addresses, files and secrets."""
