"""Overview: all LLMs at a glance."""
