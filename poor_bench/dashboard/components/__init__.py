"""Pieces that several pages are made of: pure functions from data to components."""
