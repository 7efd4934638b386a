"""Find what is wrong with the tests themselves: unfair, contradictory, doubled, untested tests."""

from pathlib import Path

CHEATS_FILE = Path("index", "cheats.json")
"""Within a workspace: what answers score that need no model."""
