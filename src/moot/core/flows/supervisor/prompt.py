"""The supervisor's prompt: a template, and the sections that fill its placeholders (docs/supervisor.md).

Sections that a team's own template lacks are appended to it, so that every prompt has the format, state, agents, usual
order, decisions, hints and examples.
"""

import re

from moot.core.flows.supervisor.briefing import Briefing
from moot.core.flows.supervisor.prompt_sections import SECTIONS
from moot.core.template import fill_present, list_placeholders

PLACEHOLDERS = tuple(SECTIONS)


def build_prompt(template: str, briefing: Briefing) -> str:
    """Build the prompt. `template` is the built-in one, used if the team has none of its own."""
    template = briefing.settings.prompt or template
    named = list_placeholders(template)
    template += "".join(f"\n\n{{{{{name}}}}}" for name in PLACEHOLDERS if name not in named)

    sections = {name: section(briefing) for name, section in SECTIONS.items()}

    return re.sub(r"\n{3,}", "\n\n", fill_present(template, sections.get)).strip() + "\n"
