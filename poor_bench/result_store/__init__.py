"""Results on disk: a snapshot, plus one append-only journal for each run that is under way."""
