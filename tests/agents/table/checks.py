"""What an agent of the table is asked to do, and how it is seen whether it does. Each check fills one or more rows."""

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from moot.app import App, Session, open_app
from moot.config.team_file import MemberSpec, TeamFile
from moot.core.session.commands import Answer, CancelTurn, End, Post
from moot.core.session.desk_events import MemberAnswered, MessageDelivered
from moot.core.session.events import MessagePosted, StepAsked, TurnFailed, TurnStarted, TurnStepped
from moot.core.session.team import Kind
from moot.core.session.usage import Spent
from moot.runtime.process_table import find_start_time, list_descendants
from moot.testing import scripted
from tests.agents.fake_models import Asked, Call, FakeModels, Reply
from tests.agents.programs import list_started
from tests.agents.real_clis import answer
from tests.agents.table.columns import Column
from tests.runtime.apps import facts, say

ROOT = Path(__file__).parents[3]
WITHIN_S = 120.0
FAILURE_S = 100.0  # an agent that retries says so and gives up before this
TOKENS = 120  # that the fake model counts for a request
CACHED, THINKING = 60, 5  # of these
W, P, N, NONE = "W", "P", "N", "–"


class Mark(NamedTuple):
    """W works, P partly, N no, – does not apply; with what was seen."""

    mark: str
    seen: str = ""


class Place(NamedTuple):
    column: Column
    models: FakeModels
    folder: Path

    def make_team(self, *others: MemberSpec, **settings: Any) -> TeamFile:
        agent = self.column.make(url=self.models.url, **settings)
        members = (MemberSpec(id="ann", kind=Kind.HUMAN), MemberSpec(id="bob", kind=Kind.AI, agent=agent), *others)
        return TeamFile(moot=1, name="table", members=members, sandbox="off")

    @asynccontextmanager
    async def open(self, team: TeamFile) -> AsyncIterator[App]:
        async with open_app(team, data=self.folder / "data", folders={team.name: self.folder / "project"}) as app:
            yield app


Marks = dict[str, Mark]


class Check:
    """A scene that an agent plays, and the rows of the table that it fills."""

    def __init__(self, play: Callable[[Place], Awaitable[Marks]], *rows: str) -> None:
        self._play = play
        self.rows = rows

    async def __call__(self, place: Place) -> Marks:
        return await self._play(place)


async def until(condition: Callable[[], Any], within_s: float = WITHIN_S) -> bool:
    """Wait until something is so. Return whether it has come to that."""
    with suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            while not condition():  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    return bool(condition())


async def has_fact(app: App, session: Session, kind: Any, within_s: float = WITHIN_S) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            while not await facts(app, session, kind):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            return True
    return False


async def said(app: App, session: Session) -> list[str]:
    return [fact.text for fact in await facts(app, session, MessagePosted) if fact.member == "bob"]


async def reasons(app: App, session: Session) -> str:
    return "; ".join(f"{fact.error_type}: {fact.message}" for fact in await facts(app, session, TurnFailed))


def mark(is_so: object, seen: str = "", otherwise: str = N) -> Mark:
    return Mark(W if is_so else otherwise, seen)


async def converse(place: Place) -> Marks:
    """Three turns, the last after a restart of Moot: text, live text, memory, tokens and time."""
    models, team, pieces = place.models, place.make_team(scripted("carol", "my part")), list[str]()
    long = "one two three four five six seven eight"
    models.answers[:] = [lambda asked: _count(Reply(text=long, pieces=8) if "count" in asked.prompt else answer(asked))]
    async with place.open(team) as app:
        session = await app.session()
        app.streams.listeners.add(lambda _session, _event, frame: pieces.append(frame["text"]))
        first_s = await measure(say(session, "[NEXT: bob] count, please: alpha-word"))
        first, failed = await said(app, session), await reasons(app, session)
        models.answers[:] = [_count(Reply(text="over to you [NEXT: carol]"))]
        asked_before = len(models.asked)
        second_s = min([await measure(say(session, f"[NEXT: bob] beta-word {number}")) for number in range(10)])
        carol = [fact for fact in await facts(app, session, MessagePosted) if fact.member == "carol"]
        second = [str(asked.body) for asked in models.asked[asked_before:]]
        rss_mb = measure_memory()
    async with place.open(team) as app:
        session = await app.session(session.id)
        asked_before = len(models.asked)
        models.answers[:] = [lambda asked: _count(answer(asked))]
        await say(session, "[NEXT: bob] gamma-word")
        third = [str(asked.body) for asked in models.asked[asked_before:]]
        early = "alpha-word" if place.column.program else "beta-word"  # a model is told the newest messages again
        spent = (await session.state()).spent_by_member["bob"]
    return {
        "turn": mark(first == [long], failed),
        "hand-over": mark(carol),
        "text live": mark(len(pieces) > 2, f"{len(pieces)} pieces"),
        "goes on in the next turn": mark(any("alpha-word" in body and "beta-word" in body for body in second)),
        "goes on after a restart": mark(any(early in body and "gamma-word" in body for body in third)),
        "tokens are those the model counted": _compare(models, spent),
        "first turn, s": Mark(f"{first_s:.1f}"),
        "second turn, s": Mark(f"{second_s:.2f}"),
        "memory, MB": Mark(f"{rss_mb:.0f}" if rss_mb else NONE),
    }


def _count(reply: Reply) -> Reply:
    """A reply some of whose tokens were cached, and some of whose were thinking."""
    return replace(reply, cached_tokens=CACHED, thinking_tokens=THINKING)


def _compare(models: FakeModels, spent: Spent) -> Mark:
    """Compare what was counted here with what the model told. Anthropic's API does not tell tokens of thinking."""
    asked, own = len(models.asked), sum(not asked.tools for asked in models.asked)
    thinking = sum(each.dialect != "anthropic" for each in models.asked) * THINKING
    pairs = {
        "": (spent.tokens, asked * TOKENS),
        " cached": (spent.cached_tokens, asked * CACHED),
        " of thinking": (spent.thinking_tokens, thinking),
    }
    seen = "; ".join(f"{here:,} of {there:,}{name}" for name, (here, there) in pairs.items())
    if own and spent.tokens == (asked - own) * TOKENS:
        seen += ": it does not tell what it asked for a title"
    return mark(all(here == there for here, there in pairs.values()), seen, P if spent.tokens else N)


async def measure(doing: Awaitable[object]) -> float:
    """Return the seconds that something takes."""
    began = time.monotonic()
    await doing
    return time.monotonic() - began


def measure_memory() -> float:
    """The proportional memory of all programs that are kept, in MB."""
    total = 0
    for pid in list_started():
        with suppress(OSError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                total += int(line.split()[1]) if line.startswith("Pss:") else 0
    return total / 1024


async def use_a_tool(place: Place) -> Marks:
    """`permissions: ask`: a command is asked about, shown and allowed for the session; it is a step."""
    place.models.answers[:] = [_insist]
    async with place.open(place.make_team(permissions="ask")) as app:
        session = await app.session()
        run = "[NEXT: bob] RUN: touch made && echo hi-from-tool"
        saying = asyncio.create_task(say(session, run))
        asked = asyncio.create_task(has_fact(app, session, StepAsked))
        await asyncio.wait({saying, asked}, return_when="FIRST_COMPLETED", timeout=WITHIN_S)
        steps = await facts(app, session, StepAsked)
        was_made = (place.folder / "project" / "made").exists()
        if steps:
            await session.submit(Answer(step_id=steps[0].step_id, choice="allow_session"))
        await asyncio.wait_for(saying, WITHIN_S)
        asked.cancel()
        is_made = (place.folder / "project" / "made").exists()
        ended = [fact for fact in await facts(app, session, TurnStepped) if fact.tool and fact.tool.is_over]
        outputs = [fact.observation or "" for fact in ended]
        again = asyncio.create_task(say(session, run))
        await asyncio.wait({again}, timeout=WITHIN_S)
        count = len(await facts(app, session, StepAsked))
        again.cancel()
        seen = "" if is_made else f"not run: {await reasons(app, session) or await said(app, session)}"
    return {
        "tools as steps": mark(any("hi-from-tool" in each for each in outputs), str(outputs)[:200], P if ended else N),
        "asks the human": mark(steps and not was_made, seen),
        "shows what will happen": mark(steps and "touch made && echo hi-from-tool" in steps[0].question)
        if steps
        else Mark(NONE),
        "a yes for the session lasts": mark(count == 1, f"{count} questions") if steps else Mark(NONE),
    }


def _insist(asked: Asked) -> Reply:
    """Use a tool; what Codex's sandbox refuses, ask for again without it, as Codex tells its models to."""
    if len(asked.results) == 1 and "Read-only file system" in asked.results[0]:
        command = asked.prompt.rpartition("RUN: ")[2].splitlines()[0].strip()
        wider = {"sandbox_permissions": "require_escalated", "justification": "May I make the file?"}
        return Reply(calls=(Call("exec_command", {"cmd": command, **wider}),))
    return answer(asked)


async def be_cancelled(place: Place) -> Marks:
    """The first turn is cancelled in the middle of its work; the next one knows of it."""
    models, before = place.models, list_started()

    def stall(asked: Asked) -> Reply:
        played = answer(asked)
        return played if played.calls else Reply(silence=True)

    models.answers[:] = [stall]
    settings = {"permissions": "all"} if place.column.program else {}
    async with place.open(place.make_team(**settings)) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] RUN: echo delta-word"))
        shown = await until(models.shown.is_set)
        await session.submit(CancelTurn())
        began = time.monotonic()
        await saying
        free_s = time.monotonic() - began
        is_clean = await until(lambda: not list_started() - before, 15)
        gone_s = time.monotonic() - began
        models.answers[:] = [answer]
        asked_before = len(models.asked)
        await say(session, "[NEXT: bob] epsilon-word")
        bodies = [str(asked.body) for asked in models.asked[asked_before:]]
        failed = await reasons(app, session)
        spent = (await session.state()).spent_by_member["bob"]
    answered = len(models.asked) - 1  # one request had no answer
    return {
        "a cancelled turn leaves no process": mark(
            shown and is_clean, f"the floor is free in {free_s:.2f} s, nothing runs after {gone_s:.1f} s"
        ),
        "remembers a cancelled turn": mark(
            any("delta-word" in body and "epsilon-word" in body for body in bodies), failed
        ),
        "counts a cancelled turn": mark(
            spent.tokens >= answered * TOKENS, f"{spent.tokens:,} of {answered * TOKENS:,}", P
        ),
    }


async def be_steered(place: Place) -> Marks:
    """A message into the running turn reaches the model in the same turn."""
    is_asked, is_steered = threading.Event(), threading.Event()

    def paint(asked: Asked) -> Reply:
        if "in blue, please" in str(asked.body):
            return Reply(text="blue it is")
        if "paint it" not in str(asked.body):
            return Reply(text="{}")
        is_asked.set()
        is_steered.wait(30)
        return Reply(text="red it is")

    place.models.answers[:] = [paint]
    async with place.open(place.make_team()) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] paint it"))
        await until(is_asked.is_set)
        await session.submit(Post(text="@bob in blue, please"))
        await has_fact(app, session, MessageDelivered, 30)
        is_steered.set()
        await asyncio.wait_for(saying, WITHIN_S)
        how = [fact.how for fact in await facts(app, session, MessageDelivered)]
        turns = len(await facts(app, session, TurnStarted))
        last = (await said(app, session))[-1:]
    is_so = bool(last) and last[0].endswith("blue it is") and turns == 1
    return {"a message into its turn": mark(is_so, ", ".join(how), P if last and "blue" in last[0] else N)}


async def ask_a_member(place: Place) -> Marks:
    """It asks a team-mate by Moot's own tool and says what came back."""

    def work(asked: Asked) -> Reply:
        name = next((tool for tool in asked.tools if tool.endswith("ask_member")), None)
        if any("3.11" in result for result in asked.results) or len(asked.results) > 2:
            return Reply(text=f"I was told {asked.results[-1]}")
        arguments = {"member": "Carol", "question": "Which version?"}
        if any(tool.get("name") == "mcp__moot" for tool in asked.body.get("tools") or [] if isinstance(tool, dict)):
            return Reply(calls=(Call("ask_member", arguments, "mcp__moot"),))
        if name:
            return Reply(calls=(Call(name, arguments),))
        if (
            "tool_search" in asked.tools and not asked.results
        ):  # Qwen Code offers tools of servers when they are asked for
            return Reply(calls=(Call("tool_search", {"query": "select:mcp__moot__ask_member"}),))
        return Reply(text="{}")

    place.models.answers[:] = [work]
    async with place.open(place.make_team(scripted("carol", "3.11"))) as app:
        session = await app.session()
        await asyncio.wait_for(say(session, "[NEXT: bob] go"), WITHIN_S)
        answered = [fact.answer for fact in await facts(app, session, MemberAnswered)]
        text, failed = await said(app, session), await reasons(app, session)
    return {"asks a team-mate": mark(answered == ["3.11"] and "3.11" in " ".join(text), failed or str(text)[:200])}


async def be_killed(place: Place) -> Marks:
    """`kill -9` of its program in the middle of a turn and between two."""
    models, before = place.models, list_started()
    if not place.column.program:
        return {
            "killed in a turn": Mark(NONE),
            "killed between turns": Mark(NONE),
            "nothing left at the end": Mark(NONE),
        }
    models.answers[:] = [answer]
    async with place.open(place.make_team()) as app:
        session = await app.session()
        await say(session, "[NEXT: bob] zeta-word")
        kill(list_started() - before)
        await until(lambda: not list_started() - before, 15)
        asked_before = len(models.asked)
        await say(session, "[NEXT: bob] eta-word")
        between = [str(asked.body) for asked in models.asked[asked_before:]]
        failed = await reasons(app, session)
        models.answers[:] = [None]
        models.shown.clear()
        saying = asyncio.create_task(say(session, "[NEXT: bob] theta-word"))
        await until(models.shown.is_set)
        models.answers[:] = [answer]
        kill(list_started() - before)
        await asyncio.wait_for(saying, WITHIN_S)
        told = await reasons(app, session)
        asked_before = len(models.asked)
        await say(session, "[NEXT: bob] iota-word")
        after = [str(asked.body) for asked in models.asked[asked_before:]]
        await session.submit(End())
        is_clean = await until(lambda: not list_started() - before, 15)
    return {
        "killed between turns": mark(any("zeta-word" in body and "eta-word" in body for body in between), failed),
        "killed in a turn": mark(any("zeta-word" in body and "iota-word" in body for body in after), told),
        "nothing left at the end": mark(is_clean),
    }


async def outlive(place: Place) -> Marks:
    """`kill -9` of Moot in the middle of a turn, while a tool runs that has left its session and its environment."""
    row = "kill -9 of Moot leaves no process"
    if not place.column.program:
        return {row: Mark(NONE)}
    text = "[NEXT: bob] RUN: setsid -w env -i sleep 1000"
    options = (place.column.name, place.models.root, str(place.folder), text)
    moot = await asyncio.create_subprocess_exec(sys.executable, "-m", "tests.agents.table.alone", *options, cwd=ROOT)
    has_tool = await until(lambda: any(map(_is_tool, list_descendants(moot.pid))))
    begun = {pid: find_start_time(pid) for pid in list_descendants(moot.pid)}
    moot.kill()
    await moot.wait()
    is_clean = await until(lambda: not _find_left(begun), 15)
    left = _find_left(begun)
    kill(set(left))
    return {row: mark(has_tool and is_clean, f"{len(begun)} processes before, {len(left)} after")}


def _is_tool(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes() == b"sleep\x001000\x00"
    return False


def _find_left(begun: dict[int, str | None]) -> list[int]:
    return [pid for pid, start_time in begun.items() if start_time and find_start_time(pid) == start_time]


def kill(pids: set[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def fail_with(status: int, *wanted: str) -> Check:
    """Return a check of what people are told when the model answers with an HTTP status."""

    async def check(place: Place) -> Marks:
        place.models.answers[:] = [status]
        return {str(status): await _see_failure(place, wanted)}

    return Check(check, str(status))


async def _lose_the_network(place: Place) -> Marks:
    """Nobody listens where the model was."""
    return {"network down": await _see_failure(place, ("network", "agent", "rate_limit"))}


async def _see_failure(place: Place, wanted: tuple[str, ...]) -> Mark:
    """Whether the turn fails in time, as what it is, and whether there was a sign before that."""
    async with place.open(place.make_team()) as app:
        session = await app.session()
        began = time.monotonic()
        saying = asyncio.create_task(say(session, "[NEXT: bob] kappa-word"))
        await asyncio.wait({saying}, timeout=FAILURE_S)
        took_s = time.monotonic() - began
        failures = await facts(app, session, TurnFailed)
        signs = [fact.observation for fact in await facts(app, session, TurnStepped) if fact.observation]
        text = await said(app, session)
        saying.cancel()
    if text:
        return Mark(N, f"posted as an answer: {text[0][:80]}")
    if not failures:
        return Mark(P if signs else N, f"still retrying after {took_s:.0f} s, {len(signs)} signs: {signs[-1:]}")
    types = {failure.error_type for failure in failures}
    seen = f"{'/'.join(sorted(types))} in {took_s:.0f} s: {failures[-1].message[:120]}"
    return Mark(W if types <= set(wanted) else P, seen)


lose_the_network = Check(_lose_the_network, "network down")
CHECKS = (
    Check(
        converse,
        *("turn", "hand-over", "text live", "goes on in the next turn", "goes on after a restart"),
        *("tokens are those the model counted", "first turn, s", "second turn, s", "memory, MB"),
    ),
    Check(use_a_tool, "tools as steps", "asks the human", "shows what will happen", "a yes for the session lasts"),
    Check(be_cancelled, "a cancelled turn leaves no process", "remembers a cancelled turn", "counts a cancelled turn"),
    Check(be_steered, "a message into its turn"),
    Check(ask_a_member, "asks a team-mate"),
    Check(be_killed, "killed between turns", "killed in a turn", "nothing left at the end"),
    Check(outlive, "kill -9 of Moot leaves no process"),
    fail_with(401, "auth"),
    fail_with(429, "rate_limit"),
    fail_with(500, "agent", "rate_limit", "network"),
    lose_the_network,
)
