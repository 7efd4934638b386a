"""LLMs: which are configured, which can be reached, which can be added."""
