"""The chat demo: a poster, written by three AIs that hand each other the floor."""

from moot.telling.demos.scenes import Demo, Scene

DEMO_ZH = Demo(
    team="chat-demo.zh",
    scenes=(
        Scene(
            caption="没有点名的话交给阿达，由她说接下来是谁。请看队列；朵拉不在这个团队里，会被跳过并给出提示。",
            say="图书馆从五月起周日开放。你们三位能写一张海报吗？",
        ),
        Scene(
            caption="没有再点名谁，所以发言权回到你这里。改一处：",
            cut="这一次连接会断开：小白照样回答，你错过的会补上。",
            say="@小白 短一点。",
        ),
        Scene(caption="会话由人结束，AI 不能。", say="很好，谢谢各位。[DONE]"),
    ),
)
DEMO = Demo(
    team="chat-demo",
    scenes=(
        Scene(
            caption="What you say to nobody goes to Ada; she names who follows. Watch the queue; Dora is not in this "
            "team and is skipped with a notice.",
            say="The library opens on Sundays from May. Can you three write the poster?",
        ),
        Scene(
            caption="Nobody was named any more, so the floor came back to you. One change:",
            cut="This time the connection breaks: Bob answers all the same, and what you miss is replayed.",
            say="@Bob Shorter, please.",
        ),
        Scene(caption="A human ends the session; an AI cannot.", say="Perfect, thank you all. [DONE]"),
    ),
)
