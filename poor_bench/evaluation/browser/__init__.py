"""Computer-using agents in a real Chromium: the profile `default` of agent suites."""
