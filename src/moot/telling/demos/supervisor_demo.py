"""The supervisor demo: a post about herbs, led by a supervisor that chooses who acts next."""

from moot.telling.demos.scenes import Cue, Demo, Scene

DEMO_ZH = Demo(
    team="content-studio-demo.zh",
    scenes=(
        Scene(
            caption="说出你要什么。主编决定接下来轮到谁；谁做完都交回给主编。",
            say="写一篇阳台种香草的图文，配两张图。",
        ),
        Scene(
            caption="agent 可以问你，每件事只问一次。答案会交给提问的那一位。",
            cut="你回答时连接会断开：他们照样继续，你错过的会补上。",
            answer={"selected_ids": ("beginners",)},
        ),
        Scene(
            caption="主编想送审，可正文还没有写。Moot 纠正明显的错误，并告诉你。",
            cue=Cue("notice.posted"),
        ),
        Scene(
            caption="agent 在两轮之间可以调用工具；每个结果带来新的一轮，次数有上限。",
            cue=Cue("supervisor.tools_called"),
        ),
        Scene(
            caption="审稿有一个维度没通过。分数只是提示：退回到哪里由主编决定。",
            cue=Cue("supervisor.reviewed"),
        ),
        Scene(caption="第二次审稿通过，工作结束。会话由人结束，AI 不能。", say="[DONE]"),
    ),
)
DEMO = Demo(
    team="content-studio-demo",
    scenes=(
        Scene(
            caption="Say what you want. A supervisor decides who acts next; whoever acts hands back to it.",
            say="A post about growing herbs on a balcony, with two pictures.",
        ),
        Scene(
            caption="An agent may ask you, once about each thing. The answer goes to the one who asked.",
            cut="As you answer, the connection breaks: they go on without you, and what you miss is replayed.",
            answer={"selected_ids": ("beginners",)},
        ),
        Scene(
            caption="The supervisor wants a review, but nothing is written. Moot corrects the obvious, and shows it.",
            cue=Cue("notice.posted"),
        ),
        Scene(
            caption="Agents may call tools between their turns; each result leads to another turn, up to a limit.",
            cue=Cue("supervisor.tools_called"),
        ),
        Scene(
            caption="The review fails on one axis. The scores are a hint: the supervisor decides where to go back to.",
            cue=Cue("supervisor.reviewed"),
        ),
        Scene(caption="The second review approved it, so the job is over. A human ends the session.", say="[DONE]"),
    ),
)
