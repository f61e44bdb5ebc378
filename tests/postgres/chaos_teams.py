"""The teams of `make chaos-cluster`: every flow, with members that are played here and on workers.

One team has an agent whose program stays between turns and asks for permissions, one works in trees of a repository,
and one in empty folders, which a worker makes for its members.
"""

import sys
from pathlib import Path

import yaml

import moot
from tests.runtime.workspaces.repositories import make_repository

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
  - {{id: dan, kind: ai, runs_on: {POOL}, agent: {{type: python, call: "chaos_members:ask_first"}}}}
"""
MEMBERS = '''\
from pathlib import Path


async def ask_first(turn, ask):
    """A member that needs a permission."""
    return f"told {await ask('may I?')}"


async def write_down(turn):
    """A member that works in a folder which nobody else has."""
    notes = Path(turn.folder, "notes.txt")
    assert notes.parent != Path(__file__).parent  # that is the team's
    with notes.open("a") as file:
        print(turn.turn_id, file=file)
    return f"wrote {len(notes.read_text().splitlines())} lines"
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
AGENT = Path(__file__).parents[1] / "agents" / "acp" / "fake_agent.py"
LIVE = f"""\
moot: 1
name: live
flow: chat
language: en
sandbox: "off"
members:
  - {{id: ann, kind: human}}
  - {{id: eve, kind: ai, runs_on: {POOL}, agent: {{type: acp, command: [{sys.executable}, "-IS", {AGENT}, ask]}}}}
"""
DESK = f"""\
moot: 1
name: desk
flow: plan
language: en
workspace: {{type: none}}
plan: {{turn_timeout_s: 60, dispatch_timeout_s: 30, retry: {{max_attempts: 5}}}}
members:
  - {{id: ann, kind: human}}
  - {{id: pam, kind: ai, role: planner, agent: {{type: script, replies: ["all of it"]}}}}
  - {{id: wu, kind: ai, role: executor, runs_on: {POOL}, agent: {{type: python, call: "chaos_members:write_down"}}}}
"""
TREES = """\
moot: 1
name: trees
flow: plan
language: en
workspace: {type: worktree}
plan: {turn_timeout_s: 60, dispatch_timeout_s: 30, retry: {max_attempts: 5}}
members:
  - {id: ann, kind: human}
  - {id: pam, kind: ai, role: planner, agent: {type: script, replies: ["all of it"]}}
  - id: wu
    kind: ai
    role: executor
    agent:
      type: script
      by_task:
        a: &replies
          - {text: done, delay_s: 0.3, files: {notes.txt: "one\\n"}}
          - {text: done, delay_s: 0.3, files: {notes.txt: "one\\ntwo\\n"}}
          - {text: done, delay_s: 0.3, files: {notes.txt: "two\\n", "more.txt": "three\\n"}}
        b: *replies
        c: *replies
"""
TASKS = [
    {"id": "a", "title": "first"},
    {"id": "b", "title": "second", "depends_on": ["a"]},
    {"id": "c", "title": "beside"},
]


def write_teams(folder: Path) -> dict[str, Path]:
    """The files of the teams by their names, in a folder of their own, which is a repository."""
    make_repository(folder, {"notes.txt": "zero\n"})
    (folder / "chaos_members.py").write_text(MEMBERS)
    studio = yaml.safe_load((Path(moot.__file__).parent / "teams" / "content-studio-demo.yaml").read_text())
    studio["name"] = "studio"
    for member in studio["members"]:
        if member["kind"] == "ai" and member["id"] != "supervisor":
            member["runs_on"] = POOL
    texts = {
        "talk": CHAT,
        "build": PLAN,
        "studio": yaml.safe_dump(studio),
        "live": LIVE,
        "desk": DESK,
        "trees": TREES,
    }
    files = {name: folder / f"{name}.yaml" for name in texts}
    for name, text in texts.items():
        files[name].write_text(text)
    return files
