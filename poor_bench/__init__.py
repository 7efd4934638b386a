"""poor_bench: how good an LLM is at your tasks, on your machine, and why it fails."""

__version__ = "0.1.0"
