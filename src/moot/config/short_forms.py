"""Short forms of a team file: `agent: claude` and `agent: openai:gpt-5-mini` instead of a mapping."""

from moot.extensions import PRESETS


def expand(data: object) -> object:
    """Return the data of a team with its short forms written out. Anything else is left as it is, for validation."""
    if not isinstance(data, dict):
        return data
    expanded = dict(data)
    if isinstance(data.get("members"), list):
        expanded["members"] = [_expand_holder(member) for member in data["members"]]
    if isinstance(data.get("understanding"), dict):
        expanded["understanding"] = _expand_holder(data["understanding"])
    return expanded


def _expand_holder(holder: object) -> object:
    if not isinstance(holder, dict) or not isinstance(holder.get("agent"), str):
        return holder
    written = holder["agent"].strip()
    provider, colon, model = written.partition(":")
    if colon and provider and model:
        return {**holder, "agent": {"type": "llm", "model": written}}
    if written in PRESETS.names():
        return {**holder, "agent": {"type": "cli", "preset": written}}
    return holder
