"""A seeded simulator of a whole system: server, clients, workers, disk, network and clock in one process."""
