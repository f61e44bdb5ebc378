"""The demos there are, by flow and language. A module is named after its flow; `DEMO_<LANGUAGE>` are translations."""

from moot.core.session.team import DEFAULT_LANGUAGE, LANGUAGES
from moot.telling.demos import chat_demo, plan_demo, supervisor_demo
from moot.telling.demos.scenes import Demo

MODULES = (plan_demo, supervisor_demo, chat_demo)  # the richest first

DEMOS: dict[str, dict[str, Demo]] = {
    module.__name__.rpartition(".")[2].removesuffix("_demo"): {
        language: getattr(module, f"DEMO_{language.upper()}", module.DEMO) for language in LANGUAGES
    }
    for module in MODULES
}


def name_team(flow: str) -> str:
    """The team that plays the demo of a flow."""
    return DEMOS[flow][DEFAULT_LANGUAGE].team
