"""Serving: who may ask, response headers, compression, the WSGI server."""
