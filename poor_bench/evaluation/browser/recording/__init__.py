"""Playbooks out of successful trials."""
