"""The OpenAPI document is made from the routes and the types."""

import json
import re
from pathlib import Path
from typing import Any

from tests.gateway.sites import Site, open_site
from tests.runtime.apps import run


async def read(site: Site) -> Any:
    async with site.client() as client:
        return (await client.get("/api/openapi.json")).json()


@run
async def test_every_route_is_described(tmp_path: Path) -> None:
    """Each method of each path of the router, and nothing that is not there; only static files are left out."""
    async with open_site(tmp_path) as site:
        document = await read(site)
        described = {(path, method.upper()) for path, each in document["paths"].items() for method in each}
        routes: list[Any] = list(site.gateway.router.routes)
        routed = {(route.path, method) for route in routes for method in route.methods - {"HEAD"}}
        assert routed - described == {("/static/{path:path}", "GET"), ("/s/{session_id}", "GET")}
        assert described - routed == set()
        assert document["openapi"].startswith("3.1")


@run
async def test_the_document_is_whole(tmp_path: Path) -> None:
    """Every reference leads somewhere, every path parameter is declared, every operation has a name of its own."""
    async with open_site(tmp_path) as site:
        document = await read(site)
        refs = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)))
        assert refs
        assert refs <= set(document["components"]["schemas"])
        operations = [(path, each) for path, methods in document["paths"].items() for each in methods.values()]
        for path, operation in operations:
            declared = [each["name"] for each in operation["parameters"] if each["in"] == "path"]
            assert declared == re.findall(r"\{(\w+)\}", path)
            assert operation["summary"]
            assert {"4XX", "5XX"} <= set(operation["responses"])
        ids = [operation["operationId"] for _, operation in operations]
        assert len(set(ids)) == len(ids)


@run
async def test_what_needs_no_token_says_so(tmp_path: Path) -> None:
    """The document and the guard agree on what is public."""
    async with open_site(tmp_path) as site:
        document = await read(site)
        public = {
            path for path, each in document["paths"].items() if any(m.get("security") == [] for m in each.values())
        }
        assert public == {"/", "/healthz", "/readyz", "/api/login"}
        assert document["security"]


@run
async def test_answers_have_the_fields_that_were_promised(tmp_path: Path) -> None:
    """The required fields of the schema are there, for what is listed and for what is read."""
    async with open_site(tmp_path) as site:
        document = await read(site)
        session_id = await site.create()
        schemas = document["components"]["schemas"]
        async with site.client() as client:
            for path, name in (
                ("/api/teams", "TeamDocument"),
                ("/api/sessions", "SessionEntry"),
                ("/api/machines", "MachineDocument"),
            ):
                for each in (await client.get(path)).json():
                    assert set(each) == set(schemas[name]["required"]), name
            whole = (await client.get(f"/api/sessions/{session_id}")).json()
            assert set(whole) == set(schemas["SessionDocument"]["required"])
            [frame] = (await client.get(f"/api/sessions/{session_id}/events")).json()
            assert set(frame) <= set(schemas["Frame"]["properties"])


@run
async def test_the_page_of_the_server_lists_every_route(tmp_path: Path) -> None:
    """docs/server.md: each method of each path stands in its table; the page itself needs no entry."""
    page = (Path(__file__).parents[2] / "docs" / "server.md").read_text(encoding="utf-8")
    async with open_site(tmp_path) as site:
        paths = (await read(site))["paths"]
    routes = [
        f"`{method.upper()} {path.replace('session_id', 'id')}" for path, each in paths.items() for method in each
    ]
    assert [route for route in routes if route not in page and route != "`GET /"] == []
