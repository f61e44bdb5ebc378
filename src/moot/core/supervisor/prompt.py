"""What the supervisor is asked (spec/3: the supervisor's prompt): a template, and the sections that fill it.

The template is plain text with `{{placeholders}}`; a section that a team's own template leaves out stands at its end,
so that format, state, agents, decisions, hints and examples are always there.
"""

import re

from moot.core.supervisor.briefing import Briefing
from moot.core.supervisor.prompt_sections import SECTIONS

PLACEHOLDERS = tuple(SECTIONS)
_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def list_placeholders(template: str) -> list[str]:
    return _PLACEHOLDER.findall(template)


def build_prompt(template: str, briefing: Briefing) -> str:
    """`template` is the built-in one of the language; the team's own comes before it."""
    template = briefing.settings.prompt or template
    named = list_placeholders(template)
    template += "".join(f"\n\n{{{{{name}}}}}" for name in PLACEHOLDERS if name not in named)

    def fill(found: re.Match[str]) -> str:
        section = SECTIONS.get(found[1])
        return found[0] if section is None else section(briefing)

    return re.sub(r"\n{3,}", "\n\n", _PLACEHOLDER.sub(fill, template)).strip() + "\n"
