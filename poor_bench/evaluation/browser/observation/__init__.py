"""What an agent sees of a page."""
