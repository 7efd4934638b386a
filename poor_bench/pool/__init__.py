"""Works off jobs of any kind: one queue per endpoint, worker slots, one scheduler."""
