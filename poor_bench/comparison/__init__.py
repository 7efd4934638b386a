"""What became better or worse between two sets of results, and what makes them not comparable."""
