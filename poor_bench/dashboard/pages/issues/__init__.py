"""Issues: what goes wrong, why, and what to try."""
