"""A plan, made, edited and steered from Python; no key. Run it: `python examples/07_steer_a_plan.py`."""

import asyncio

import moot
from moot.commands import Post, Replan
from moot.events import Fact, FinalAnswered, PlanCompleted, PlanPatched, SolverCompleted, SolverStarted, StepAsked

FIRST = {"summary": "Two sides", "tasks": [{"id": "text", "title": "Write"}, {"id": "art", "title": "Draw"}]}
LONGER = {"summary": "With a map", "tasks": [*FIRST["tasks"], {"id": "map", "title": "Add a map"}]}
CHANGE = [{"op": "modify", "task_id": "art", "changes": {"title": "Draw in blue"}}]
TEAM = {
    "name": "leaflet",
    "flow": "plan",
    "language": "en",
    "members": [
        {"id": "ann", "kind": "human"},
        {
            "id": "pam",
            "kind": "ai",
            "role": "planner",  # its turns: a plan, one that is made again, a patch, the answer
            "agent": {
                "type": "script",
                "replies": [{"plan": FIRST}, {"plan": LONGER}, {"patches": CHANGE}, "The leaflet is ready."],
            },
        },
        {
            "id": "will",
            "kind": "ai",
            "role": "executor",
            "agent": {"type": "script", "replies": [{"delay_s": 0.2, "text": "done"}]},
        },
    ],
}


async def main() -> None:
    async with moot.open(TEAM) as app:
        session = await app.session()
        async for event in session.say("A leaflet for the museum"):  # until the plan waits for Ann
            show(event.fact)

        await session.submit(Replan(feedback="add a map"))  # not yet: plan again
        async for event in session.settle():
            show(event.fact)

        question = (await session.view()).questions[0]
        tasks = [task for task in question.tasks or () if task["id"] != "text"]  # what runs is what you approve
        has_changed = False
        async for event in session.answer(question.step_id, confirmed=True, tasks=tuple(tasks)):
            show(event.fact)
            if isinstance(event.fact, SolverStarted) and not has_changed:  # said while the work goes on
                has_changed = True
                await session.submit(Post(text="please draw it in blue"))


def show(fact: Fact) -> None:
    match fact:
        case PlanCompleted(tasks=tasks, plan_summary=summary):
            print(f"plan: {summary}: {', '.join(task['title'] for task in tasks)}")
        case StepAsked(step_id=step_id, options=options):
            print(f"asked: {step_id}: {', '.join(option.id for option in options)}")
        case SolverStarted(task=task, member=member):
            print(f"{member} starts: {task['title']}")
        case PlanPatched(patches=patches):
            print(f"changed: {', '.join(patch.task_id for patch in patches)}")
        case SolverCompleted(task=task):
            print(f"done: {task['title']}")
        case FinalAnswered(text=text):
            print(f"answer: {text}")


if __name__ == "__main__":
    asyncio.run(main())
