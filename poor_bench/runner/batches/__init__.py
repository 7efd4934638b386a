"""Pending trials as batches at their provider: submit, look, collect, cancel."""
