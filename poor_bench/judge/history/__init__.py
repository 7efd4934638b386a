"""Judged agents: every conversation and judgement is kept, and what they say is worked out here."""
