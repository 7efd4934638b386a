"""Better parameters: variants of one LLM run the same tests, and losers are dropped early."""
