"""Pairwise comparison in both orders, because judges prefer the first position."""
