"""Gates: what must hold of some results, and whether it does."""
