"""The plan demo: a reading night, planned, confirmed, done in parallel, and changed on the way."""

from moot.cli.demos.scenes import Cue, Demo, Scene

APPROVED = (  # the plan as it was shown, with two changes to the third task
    {"id": "readers", "title": "Find three people who read", "member": "ben", "deliverable": "names and books"},
    {"id": "rooms", "title": "Choose rooms and times", "member": "mia", "deliverable": "a timetable"},
    {
        "id": "programme",
        "title": "Write the programme in large print",
        "depends_on": ["readers", "rooms"],
        "deliverable": "one page, large print",
    },
)

DEMO = Demo(
    team="plan-demo",
    scenes=(
        Scene(
            caption="Say what you want. It is understood first, then routed, and a planner makes a plan of it.",
            say="Please prepare the library's reading night on 12 June: who reads, where, and a programme.",
        ),
        Scene(
            caption="Nothing runs before you agree. You want large print, so you edit the third task, then approve.",
            answer={"confirmed": True, "tasks": APPROVED},
        ),
        Scene(
            caption="Ben and Mia work at the same time. Meanwhile you think of something: a small change. Watch: the "
            "work goes on, and the planner patches the plan.",
            say="Please also add a reading corner for children.",
            cue=Cue("solver.start", "rooms"),
        ),
        Scene(
            caption="Mia took too long. Her task is tried again by itself, up to three times; only then are you asked.",
            cue=Cue("error.recovery_started", "rooms"),
        ),
        Scene(
            caption="All it needs is there, so the programme begins. Now something quite different comes to your mind.",
            say="Something else: write a thank-you letter to the volunteers.",
            cue=Cue("solver.start", "programme"),
        ),
        Scene(
            caption="Another task is never mixed into this one: you are asked, and nobody stops working for that.",
            answer={"choice": "finish_first"},
            cue=Cue("agent.user_confirm"),
        ),
        Scene(
            caption="The reviewer is not content: the task goes back with the reason, and Ben does it again.",
            cue=Cue("task.reviewed", "programme"),
        ),
        Scene(
            caption="One answer of all results. What you put off has begun by itself, and waits for your yes.",
            cut="As you say yes, the connection breaks: the work goes on without you, and what you miss is replayed.",
            answer={"confirmed": True},
        ),
        Scene(caption="That is all. A human ends the session; an AI cannot.", say="Lovely, thank you all. [DONE]"),
    ),
)
