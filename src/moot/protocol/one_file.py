"""A session as one HTML file that opens anywhere: no script, nothing from elsewhere, everything from its frames."""

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from moot.core.notices import render
from moot.core.supervisor.conditions import look_up
from moot.core.supervisor.decision import without_decision
from moot.core.supervisor_settings import END
from moot.core.team import Language

Frame = dict[str, Any]

WORDS: dict[str, dict[Language, str]] = {
    "timeline": {"en": "Timeline", "zh": "时间线"},
    "members": {"en": "Members", "zh": "成员"},
    "events": {"en": "events", "zh": "条事件"},
    "answered": {"en": "answered", "zh": "已回答"},
}
STYLE = """
:root{color-scheme:light dark;--ink:light-dark(#23211c,#e8e6e1);--soft:light-dark(#5c574d,#a9a69e);
--line:light-dark(#dedad2,#34373d);--ground:light-dark(#fbfaf8,#16171a);--mine:light-dark(#f1efea,#202227)}
body{max-width:50rem;margin:2rem auto;padding:0 1rem;background:var(--ground);color:var(--ink);
font:16px/1.55 system-ui,"PingFang SC","Microsoft YaHei","Noto Sans CJK SC",sans-serif;overflow-wrap:anywhere}
h1{margin:0;font-size:1.6rem}h2{margin:2rem 0 .5rem;font-size:1.05rem}
.soft,time,summary{color:var(--soft);font-size:.85rem}
article{margin:.6rem 0;padding:.5rem .8rem;border-radius:8px}article.human{background:var(--mine)}
article p,pre{margin:.2rem 0 0;white-space:pre-wrap}.note{margin:.5rem 0;text-align:center;color:var(--soft);
font-size:.9rem;white-space:pre-wrap}
details{margin:.4rem 0;padding:.3rem .8rem;border:1px solid var(--line);border-radius:8px}
table{border-collapse:collapse;width:100%;font-size:.8rem}
td{padding:.15rem .5rem;border-top:1px solid var(--line);vertical-align:top}
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def to_html(frames: Iterable[Frame], language: Language) -> str:
    """The whole file. Every text of the session is escaped; there is no element that could run or load anything."""
    shown = list(frames)
    created = shown[0].get("metadata", {}) if shown else {}
    names = {member["id"]: member["display_name"] for member in created.get("members", ())}
    story = _Story(created, names, language)
    titles = [frame["metadata"]["title"] for frame in shown if frame["event"] == "session.renamed"]
    title = escape((titles[-1] if titles else created.get("title")) or created.get("team") or "Moot")
    return "".join(
        [
            f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n",
            *_describe(shown, names, language),
            "</header>\n<main>\n",
            *(line for frame in shown for line in story.tell(frame)),
            "</main>\n",
            *_list_events(shown, language),
            "</body>\n</html>\n",
        ]
    )


def _describe(frames: list[Frame], names: dict[str, str], language: Language) -> Iterator[str]:
    if not frames:
        return
    last = frames[-1]
    about = [
        last["session_id"],
        f"{len(frames)} {WORDS['events'][language]}",
        frames[0]["timestamp"],
        last["timestamp"],
    ]
    yield f'<p class="soft">{escape(" · ".join(about))}</p>\n'
    yield f'<p class="soft">{WORDS["members"][language]}: {escape(", ".join(names.values()))}</p>\n'
    yield f'<p class="soft">sha256 {escape(last["hash"])}</p>\n'


class _Story:
    """Tells the frames in their order; of a supervisor's shared state it keeps what is to be told at the end."""

    def __init__(self, created: Frame, names: dict[str, str], language: Language) -> None:
        self._names = names
        self._language = language
        self._is_led = created.get("flow") == "supervisor"
        self._players = {each["role"]: each["display_name"] for each in created.get("members", ()) if each.get("role")}
        end = (created.get("supervisor") or {}).get("end") or {}
        self._delivers = [str(each["key"]) for each in end.get("requires", ())]
        self._state: dict[str, Any] = {}
        self._titles: dict[str, str] = {}

    def tell(self, frame: Frame) -> Iterator[str]:
        said = frame.get("metadata", {})
        self._titles |= {task["id"]: task["title"] for task in said.get("tasks") or ()}
        match frame["event"]:
            case "message.posted" | "agent.final_answer":
                yield from self._say(frame, said)
            case "notice.posted" | "session.renamed" | "agent.user_confirm":
                yield _note(frame, frame.get("show_content") or said.get("kind") or "")
            case "agent.user_confirm_closed":
                answer = said.get("answer") or said.get("choice") or said["outcome"]
                by = self._name(said.get("by") or "")
                yield _note(frame, f"✓ {by} {WORDS['answered'][self._language]}: {answer}")
            case "plan.completed":
                tasks = "\n".join(f"{at}. {task['title']}" for at, task in enumerate(said["tasks"], 1))
                yield _note(frame, f"{said['plan_summary']}\n{tasks}".strip())
            case "solver.completed":
                title = f"✓ {said['task']['title']} · {self._name(said.get('member', ''))}"
                yield f"<details><summary>{escape(title)}</summary><pre>{escape(said['result'])}</pre></details>\n"
            case "task.reviewed" if not said["pass"]:
                title = self._titles.get(said["task_id"], said["task_id"])
                yield self._line(
                    frame, "task_sent_back", who=self._name(said["member"]), title=title, detail=said.get("feedback")
                )
            case "turn.failed" | "task.failed":
                yield _note(frame, f"✗ {said['error_type']}: {frame.get('show_content') or said['message']}")
            case _ if self._is_led:
                yield from self._lead(frame, said)

    def _lead(self, frame: Frame, said: Frame) -> Iterator[str]:
        """The supervisor flow: who was chosen and why, how the review went, what came of it."""
        match frame["event"]:
            case "supervisor.started":
                self._state = {}
            case "supervisor.state_updated":
                self._state |= said["changes"]
            case "supervisor.decided" if said["next"] == END:
                yield self._line(frame, "told_end")
            case "supervisor.decided":
                who = self._players.get(said["next"], said["next"])
                yield self._line(frame, "told_choice", who=who, detail=said["decision"]["guidance"])
            case "supervisor.reviewed":
                code = "told_approved" if said["approved"] else "told_rejected"
                yield self._line(frame, code, count=said["iteration"])
            case "supervisor.ended":
                found = [look_up(self._state, key) for key in self._delivers]
                text = "\n\n".join(each for each in found if isinstance(each, str))
                told = escape(render(f"told_{said['outcome']}", self._language))
                yield f'<article id="e{frame["seq"]}"><b>{told}</b><p>{escape(text)}</p></article>\n'

    def _say(self, frame: Frame, said: Frame) -> Iterator[str]:
        text = said["text"].strip() or said.get("raw") or ""
        if self._is_led and said.get("turn_id"):
            text = without_decision(text).strip()
        if not text:
            return
        kind = "ai" if said.get("turn_id") or frame["event"] == "agent.final_answer" else "human"
        opening = f'<article class="{kind}" id="e{frame["seq"]}"><b>{escape(self._name(said["member"]))}</b>'
        yield f"{opening} {_time(frame)}<p>{escape(text)}</p></article>\n"

    def _name(self, member: str) -> str:
        return self._names.get(member, member)

    def _line(self, frame: Frame, code: str, **params: Any) -> str:
        return _note(frame, render(code, self._language, **params))


def _note(frame: Frame, text: str) -> str:
    return f'<p class="note" id="e{frame["seq"]}">{escape(str(text))}</p>\n'


def _time(frame: Frame) -> str:
    return f'<time datetime="{escape(frame["timestamp"])}">{escape(frame["timestamp"][11:19])}</time>'


def _list_events(frames: list[Frame], language: Language) -> Iterator[str]:
    yield f"<details><summary>{WORDS['timeline'][language]} ({len(frames)})</summary>\n<table>\n"
    for frame in frames:
        who = frame.get("source", {}).get("member", "")
        cells = (str(frame["seq"]), frame["timestamp"][11:23], frame.get("timeline") or frame["event"], who)
        yield "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>\n"
    yield "</table></details>\n"
