"""The Python client of a Moot server."""
