"""Trees of a git repository in which members work (docs/workspaces.md)."""
