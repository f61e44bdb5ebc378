"""A port as it is written on the command line."""

from argparse import ArgumentTypeError

MAX_PORT = 65_535


def read_port(written: str) -> int:
    if not written.isdecimal() or int(written) > MAX_PORT:
        raise ArgumentTypeError(f"{written!r} is no port; use a number from 0 to {MAX_PORT}")
    return int(written)
