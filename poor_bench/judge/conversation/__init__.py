"""Talk to an agent: with written messages, and with a user that an LLM plays."""
