"""Run: choose, preview, start and follow a run."""
