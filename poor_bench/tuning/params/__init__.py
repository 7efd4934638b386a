"""Better parameters: variants of a model run the same tests; find_losers are dropped early."""
