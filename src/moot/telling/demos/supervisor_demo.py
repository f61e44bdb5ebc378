"""The supervisor demo: a post about herbs, led by a supervisor that chooses who acts next."""

from moot.telling.demos.scenes import Cue, Demo, Scene

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
