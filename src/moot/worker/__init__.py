"""`moot worker`: plays members on this machine for servers elsewhere."""
