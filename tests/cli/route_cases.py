"""What `moot route chat` is asked, and the whole answer to each question."""

from typing import Any

TEAM: dict[str, Any] = {
    "language": "en",
    "members": [
        {"id": "alice", "name": "Alice", "kind": "human"},
        {"id": "zoe", "name": "Zoe", "kind": "human"},
        {"id": "bob", "name": "Bob", "kind": "ai", "agent": {"type": "script"}},
        {"id": "carol", "name": "Carol", "display_name": "Dr. Carol", "kind": "ai", "agent": {"type": "script"}},
    ],
}
AVAILABLE = ["Alice", "Zoe", "Bob", "Dr. Carol"]


def answer(
    next: list[str] | None = None,  # noqa: A002 - the word of the contract
    *,
    priorities: list[str] | None = None,
    markers: dict[str, Any] | None = None,
    action: str = "send_to_ai",
    member: str | None = None,
    addressees: list[str] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """A whole answer; what is not given is as when a message names nobody and nobody waits."""
    names = next or []
    lost = action == "error_unresolved"
    return {
        "markers": {
            "next": names,
            "priorities": priorities or ["P2"] * len(names),
            "done": False,
            "from": None,
            "team_task": None,
            "drop": [],
            "mentions": [],
            **(markers or {}),
        },
        "clean": "",
        "resolved": [],
        "unresolved": [],
        "action": {
            "type": action,
            "member": member,
            "addressees": addressees or [],
            "available_members": AVAILABLE if lost else [],
        },
        "queue_updates": [],
        "queue": [],
        "status": "active",
        "waiting_for": None,
        "notices": [],
        "via": "next" if names else "queue" if fields.get("queue") else "fallback",
        **fields,
    }


def skipped(*names: str) -> list[dict[str, Any]]:
    quoted = ", ".join(f"'{name}'" for name in names)
    return [{"code": "names_skipped", "text": f"⚠️ {quoted} is not in this team, skipped", "names": list(names)}]


def unresolved(*names: str) -> list[dict[str, Any]]:
    text = f"❌ Cannot resolve [NEXT:{', '.join(names)}]. Available members: {', '.join(AVAILABLE)}"
    return [{"code": "unresolved", "text": text, "names": list(names)}]


def suggested(name: str, nearest: str) -> dict[str, Any]:
    text = f"◦ Nobody here is called {name}. Did you mean [NEXT: {nearest}]?"
    return {"code": "next_unknown", "text": text, "names": []}


FALLBACK: dict[str, Any] = {"action": "wait_for_human", "member": "alice", "status": "paused", "waiting_for": "alice"}

NOBODY: dict[str, Any] = {
    **FALLBACK,
    "notices": [
        {
            "code": "nobody_addressed",
            "text": "◦ Nobody was addressed. Give it to: Bob · Dr. Carol (type @name)",
            "names": ["Bob", "Dr. Carol"],
        }
    ],
}

# what it shows: the question beside the team (speaker alice, empty queue unless said), the whole answer
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "an AI is named": (
        {"text": "[NEXT: bob] hi"},
        answer(["bob"], member="bob", clean=" hi", resolved=["bob"], queue_updates=["bob"], queue=["bob"]),
    ),
    "a human is named": (
        {"text": "your turn [NEXT: ZOE]"},
        answer(
            ["ZOE"],
            action="wait_for_human",
            member="zoe",
            clean="your turn ",
            resolved=["zoe"],
            queue_updates=["zoe"],
            queue=["zoe"],
            status="paused",
            waiting_for="zoe",
        ),
    ),
    "behind others": (
        {"text": "[NEXT: carol]", "queue": ["bob"]},
        answer(["carol"], action="continue_queue", resolved=["carol"], queue_updates=["carol"], queue=["bob", "carol"]),
    ),
    "behind a human": (
        {"text": "[NEXT: carol]", "queue": ["zoe"]},
        answer(
            ["carol"],
            action="continue_queue",
            resolved=["carol"],
            queue_updates=["carol"],
            queue=["zoe", "carol"],
            status="paused",
            waiting_for="zoe",
        ),
    ),
    "nobody is named, others wait": (
        {"text": "go on", "queue": ["carol", "bob"]},
        answer(action="continue_queue", clean="go on", queue=["carol", "bob"]),
    ),
    "nobody is named, nobody waits": ({"text": "hi", "speaker": "zoe"}, answer(clean="hi", **NOBODY)),
    "an empty marker": ({"text": "hi [NEXT:]"}, answer(clean="hi ", **NOBODY)),
    "some are unknown": (
        {"text": "[NEXT: x, bob, y]"},
        answer(
            ["x", "bob", "y"],
            member="bob",
            resolved=["bob"],
            unresolved=["x", "y"],
            queue_updates=["bob"],
            queue=["bob"],
            notices=skipped("x", "y"),
        ),
    ),
    "all are unknown, a human spoke": (
        {"text": "[NEXT: bobb]", "speaker": "zoe", "queue": ["carol"]},
        answer(
            ["bobb"],
            action="error_unresolved",
            addressees=["bobb"],
            unresolved=["bobb"],
            queue=["carol"],
            status="paused",
            waiting_for="zoe",
            notices=[*unresolved("bobb"), suggested("bobb", "Bob")],
        ),
    ),
    "all are unknown, an AI spoke": (
        {"text": "[NEXT: x, y]", "speaker": "bob"},
        answer(
            ["x", "y"],
            action="error_unresolved",
            addressees=["x", "y"],
            unresolved=["x", "y"],
            status="paused",
            waiting_for="alice",
            notices=unresolved("x", "y"),
        ),
    ),
    "names as people write them": (
        {"text": "[next：@Bob、 **carol**，DR.CAROL.] [NEXT: b o b]"},
        answer(
            ["Bob", "carol", "DR.CAROL.", "b o b"],
            member="bob",
            clean=" ",
            resolved=["bob", "carol", "carol", "bob"],
            queue_updates=["bob", "carol", "bob"],
            queue=["bob", "carol", "bob"],
        ),
    ),
    "nobody stands behind himself": (
        {"text": "[NEXT: Bob, bob, carol, carol]", "queue": ["bob"]},
        answer(
            ["Bob", "bob", "carol", "carol"],
            action="continue_queue",
            resolved=["bob", "bob", "carol", "carol"],
            queue_updates=["carol"],
            queue=["bob", "carol"],
        ),
    ),
    "P1 goes to the front": (
        {"text": "[NEXT: carol !p1]", "queue": ["bob", "zoe"]},
        answer(
            ["carol"],
            priorities=["P1"],
            action="continue_queue",
            resolved=["carol"],
            queue_updates=["carol"],
            queue=["carol", "bob", "zoe"],
        ),
    ),
    "P3 goes behind every P2": (
        {"text": "[NEXT: bob!P3, carol!P2]"},
        answer(
            ["bob", "carol"],
            priorities=["P3", "P2"],
            member="carol",
            resolved=["bob", "carol"],
            queue_updates=["bob", "carol"],
            queue=["carol", "bob"],
        ),
    ),
    "another ! is part of the name": (
        {"text": "[NEXT: bob!P4]"},
        answer(
            ["bob!P4"],
            action="error_unresolved",
            addressees=["bob!P4"],
            unresolved=["bob!P4"],
            status="paused",
            waiting_for="alice",
            notices=[*unresolved("bob!P4"), suggested("bob!P4", "Bob")],
        ),
    ),
    "a member is dropped": (
        {"text": "[DROP: bob!P1] not him", "queue": ["bob", "carol", "bob"]},
        answer(action="continue_queue", markers={"drop": ["bob"]}, clean=" not him", queue=["carol"]),
    ),
    "all are dropped, then one is named": (
        {"text": "[DROP: carol, all][NEXT: carol]", "queue": ["bob", "zoe"]},
        answer(
            ["carol"],
            member="carol",
            markers={"drop": ["ALL"]},
            resolved=["carol"],
            queue_updates=["carol"],
            queue=["carol"],
        ),
    ),
    "somebody unknown is dropped": (
        {"text": "[DROP: x] hi", "queue": ["bob"]},
        answer(action="continue_queue", markers={"drop": ["x"]}, clean=" hi", queue=["bob"], notices=skipped("x")),
    ),
    "nobody is dropped": ({"text": "[DROP:] hi", "queue": []}, answer(clean=" hi", **NOBODY)),
    "[DONE] of an AI means nothing": (
        {"text": "ready [DONE] [NEXT: carol]", "speaker": "bob"},
        answer(
            ["carol"],
            member="carol",
            markers={"done": True},
            clean="ready  ",
            resolved=["carol"],
            queue_updates=["carol"],
            queue=["carol"],
        ),
    ),
    "the speaker is named": (
        {"text": "[FROM: Zoe][FROM: bob] hi", "speaker": None},
        answer(markers={"from": "Zoe"}, clean="[FROM: Zoe][FROM: bob] hi", **NOBODY),
    ),
    "the last team task counts": (
        {"text": "[TEAM_TASK: win][TEAM_TASK: win [big]] go [NEXT: bob]"},
        answer(
            ["bob"],
            member="bob",
            markers={"team_task": "win [big]"},
            clean="[TEAM_TASK: win][TEAM_TASK: win [big]] go ",
            resolved=["bob"],
            queue_updates=["bob"],
            queue=["bob"],
        ),
    ),
    "markers in a code block are text": (
        {"text": "```\n[NEXT: bob] [DONE]\n```\n"},
        answer(clean="```\n[NEXT: bob] [DONE]\n```\n", **NOBODY),
    ),
    "a human mentions an AI": (
        {"text": "@Bob hi"},
        answer(
            markers={"mentions": ["Bob"]},
            member="bob",
            clean="@Bob hi",
            resolved=["bob"],
            queue_updates=["bob"],
            queue=["bob"],
            via="mention",
        ),
    ),
    "an AI mentions an AI": (
        {"text": "@Bob hi", "speaker": "carol"},
        answer(markers={"mentions": ["Bob"]}, clean="@Bob hi", **FALLBACK),
    ),
    "nobody is named, and there is a default": (
        {"text": "hi", "team": {**TEAM, "chat": {"default": "carol"}}},
        answer(member="carol", clean="hi", resolved=["carol"], queue_updates=["carol"], queue=["carol"], via="default"),
    ),
    "an AI may say nothing": ({"text": "", "speaker": "bob"}, answer(**FALLBACK)),
    "an AI may name itself": (
        {"text": "[NEXT: bob]", "speaker": "bob"},
        answer(["bob"], member="bob", resolved=["bob"], queue_updates=["bob"], queue=["bob"]),
    ),
    "an empty text": (
        {"text": " \n"},
        answer(
            clean=" \n",
            notices=[
                {
                    "code": "empty_message",
                    "text": "Message content cannot be empty: type some text, or name somebody with [NEXT: name]",
                    "names": [],
                }
            ],
            **FALLBACK,
        ),
    ),
    "an unknown speaker": (
        {"text": "hi", "speaker": "dora", "queue": ["bob"]},
        answer(
            action="continue_queue",
            clean="hi",
            queue=["bob"],
            notices=[
                {
                    "code": "sender_not_found",
                    "text": "[FROM:dora] not found: use one of Alice, Zoe",
                    "names": ["dora"],
                }
            ],
        ),
    ),
    "an AI is named as speaker": (
        {"text": "[FROM: Bob] [NEXT: carol]"},
        answer(
            ["carol"],
            member="carol",
            markers={"from": "Bob"},
            clean="[FROM: Bob] ",
            resolved=["carol"],
            queue_updates=["carol"],
            queue=["carol"],
            notices=[
                {
                    "code": "sender_is_ai",
                    "text": "[FROM:Bob] is an AI: only humans can speak here, one of Alice, Zoe",
                    "names": ["Bob"],
                }
            ],
        ),
    ),
    "nobody knows who speaks": (
        {"text": "[NEXT: bob]", "speaker": None},
        answer(
            ["bob"],
            member="bob",
            resolved=["bob"],
            queue_updates=["bob"],
            queue=["bob"],
            notices=[
                {
                    "code": "sender_ambiguous",
                    "text": "Several humans share this session: say who speaks with [FROM: name], one of Alice, Zoe",
                    "names": [],
                }
            ],
        ),
    ),
}
