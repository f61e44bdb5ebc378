"""A session as one HTML file that opens anywhere: no script, nothing from elsewhere, everything from its frames."""

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

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
            *(line for frame in shown for line in _tell(frame, names, language)),
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


def _tell(frame: Frame, names: dict[str, str], language: Language) -> Iterator[str]:
    said = frame.get("metadata", {})
    match frame["event"]:
        case "message.posted" | "agent.final_answer":
            text = said["text"].strip() or said.get("raw") or ""
            kind = "ai" if said.get("turn_id") or frame["event"] == "agent.final_answer" else "human"
            name = escape(names.get(said["member"], said["member"]))
            opening = f'<article class="{kind}" id="e{frame["seq"]}"><b>{name}</b> {_time(frame)}'
            yield f"{opening}<p>{escape(text)}</p></article>\n"
        case "notice.posted" | "session.renamed" | "agent.user_confirm":
            yield _note(frame, frame.get("show_content") or said.get("kind") or "")
        case "agent.user_confirm_closed":
            answer = said.get("answer") or said.get("choice") or said["outcome"]
            by = names.get(said.get("by") or "", said.get("by") or "")
            yield _note(frame, f"✓ {by} {WORDS['answered'][language]}: {answer}")
        case "plan.completed":
            tasks = "\n".join(f"{at}. {task['title']}" for at, task in enumerate(said["tasks"], 1))
            yield _note(frame, f"{said['plan_summary']}\n{tasks}".strip())
        case "solver.completed":
            title = f"✓ {said['task']['title']} · {names.get(said.get('member', ''), '')}"
            yield f"<details><summary>{escape(title)}</summary><pre>{escape(said['result'])}</pre></details>\n"
        case "turn.failed" | "task.failed":
            yield _note(frame, f"✗ {said['error_type']}: {frame.get('show_content') or said['message']}")
        case _:
            return


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
