"""Agents of a workspace: load them, talk to them, have them judged."""
