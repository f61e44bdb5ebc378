"""What the tests of the rules have read: a message to agents at work on a given goal."""

from moot.core.intake.intent import (
    CurrentTask,
    IntentAnalysis,
    KnownTask,
    Said,
    SemanticInput,
    SystemState,
    WorkflowStatus,
)
from moot.runtime.understanding.rules.lexicon import detect_language
from moot.runtime.understanding.rules.understand import analyse

GOAL = "Migrate the orders database from MySQL to Postgres"
ZH_GOAL = "写一个爬虫抓取招聘网站的职位信息"
TASKS = (
    KnownTask(id="t1", title="Schema"),
    KnownTask(id="t2", title="Copy the data"),
    KnownTask(id="t3", title="Switch"),
)


def read(
    text: str, status: WorkflowStatus = "execution", *, asked: str = "", tasks: tuple[KnownTask, ...] = ()
) -> IntentAnalysis:
    language = detect_language(text)
    return analyse(
        SemanticInput(
            raw_input=text,
            system_state=SystemState(
                workflow_status=status, current_task=CurrentTask(goal=ZH_GOAL if language == "zh" else GOAL)
            ),
            recent_history=(Said(role="agent", content=asked or "Schema converted. Starting the data copy."),),
            tasks=tasks,
            language=language,
        )
    )


def relation(text: str, status: WorkflowStatus = "execution", *, asked: str = "") -> str:
    return read(text, status, asked=asked).task_relation.type.removeprefix("same_task_")
