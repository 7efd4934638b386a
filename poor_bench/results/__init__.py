"""Stored results: rows in (journals and results.json), tables out."""
