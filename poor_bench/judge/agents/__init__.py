"""Agents of a workspace before their judges: load them, talk to them, have them judged."""
