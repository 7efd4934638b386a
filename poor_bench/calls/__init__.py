"""What stands between a run and the providers: retries, limits, concurrency."""
