"""Prometheus metrics of the server. Label values come from fixed lists, so that clients cannot create new series."""

from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from moot.runtime.cluster import Sample

_SHARED = "Of a store that several machines share; docs/how-to/several-machines.md"


class Metrics:
    """One registry per server, so that two servers in one process do not share their counters."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        self.of_node, self.of_cluster = _Samples(registry), _Samples(registry)

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"moot_{name}", text, labels, registry=registry)

        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(f"moot_{name}", text, labels, registry=registry)

        self.connections = gauge("connections", "WebSocket connections that are open")
        self.streams = gauge("streams", "SSE streams that are open")
        self.sessions = gauge("sessions", "Sessions in the log", "status")
        self.events_logged = gauge("events_logged", "Events in the log, of all sessions")
        self.frames_sent = counter("frames_sent", "Frames sent to clients, over WebSocket and SSE")
        self.frames_received = counter("frames_received", "Frames received from clients, over WebSocket and REST")
        self.closes = counter("closes", "WebSocket connections closed by the server", "code")
        self.resumes = counter("resumes", "Resumed histories by outcome", "outcome")
        self.replays = counter("replays", "Histories sent to clients: whole or from a cursor")
        self.ignored_acks = counter("ignored_acks", "Acks that were stale, foreign or beyond what was sent")
        self.commands_accepted = counter("commands_accepted", "Commands that are durable")
        self.commands_refused = counter("commands_refused", "Commands that were refused", "code")
        self.sends_timed_out = counter("sends_timed_out", "Clients dropped because they did not read")
        self.requests = counter("http_requests", "HTTP requests by route and status", "route", "status")
        self.forbidden = counter(
            "forbidden_requests", "Requests from a wrong Host or Origin, or from an agent's program", "reason"
        )
        self.unauthenticated = counter("unauthenticated_requests", "Requests without a valid token")

    def closed(self, code: int) -> None:
        self.closes.labels(str(code)).inc()

    def resumed(self, outcome: str) -> None:
        self.resumes.labels(outcome).inc()

    def refused(self, code: str) -> None:
        self.commands_refused.labels(code).inc()

    def render(self) -> bytes:
        """Return all metrics in the Prometheus text format."""
        return generate_latest(self._registry)


class _Samples(Collector):
    """The latest samples from one source; a series that the source no longer has is gone."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.latest: Sequence[Sample] = ()
        registry.register(self)

    def collect(self) -> Iterator[Metric]:
        families: dict[str, CounterMetricFamily | GaugeMetricFamily] = {}
        for sample in self.latest:
            if sample.name not in families:
                make = CounterMetricFamily if sample.name.endswith("_total") else GaugeMetricFamily
                families[sample.name] = make(f"moot_{sample.name}", _SHARED, labels=list(sample.labels))
            families[sample.name].add_metric(list(sample.labels.values()), sample.value)
        yield from families.values()
