"""The event protocol's pure halves: no sockets, no clock. Shared by the gateway, the clients and the interfaces."""
