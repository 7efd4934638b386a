"""The result panel: one test answered by one model, the same on every page."""
