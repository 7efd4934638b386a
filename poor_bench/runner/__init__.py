"""Running tests: plan, execute, store, tell. A library: it never prints."""
