"""What a job delivers: the texts that its end asks for, with their title, tags and pictures."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from moot.core.flows.supervisor.conditions import SharedState, look_up
from moot.core.flows.supervisor.supervisor_settings import SupervisorSettings
from moot.core.session.team import Language
from moot.core.texts import render

PICTURES, TAGS = 12, 20
SRC_CHARS = 200_000  # of all pictures together; the others are named without their data


class Picture(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A picture that a tool made. `src` is a data: or https: address; a placeholder stands for a picture to be made."""

    asset_id: str
    src: str = ""
    caption: str = ""
    is_placeholder: bool = False


class Deliverable(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The result of a job."""

    body: str
    title: str = ""
    tags: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()


def find_deliverable(
    settings: SupervisorSettings, state: SharedState, pictures: Mapping[str, Picture]
) -> Deliverable | None:
    """Return what a job delivers; None if it has no text.

    The body is the text that the end requires; title and tags stand beside it in the state. The pictures are those that
    tools made and that the state names.
    """
    keys = [condition.key for condition in settings.end.requires]
    texts = [value.strip() for key in keys if isinstance(value := look_up(state, key), str)]
    if not any(texts):
        return None
    beside = look_up(state, keys[0].rpartition(".")[0]) if "." in keys[0] else None
    fields = beside if isinstance(beside, Mapping) else {}
    title, tags = fields.get("title"), fields.get("tags")
    return Deliverable(
        body="\n\n".join(texts),
        title=title.strip() if isinstance(title, str) else "",
        tags=tuple([tag for tag in tags if isinstance(tag, str)][:TAGS]) if isinstance(tags, list) else (),
        pictures=tuple(_list_pictures(state, pictures)),
    )


def _list_pictures(state: SharedState, pictures: Mapping[str, Picture]) -> Iterator[Picture]:
    room = SRC_CHARS
    named = dict.fromkeys(name for value in state.values() for name in _list_names(value))
    for asset_id in [name for name in named if name in pictures][:PICTURES]:
        room -= len(pictures[asset_id].src)
        yield pictures[asset_id] if room >= 0 else replace(pictures[asset_id], src="")


def _list_names(value: Any) -> Iterator[str]:
    """Yield the texts of a list or mapping of ids."""
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    yield from (item for item in items if isinstance(item, str))


def to_markdown(deliverable: Deliverable, language: Language) -> str:
    """Write a deliverable as Markdown. Pictures are named by their captions; their data would be unreadable."""
    return "\n\n".join([f"## {deliverable.title}"] * bool(deliverable.title) + _list_parts(deliverable, language))


def to_plain_text(deliverable: Deliverable, language: Language) -> str:
    """Write a deliverable for a terminal."""
    return "\n\n".join([deliverable.title] * bool(deliverable.title) + _list_parts(deliverable, language))


def _list_parts(deliverable: Deliverable, language: Language) -> list[str]:
    parts = [deliverable.body]
    if deliverable.tags:
        parts.append(" ".join(f"#{tag.replace(' ', '_')}" for tag in deliverable.tags))
    for picture in deliverable.pictures:
        mark = f" ({render('placeholder', language)})" if picture.is_placeholder else ""
        address = f" <{picture.src}>" if picture.src.startswith("https:") else ""
        parts.append(f"🖼 {picture.caption or picture.asset_id}{mark}{address}")
    return parts
