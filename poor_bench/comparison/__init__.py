"""Comparison of two result sets: what became better or worse, and what is not comparable."""
