"""An LLM that acts in a browser, one action at a time."""
