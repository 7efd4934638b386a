"""Actions of agents on a page."""
