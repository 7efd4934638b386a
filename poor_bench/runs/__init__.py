"""Runs of every kind: header, journal, owner lock, history, budget."""
