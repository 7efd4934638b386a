"""The console: one module per command, nothing heavy imported before it is needed."""
