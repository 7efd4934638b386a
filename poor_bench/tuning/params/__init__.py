"""Better parameters: variants of a model run the same tests; losers are dropped early."""
