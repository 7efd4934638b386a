"""Model: everything about one LLM."""
