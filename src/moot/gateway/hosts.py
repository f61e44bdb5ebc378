"""The host names and origins that the server accepts. They must match exactly, which defeats DNS rebinding."""

from collections.abc import Iterable

from msgspec import Struct

DEFAULT_PORTS = {"http": 80, "https": 443}


class Hosts(Struct, frozen=True):
    """Allowed values of the headers Host and Origin, in lower case."""

    names: frozenset[str]
    origins: frozenset[str]

    def allows_host(self, host: str | None) -> bool:
        return host is not None and host.lower() in self.names

    def allows_origin(self, origin: str) -> bool:
        return origin.lower() in self.origins


def allow_hosts(host: str, port: int, others: Iterable[str] = ()) -> Hosts:
    """Allow the three loopback names, the host that is bound, and `others`: names of a proxy in front, TLS or not."""
    own = {_join(name, port) for name in ("127.0.0.1", "localhost", "::1", host)}
    if port == DEFAULT_PORTS["http"]:
        own |= {_bracket(name) for name in ("127.0.0.1", "localhost", "::1", host)}
    names, origins = set(own), {f"http://{name}" for name in own}
    for other in others:
        names.add(other)
        origins |= {f"http://{other}", f"https://{other}"}
        if ":" not in other.rpartition("]")[2]:
            names.add(f"{other}:{port}")
            origins |= {f"http://{other}:{port}"}
    return Hosts(frozenset(map(str.lower, names)), frozenset(map(str.lower, origins)))


def make_url(host: str, port: int) -> str:
    """Return the URL at which a browser on this machine reaches the server."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - a name for the person, nothing is bound
    return f"http://{_join(name, port)}/"


def _join(name: str, port: int) -> str:
    return f"{_bracket(name)}:{port}"


def _bracket(name: str) -> str:
    return f"[{name}]" if ":" in name and not name.startswith("[") else name
