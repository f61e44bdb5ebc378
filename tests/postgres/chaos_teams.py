"""The teams of `make chaos-cluster`: every flow, with members that are played here and on workers."""

from pathlib import Path

import yaml

import moot

POOL = "far"
CHAT = f"""\
moot: 1
name: talk
flow: chat
language: en
members:
  - {{id: ann, kind: human}}
  - {{id: bob, kind: ai, agent: {{type: script, replies: [{{text: done, delay_s: 0.3}}]}}}}
  - id: cat
    kind: ai
    runs_on: {POOL}
    agent: {{type: script, replies: [{{text: done, delay_s: 0.3, steps: [{{action: look}}]}}]}}
  - {{id: dan, kind: ai, runs_on: {POOL}, agent: {{type: python, call: "chaos_asker:ask_first"}}}}
"""
ASKER = '''\
async def ask_first(turn, ask):
    """A member that needs a permission."""
    return f"told {await ask('may I?')}"
'''
PLAN = f"""\
moot: 1
name: build
flow: plan
language: en
plan: {{turn_timeout_s: 60, dispatch_timeout_s: 30, retry: {{max_attempts: 5}}}}
members:
  - {{id: ann, kind: human}}
  - {{id: pam, kind: ai, role: planner, agent: {{type: script, replies: ["all of it"]}}}}
  - id: wu
    kind: ai
    role: executor
    runs_on: {POOL}
    agent: {{type: script, replies: [{{text: done, delay_s: 0.3}}]}}
  - {{id: xi, kind: ai, role: executor, agent: {{type: script, replies: [{{text: done, delay_s: 0.3}}]}}}}
"""
TASKS = [
    {"id": "a", "title": "first"},
    {"id": "b", "title": "second", "depends_on": ["a"]},
    {"id": "c", "title": "beside"},
]


def write_teams(folder: Path) -> list[Path]:
    """The files of the teams, in a folder of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "chaos_asker.py").write_text(ASKER)
    studio = yaml.safe_load((Path(moot.__file__).parent / "teams" / "content-studio-demo.yaml").read_text())
    studio["name"] = "studio"
    for member in studio["members"]:
        if member["kind"] == "ai" and member["id"] != "supervisor":
            member["runs_on"] = POOL
    texts = {"talk.yaml": CHAT, "build.yaml": PLAN, "studio.yaml": yaml.safe_dump(studio)}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [folder / name for name in texts]
