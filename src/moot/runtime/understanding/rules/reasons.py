"""Why an input was read as it was: a sentence for each reason, in both languages."""

from moot.core.team import Language

REASONS: dict[str, tuple[str, str]] = {
    "pasted": ("只有粘贴的输出，没有新的要求", "only pasted output, no new wish"),
    "nothing_said": ("没有可以理解的内容", "nothing that says something"),
    "task_named": ("指明了计划中的某个任务", "names a task of the plan"),
    "keep_running": ("明确要求照常进行", "asks to go on as it is"),
    "new_goal_after_cancel": ("放弃当前任务后提出了新目标", "drops the work and names a new goal"),
    "switch": ("明确说是另一件事", "says that it is something else"),
    "restart": ("要求推翻重来或改变方向", "asks to start over or changes direction"),
    "goal_replaced": ("替换了目标里的内容", "replaces what the goal is made of"),
    "pause": ("要求暂停运行", "asks to pause the run"),
    "resume": ("要求恢复运行", "asks to resume the run"),
    "cancel": ("要求终止运行", "asks to end the run"),
    "status_query": ("询问运行情况", "asks how the run is doing"),
    "go_on": ("让工作照常继续", "lets the work go on"),
    "answer": ("回答了上一个问题", "answers the last question"),
    "other_field": ("与当前工作不属于同一领域", "belongs to another field than the work"),
    "nothing_shared": ("与当前目标没有共同点", "shares nothing with the goal"),
    "detail": ("增加、修改或去掉一处细节", "adds, changes or removes a detail"),
    "fragment": ("可能是事实，也可能是要求", "may be a fact or a wish"),
    "vague": ("想要改动，但没有说改什么", "wants a change but does not say of what"),
    "retry": ("说明问题仍在，要求再试", "says that a problem remains and asks for another try"),
    "question": ("关于当前工作的提问", "a question about the work"),
    "agreement": ("表示同意或感谢", "agreement or thanks"),
    "fact": ("补充了事实，没有新的要求", "states facts, no new wish"),
    "no_work": ("当前没有进行中的任务", "no work is under way"),
}
CLARIFICATION: tuple[str, str] = ("你想改动哪一部分，改成什么样？", "What shall be changed, and how?")


def say(pair: tuple[str, str], language: Language) -> str:
    return pair[0] if language == "zh" else pair[1]
