"""The log in PostgreSQL, shared by the nodes of a cluster."""
