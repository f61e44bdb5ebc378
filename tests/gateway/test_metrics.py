"""What the server counts, in the Prometheus text format."""

from pathlib import Path

from moot.core.session.principal import Role
from moot.gateway.metrics import Metrics
from moot.runtime.cluster import Sample
from tests.gateway.sites import OWNER, count, open_site
from tests.runtime.apps import run


@run
async def test_what_happened_is_counted(tmp_path: Path) -> None:
    """Commands accepted and refused by code, requests by route and status, sessions by status, events."""
    async with open_site(tmp_path) as site:
        session_id = await site.create("solo")
        await site.command(session_id, "user.message", content="hi")
        await site.command(session_id, "user.retry")
        async with site.client(None) as stranger:
            await stranger.get("/api/teams")
        async with site.client() as client:
            answer = await client.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain")
        assert "# TYPE moot_connections gauge" in answer.text
        for name, value in {
            "moot_commands_accepted_total": 1,
            'moot_commands_refused_total{code="nothing_to_retry"}': 1,
            "moot_frames_received_total": 2,
            "moot_unauthenticated_requests_total": 1,
            'moot_sessions{status="paused"}': 1,
            "moot_events_logged": (await site.app.log.head(session_id)).seq,
            'moot_http_requests_total{route="/api/sessions",status="201"}': 1,
            'moot_http_requests_total{route="/api/sessions/{session_id}/commands",status="409"}': 1,
        }.items():
            assert count(site, name) == value, name


@run
async def test_nothing_from_outside_becomes_a_label(tmp_path: Path) -> None:
    """No path, id or token of a request is in the text, however many are tried."""
    async with open_site(tmp_path) as site:
        session_id = await site.create("solo")
        token, _ = site.issue(Role.VIEWER)
        async with site.client(token) as client:
            for path in ("/api/canary", "/static/canary", "/api/sessions/canary-canary", f"/api/sessions/{session_id}"):
                await client.get(path, params={"token": OWNER, "canary": "canary"})
            text = (await client.get("/metrics")).text
        for secret in ("canary", session_id, token, OWNER):
            assert secret not in text


def test_servers_do_not_share_their_counters() -> None:
    """Two in one process count for themselves."""
    one, other = Metrics(), Metrics()
    one.connections.inc()
    one.closed(4408)
    one.resumed("diverged")
    assert b"moot_connections 1.0" in one.render()
    assert b'moot_closes_total{code="4408"} 1.0' in one.render()
    assert b'moot_resumes_total{outcome="diverged"} 1.0' in one.render()
    assert b"moot_connections 0.0" in other.render()


def test_a_series_that_a_shared_store_has_no_more_is_gone() -> None:
    """A pool without workers and jobs is not shown with what it had before; what counts is a counter."""
    metrics = Metrics()
    metrics.of_cluster.latest = [Sample("workers", 2, {"pool": "far"}), Sample("workers", 1, {"pool": "near"})]
    metrics.of_node.latest = [Sample("takeovers_total", 3, {"why": "dead"})]
    shown = metrics.render().decode()
    assert 'moot_workers{pool="far"} 2.0' in shown
    assert '# TYPE moot_takeovers_total counter\nmoot_takeovers_total{why="dead"} 3.0' in shown
    metrics.of_cluster.latest = [Sample("workers", 1, {"pool": "near"})]
    shown = metrics.render().decode()
    assert 'moot_workers{pool="near"} 1.0' in shown
    assert "far" not in shown
