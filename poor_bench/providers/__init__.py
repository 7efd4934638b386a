"""Translate between our requests and the wire format of each kind of LLM server."""
