"""Sessions for pictures: their logs are made of commands, with fixed times, and nothing runs."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import msgspec
from msgspec.structs import replace

from moot.core.codec import Head, frame, stamp
from moot.core.evolve import evolve
from moot.core.session.attachments import Attachment
from moot.core.session.commands import AskHuman, CompleteTurn, HumanCommand, Post, ReportStep, Stop
from moot.core.session.events import Option
from moot.core.session.state import State
from moot.core.session.team import Language
from moot.core.session.tool_use import ToolUse
from moot.core.session.workspace import FileChange
from moot.core.session.workspace_view import Changes, FileDiff, WorkspaceView
from moot.core.view import project
from moot.protocol.happenings import Moved, view_frame
from moot.testing import Scenario, human, make_team, plan_given, scripted, task
from moot.testing.plan_scenario import PlanScenario
from moot.tui.hosts import Entry, Frame, Talk, Waiting

AT = "2026-01-02T03:04:05.000Z"
DIFF = (
    "--- a/src/app.py\n+++ b/src/app.py\n@@ -1,3 +1,4 @@\n def total(numbers):\n-    return 0\n"
    "+    # every number counts\n+    return sum(numbers)\n"
)
SAID: dict[Language, str] = {
    "en": "It is mended: **`total`** adds all numbers now.\n\n| File | Lines |\n|---|---|\n| src/app.py | +2 −1 |\n\n"
    "```python\ndef total(numbers: list[int]) -> int:\n    return sum(numbers)  # every number counts\n```\n\n"
    "- The tests pass.\n- Nothing else was changed.",
    "zh": "已经修好：**`total`** 现在会把所有数字相加。\n\n| 文件 | 行数 |\n|---|---|\n| src/app.py | +2 −1 |\n\n"
    "```python\ndef total(numbers: list[int]) -> int:\n    return sum(numbers)  # 每个数字都算\n```\n\n"
    "- 测试已通过。\n- 没有改动其他内容。",
}
QUESTION: dict[Language, str] = {"en": "May I delete the build folder?", "zh": "可以删除 build 文件夹吗？"}
ASKED: dict[Language, str] = {"en": "The tests fail. Please mend it.", "zh": "测试失败了，请修一下。"}


class RecordedTalk:
    id = "s_1"

    def __init__(self, scenario: Any, workspace: WorkspaceView | None = None) -> None:
        self._scenario, self._workspace = scenario, workspace

    async def frames(self) -> AsyncGenerator[Frame, None]:
        state: State | None = None
        for event in stamp(self._scenario.state.team, self.id, Head(), self._scenario.facts, AT):
            state = evolve(state, event.fact)
            yield msgspec.json.decode(frame(event, state.language))
        assert state
        yield view_frame(self.id, replace(project(state), workspace=self._workspace))
        await asyncio.Event().wait()

    async def submit(self, command: HumanCommand) -> object:
        raise NotImplementedError

    async def changes(self, *, task: str | None = None, turn: str | None = None, offset: int = 0) -> Changes:
        files = tuple(
            FileChange(path=path, status="modified", added=2, removed=1) for path in ("src/app.py", "src/sum.py")
        )
        return Changes(base="a" * 40, commit="b" * 40, files=files, total=2, added=4, removed=2)

    async def diff(self, path: str, *, task: str | None = None, turn: str | None = None, offset: int = 0) -> FileDiff:
        return FileDiff(base="a" * 40, commit="b" * 40, path=path, text=DIFF, added=2, removed=1)

    async def attach(self, data: bytes, name: str) -> Attachment:
        raise NotImplementedError


class RecordedHost:
    """One session to show, and a list of three."""

    url = None

    def __init__(self, scenario: Any, language: Language, workspace: WorkspaceView | None = None) -> None:
        self._talk = RecordedTalk(scenario, workspace)
        titles = {"en": ("Mend the tests", "Reading night"), "zh": ("修好测试", "读书之夜")}[language]
        self._titles = titles
        self._question = QUESTION[language]

    async def moves(self) -> AsyncIterator[Moved]:
        return
        yield

    async def sessions(self) -> list[Entry]:
        entry = {"team": "poster", "updated_at": AT, "waiting_for": "ann", "status": "paused"}
        return [
            Entry(
                session_id="s_1",
                title=self._titles[0],
                last="Bob: …",
                needs="your_turn",
                folder="/home/ann/library",
                **entry,
            ),
            Entry(
                session_id="s_2",
                title=self._titles[1],
                last=self._question,
                needs="permission",
                folder="/home/ann/festival",
                **entry,
            ),
        ]

    async def inbox(self) -> list[Waiting]:
        options = (Option(id="allow", label="Allow"), Option(id="reject", label="Reject"))
        return [
            Waiting(
                session_id="s_2",
                title=self._titles[1],
                kind="permission",
                since=AT,
                step_id="q",
                question=self._question,
                options=options,
            ),
            Waiting(session_id="s_1", title=self._titles[0], kind="your_turn", since=AT),
        ]

    async def scripted_teams(self) -> frozenset[str]:
        return frozenset()

    async def open(self, session_id: str) -> Talk:
        return self._talk

    async def create(self) -> Talk:
        return self._talk


def new(language: Language) -> Scenario:
    """A chat in which nothing was said."""
    members = (human("ann", name="Ann"), scripted("bob", name="Bob"), scripted("carol", name="Carol"))
    return Scenario(make_team(*members, language=language).team())


def permission(language: Language) -> Scenario:
    """A chat in which Bob needs a permission in the middle of his turn."""
    labels = {"en": ("Allow once", "Reject"), "zh": ("允许一次", "拒绝")}[language]
    options = tuple(Option(id=key, label=label) for key, label in zip(("allow", "reject"), labels, strict=True))
    tool = ToolUse(id="r", kind="execute", title="rm -r build", status="pending")
    scenario = new(language).when(Post(text=f"[NEXT: bob] {ASKED[language]}", by="ann"))
    return scenario.when(AskHuman(turn_id="t1", key="r", question=QUESTION[language], options=options, tool=tool))


def chat(language: Language, *, is_stopped: bool = False) -> Scenario:
    """A chat in which Bob has read, edited and tested; or was stopped while he wrote."""
    scenario = new(language).when(Post(text=f"[NEXT: bob] {ASKED[language]}", by="ann"))
    for name in ("src/app.py", "tests/test_app.py", "README.md"):
        tool = ToolUse(id=name, kind="read", title="Read", paths=(name,), status="completed")
        scenario.when(ReportStep(turn_id="t1", tool=tool))
    edit = ToolUse(id="e", kind="edit", title="Edit", paths=("src/app.py",), status="completed", added=2, removed=1)
    scenario.when(ReportStep(turn_id="t1", tool=edit, diff=DIFF))
    run = ToolUse(id="m", kind="execute", title="make test", status="failed", exit=2)
    scenario.when(ReportStep(turn_id="t1", tool=run, observation="1 failed, 41 passed"))
    if is_stopped:
        return scenario.when(Stop(by="ann"))
    return scenario.when(CompleteTurn(turn_id="t1", text=f"{SAID[language]} [NEXT: ann]"))


def plan(language: Language) -> PlanScenario:
    """A plan of three tasks that waits for approval."""
    titles = {"en": ("Find readers", "Find rooms", "Write it down"), "zh": ("找朗读者", "找场地", "写成节目单")}[
        language
    ]
    members = (
        human("ann", name="Ann"),
        scripted("nora", name="Nora", role="planner"),
        scripted("ben", name="Ben", role="executor"),
        scripted("leo", name="Leo", role="aggregator"),
    )
    scenario = plan_given(make_team(*members, flow="plan", language=language))
    scenario.says({"en": "Prepare the reading night.", "zh": "准备读书之夜。"}[language], by="ann")
    scenario.understands("different_task")
    first, second, third = titles
    return scenario.plans(task("a", title=first), task("b", title=second), task("c", "a", "b", title=third))


def work(language: Language) -> PlanScenario:
    """The same plan at work: one task is done, one runs."""
    scenario = plan(language).approves().acks("a").starts("a").steps("a", total=2)
    return scenario.completes("a", {"en": "Three readers.", "zh": "三位朗读者。"}[language]).acks("b").starts("b")
