"""What is said joins the conversation."""

from moot.core.draft import Draft
from moot.core.events import MessagePosted, TeamTaskSet
from moot.core.markers import Markers
from moot.core.team import Member


def post(draft: Draft, speaker: Member, raw: str, markers: Markers, turn_id: str | None) -> None:
    said = markers.clean
    draft.add(MessagePosted(member=speaker.id, text=said, raw=None if raw == said else raw, turn_id=turn_id))
    if markers.team_task:
        draft.add(TeamTaskSet(member=speaker.id, team_task=markers.team_task))
