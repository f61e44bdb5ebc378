"""`GET /api/demos`: the scenes that the page plays with the built-in scripted teams."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from moot.app import App
from moot.gateway.guard import principal_of
from moot.gateway.operations import LANGUAGE, Operation
from moot.gateway.replies import Json, wanted_language
from moot.gateway.team_sources import find_file
from moot.telling.demos.catalogue import DEMOS, name_team
from moot.telling.demos.scenes import Cue, Demo


class SceneDocument(Struct, frozen=True, kw_only=True):
    """What a viewer is told, and what the human then says or answers; it begins at its cue, or with the floor."""

    caption: str
    cut: bool  # the connection is cut when the human acts
    say: str
    answer: Mapping[str, Any] | None
    cue: Cue | None


class DemoDocument(Struct, frozen=True, kw_only=True):
    """A demo of a team on offer."""

    team: str
    flow: str
    scenes: list[SceneDocument]


class DemoOperations:
    def __init__(self, app: App) -> None:
        self._app = app

    def list_operations(self) -> list[Operation]:
        return [
            Operation(
                method="GET",
                path="/api/demos",
                summary="The demos of the teams on offer, the richest first",
                handler=self.list_demos,
                gives=list[DemoDocument],
                parameters=(LANGUAGE,),
            )
        ]

    async def list_demos(self, request: Request) -> Response:
        """Return those that may be started. What is said is in the team's language, captions are in the reader's."""
        if not principal_of(request.scope).may_create:
            return Json([])
        languages, wanted, found = {team.name: team.language for team in self._app.teams}, wanted_language(request), []
        for flow, demos in DEMOS.items():
            name = name_team(flow)
            if name in languages and find_file(self._app, name) is None:  # not somebody's own of that name
                language = languages[name]
                found.append(_describe(name, flow, demos[language], demos[wanted or language]))
        return Json(found)


def _describe(team: str, flow: str, played: Demo, read: Demo) -> DemoDocument:
    scenes = [
        SceneDocument(
            caption=f"{told.caption} {told.cut}".strip(),
            cut=bool(scene.cut),
            say=scene.say,
            answer=scene.answer,
            cue=scene.cue,
        )
        for scene, told in zip(played.scenes, read.scenes, strict=True)
    ]
    return DemoDocument(team=team, flow=flow, scenes=scenes)
