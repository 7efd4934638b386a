"""From a template and a test to the messages that an LLM gets; pure."""
