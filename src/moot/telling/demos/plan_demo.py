"""The plan demo: a reading night, planned, confirmed, done in parallel, and changed on the way."""

from moot.telling.demos.scenes import Cue, Demo, Scene

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

APPROVED_ZH = (
    {"id": "readers", "title": "找三位朗读者", "member": "ben", "deliverable": "姓名和书目"},
    {"id": "rooms", "title": "选定场地和时间", "member": "mia", "deliverable": "时间表"},
    {"id": "programme", "title": "写大字版节目单", "depends_on": ["readers", "rooms"], "deliverable": "一页纸，大字"},
)

DEMO_ZH = Demo(
    team="plan-demo.zh",
    scenes=(
        Scene(
            caption="说出你要什么。先理解，再路由，然后由规划者做成计划。",
            say="请准备图书馆 6 月 12 日的朗读之夜：谁来读、在哪里、一份节目单。",
        ),
        Scene(
            caption="你同意之前什么都不会运行。你想要大字版，于是改了第三个任务，然后批准。",
            answer={"confirmed": True, "tasks": APPROVED_ZH},
        ),
        Scene(
            caption="小本和米娅同时工作。这时你想起一件小事：请看，工作不停，规划者修改计划。",
            say="另外再加一个儿童朗读角。",
            cue=Cue("solver.start", "rooms"),
        ),
        Scene(
            caption="米娅花的时间太长。她的任务会自动重试，最多三次；之后才来问你。",
            cue=Cue("error.recovery_started", "rooms"),
        ),
        Scene(
            caption="需要的都齐了，节目单开始写。现在你想到一件完全不同的事。",
            say="换个话题：给志愿者写一封感谢信。",
            cue=Cue("solver.start", "programme"),
        ),
        Scene(
            caption="另一个任务不会混进这一个：会先问你，而且没有人因此停下。",
            answer={"choice": "finish_first"},
            cue=Cue("agent.user_confirm"),
        ),
        Scene(
            caption="评审者不满意：任务带着理由退回，小本再做一次。",
            cue=Cue("task.reviewed", "programme"),
        ),
        Scene(
            caption="所有结果汇成一个答复。你推后的事已经自己开始，等你点头。",
            cut="你点头的时候连接断开：工作照常进行，你错过的会补上。",
            answer={"confirmed": True},
        ),
        Scene(caption="就是这些。会话由人结束，AI 不能。", say="太好了，谢谢各位。[DONE]"),
    ),
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
