"""Compare: some LLMs side by side, as a whole, by class and test by test."""
