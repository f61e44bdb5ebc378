"""The chat demo: a poster, written by three AIs that hand each other the floor."""

from moot.cli.demos.scenes import Demo, Scene

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
