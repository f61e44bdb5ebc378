"""The seven state machines of Moot, one table a file."""
