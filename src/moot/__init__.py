"""Moot: sessions in which people and AI agents work together.

    import moot

    async with moot.open("team.yaml") as app:
        session = await app.session()
        print(await session.ask("Hello!", to="bob"))

The names of `__all__` and of the modules `moot.events`, `moot.commands`, `moot.errors` and `moot.testing` are the
public interface, described on the page `docs/python.md`; everything else may change in any version. Each name is
imported when it is first used, so that `import moot` and `moot --help` cost nothing.
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [  # noqa: RUF022 - grouped by use
    # opening
    "open",
    "connect",
    "run_sync",
    "App",
    "Session",
    "Client",
    "Event",
    "Piece",
    "OpenQuestion",
    "View",
    # teams in code
    "team",
    "human",
    "ai",
    # members written in Python
    "agent",
    "Turn",
    "Delta",
    "Thinking",
    "Step",
    "ToolUse",
    "Result",
    "Usage",
    "Ask",
    "Incoming",
    "Option",
    # what packages add: agent types, presets, stores
    "AgentType",
    "Seat",
    "Start",
    "Preset",
    "Login",
    "Store",
    "Finding",
    "Log",
    # modules
    "commands",
    "errors",
    "events",
    "testing",
]

if TYPE_CHECKING:
    from moot import commands, errors, events, testing
    from moot.agents.agent_type import AgentType, Seat
    from moot.agents.cli.presets import Login, Preset
    from moot.agents.python import Incoming, agent
    from moot.agents.team_builder import ai, human, team
    from moot.app import App, Session, run_sync
    from moot.app import open_app as open  # noqa: A004 - `moot.open` is the public name
    from moot.client.client import Client, connect
    from moot.config.trust import Start
    from moot.conversation import OpenQuestion, Piece
    from moot.core.codec import Event
    from moot.core.flows.turns import TurnInput as Turn
    from moot.core.session.events import Option
    from moot.core.session.tool_use import ToolUse
    from moot.core.session.usage import Usage
    from moot.core.view import View
    from moot.runtime.ports import Ask, Delta, Finding, Log, Result, Step, Store, Thinking

_HOMES = {
    "open": "moot.app:open_app",
    "connect": "moot.client.client:connect",
    "run_sync": "moot.app:run_sync",
    "App": "moot.app:App",
    "Session": "moot.app:Session",
    "Client": "moot.client.client:Client",
    "Event": "moot.core.codec:Event",
    "Piece": "moot.conversation:Piece",
    "OpenQuestion": "moot.conversation:OpenQuestion",
    "View": "moot.core.view:View",
    "team": "moot.agents.team_builder:team",
    "human": "moot.agents.team_builder:human",
    "ai": "moot.agents.team_builder:ai",
    "agent": "moot.agents.python:agent",
    "Turn": "moot.core.flows.turns:TurnInput",
    "Delta": "moot.runtime.ports:Delta",
    "Thinking": "moot.runtime.ports:Thinking",
    "Step": "moot.runtime.ports:Step",
    "ToolUse": "moot.core.session.tool_use:ToolUse",
    "Result": "moot.runtime.ports:Result",
    "Usage": "moot.core.session.usage:Usage",
    "Ask": "moot.runtime.ports:Ask",
    "Incoming": "moot.agents.python:Incoming",
    "Option": "moot.core.session.events:Option",
    "AgentType": "moot.agents.agent_type:AgentType",
    "Seat": "moot.agents.agent_type:Seat",
    "Start": "moot.config.trust:Start",
    "Preset": "moot.agents.cli.presets:Preset",
    "Login": "moot.agents.cli.presets:Login",
    "Store": "moot.runtime.ports:Store",
    "Finding": "moot.runtime.ports:Finding",
    "Log": "moot.runtime.ports:Log",
    "commands": "moot.commands:",
    "errors": "moot.errors:",
    "events": "moot.events:",
    "testing": "moot.testing:",
}


if not TYPE_CHECKING:  # a type checker that saw it would take any name for granted

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used."""
        if name not in _HOMES:
            raise AttributeError(f"module 'moot' has no attribute {name!r}; it has {', '.join(__all__)}")
        import importlib

        home, _, attribute = _HOMES[name].partition(":")
        module = importlib.import_module(home)
        value = getattr(module, attribute) if attribute else module
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
