"""Conversations with an agent: written messages and simulated users."""
