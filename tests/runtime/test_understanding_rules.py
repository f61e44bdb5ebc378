"""`rules`: what people mean, told from structure, state and similarity; one table of messages a rule."""

from typing import get_args

import pytest
from hypothesis import given as for_all
from hypothesis import strategies

from moot.core.intake.intent import (
    KnownTask,
    WorkflowStatus,
)
from moot.core.intake.intent_routing import ACTIVE, decide_route, is_sound
from moot.runtime.understanding.rules.tokens import is_chinese
from tests.runtime.understanding.messages import TASKS, read, relation


@pytest.mark.parametrize(
    "text",
    [
        "重新规划",
        "请重新规划一下",
        "我想重新做个计划",
        "计划要重新做",
        "再规划一次吧",
        "replan please",
        "Plan it all again",
        "redo the whole plan",
        "we need to make a new plan",
    ],
)
def test_a_new_plan_is_a_major_change(text: str) -> None:
    """The person who asks for another plan is asked, and gets one."""
    analysis = read(text)
    assert analysis.task_relation.type == "same_task_major_change"
    assert decide_route(analysis, "execution", "zh").route == "full_replan"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("重新规划抓取的顺序", "minor_change"),
        ("re-plan the indexes", "minor_change"),
        ("需要重新规划吗？", "no_change"),
        ("why plan again?", "no_change"),
    ],
)
def test_planning_a_part_again_or_asking_about_it_is_no_new_plan(text: str, expected: str) -> None:
    """The object says how much changes; a question changes nothing."""
    assert relation(text) == expected


@pytest.mark.parametrize(
    ("text", "route", "control"),
    [
        ("查一下特斯拉的股价", "new_task", None),
        ("look into the parking situation downtown", "wait_user_decision", None),
        ("帮我写一封请假信", "new_task", None),
        ("帮我写一份菜谱", "new_task", None),
        ("整个换成讲区块链", "full_replan", None),
        ("改成做一个 Word 文档，面向小学生", "full_replan", None),
        ("算了，不做爬虫了，帮我写一封请假信", "new_task", None),
        ("先停一停，我想想", "control_action", "pause"),
        ("可以暂停一下吗？", "control_action", "pause"),
        ("could we put this on hold until tomorrow?", "control_action", "pause"),
        ("算了", "wait_user_decision", "cancel"),
        ("never mind", "wait_user_decision", "cancel"),
        ("we won't be needing this after all", "wait_user_decision", "cancel"),
        ("please cease all work on this", "control_action", "cancel"),
    ],
)
def test_what_is_not_sure_is_asked_about(text: str, route: str, control: str | None) -> None:
    """An order that nothing ties to the work is no change of it, and only a plain order ends the work at once."""
    decision = decide_route(read(text), "execution")
    assert (decision.route, decision.payload.control_action) == (route, control)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("16", "Which Postgres version is the target?"),
        ("the second one", "Shall I use a dump or a stream?"),
        ("yes, both", "Shall I copy users and orders?"),
        ("只要北京的", "只抓北京还是全国？"),
        ("use the stream", "Which one, a dump or a stream?"),
    ],
)
def test_an_answer_changes_nothing(text: str, asked: str) -> None:
    """An answer to an agent's question is no change."""
    analysis = read(text, asked=asked)
    assert (analysis.task_relation.type, analysis.normalized_intent.action) == ("same_task_no_change", "clarify")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("能不能先停下来听我说", "control_instruction"),
        ("给我讲个笑话", "different_task"),
        ("别写得像广告", "minor_change"),
        ("第二部分太长，删一半", "minor_change"),
        ("轻松的", "no_change"),
    ],
)
def test_an_order_is_an_answer_only_if_it_is_about_the_question(text: str, expected: str) -> None:
    """A question that offers two ways does not make an answer of whatever is said next."""
    assert relation(text, asked="标题要轻松一点还是正式一点？") == expected


def test_an_answer_that_adds_something_is_a_change() -> None:
    """One detail added is minor, also behind a yes."""
    assert relation("yes, and also copy the indexes", asked="Shall I copy users and orders?") == "minor_change"
    assert relation("add a dry run", asked="Done. Anything else I should do?") == "minor_change"


@pytest.mark.parametrize(
    "text",
    [
        "thanks, nice find",
        "lgtm",
        "why did you convert the schema first?",
        "can you explain what the copy does?",
        "the old server is in Frankfurt",
        "try again",
        "Traceback (most recent call last):\n  File 'x.py', line 3\npsycopg.OperationalError: timeout",
        "辛苦了",
        "为什么要先抓列表页？",
        "我用的是 mac",
        "还是不行",
    ],
)
def test_talk_about_the_work_changes_nothing(text: str) -> None:
    """Thanks, agreement, facts, pasted output and questions about the work are no change."""
    assert relation(text) == "no_change"


@pytest.mark.parametrize(
    "text",
    [
        "also copy the indexes",
        "can you also copy the indexes?",
        "you forgot the audit table",
        "that's wrong, it should be a bigint",
        "looks good but the log is too verbose",
        "use COPY not INSERT",
        "skip the audit_log table, we don't need it any more",
        "next: the users table",
        "能不能把薪资字段也抓下来？",
        "字段名统一用小写",
        "顺便加个重试",
        "不要抓图片",
    ],
)
def test_a_detail_is_a_minor_change_and_certain(text: str) -> None:
    """One detail added, changed or removed; certain enough not to ask each time."""
    analysis = read(text)
    assert analysis.task_relation.type == "same_task_minor_change"
    assert decide_route(analysis, "execution").route == "minor_replan"


@pytest.mark.parametrize(
    "text",
    [
        "start over",
        "let's move to Oracle instead of Postgres",
        "we're not migrating any more, set up replication instead",
        "从抓职位改成抓公司舆情",
        "推翻重来",
        "不抓招聘网站了，改成做一个舆情平台",
    ],
)
def test_a_replaced_goal_is_a_major_change(text: str) -> None:
    """Goal, deliverable, technology, audience or scope replaced, or a fresh start."""
    analysis = read(text)
    assert analysis.task_relation.type == "same_task_major_change"
    assert analysis.assessment
    assert (analysis.assessment.recommended_action, bool(analysis.assessment.replan_rationale)) == ("full_replan", True)


@pytest.mark.parametrize(
    "text",
    [
        "something else: our website is down",
        "write a birthday card for my colleague",
        "who won the world cup in 2018?",
        "帮我订一张去上海的高铁票",
        "另外一件事：写一封道歉邮件",
        "the migration can wait, design a backup strategy",
        "let's leave the migration for now and look into the failing login",
        "drop this, the production server is down, look at that first",
        "put the migration aside. nobody can log in",
        "爬虫先放一放，先把登录修好",
        "先放下这个，官网挂了，赶紧看看",
        "弄完这个以后帮我把办公室的打印机修一下",
        "对了，帮我查一下去美国的签证要多久",
        "what shots do i need for my flight to kenya?",
    ],
)
def test_another_goal_is_another_task(text: str) -> None:
    """Anything not about the current goal; it asks before the work is left."""
    analysis = read(text)
    assert analysis.task_relation.type == "different_task"
    assert decide_route(analysis, "execution").user_confirmation_required


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("draft a reply to the landlord", "different_task"),  # an errand is mostly a work of its own
        ("can you look up the opening hours of the museum", "different_task"),
        ("translate this to spanish: 'your parcel is on its way'", "different_task"),  # brings its own material
        ("afterwards please look into the broken coffee machine", "different_task"),  # comes after the work
        ("how do i exit vim", "different_task"),  # asks about things in general
        ("how do i run the copy?", "no_change"),
        ("put this aside and write a letter for me", "different_task"),  # a control and an order in one clause
        ("leave this for now. the coffee machine leaks badly, find out why", "different_task"),  # brings up a matter
        ("next thing, the signup form accepts broken phone numbers", "different_task"),
        ("generate a surrogate key for each row", "minor_change"),  # "each" points to the work
        ("翻译一下这句话：see you soon", "different_task"),
        ("这段英文什么意思：Out of office until Monday", "different_task"),
        ("先放一下这个，老板的打印机连不上了，帮忙处理下", "different_task"),
        ("做完这个以后帮我写个请假条", "different_task"),
    ],
)
def test_the_object_of_an_order_says_whether_it_leaves_the_work(text: str, expected: str) -> None:
    """The verb, what it is about and when it is wanted; the words of the verb itself tie nothing to the work."""
    assert relation(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Postgres is out, we go with Oracle",
        "use Oracle, not Postgres",
        "we're leaving MySQL behind anyway, set up DynamoDB",
        "forget Postgres, look at what Oracle costs us",
        "drop Postgres, we need something for our partners",
        "my boss says no migration. build a read replica instead",
        "change the goal to a nightly export",
        "this needs to become a nightly export",
        "我们决定用 GitLab，不抓招聘网站了",
        "老板说不要爬虫了，要一份行业报告",
        "别抓招聘网站了，公司现在要做短视频",
        "migration stays as it is. rather work out how to get rid of the old warehouse",
        "i'd rather have a nightly export than a migration",
        "the team voted for Oracle. rebuild it with that",
        "we're not doing Postgres this year, plan it for Oracle",
        "Oracle would be better than Postgres, please switch",
        "make it a video tutorial, people don't read databases",
        "受众变了，不是求职者，是给学校看的",
        "爬虫重新来吧，目标换了",
    ],
)
def test_what_the_goal_is_made_of_is_given_up_for_something_else(text: str) -> None:
    """A part of the goal is given up in one clause and something that the work does not have is named in another."""
    assert relation(text) == "major_change"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("don't bother with the audit table", "minor_change"),
        ("don't bother", "control_instruction"),
        ("column names in lower case please", "minor_change"),
        ("the kids can't read serif fonts, mind the labels", "minor_change"),
        ("check the details please", "no_change"),
        ("they asked for the users table so please copy that", "minor_change"),
        ("we stopped doing Postgres. plan it for the data lake", "major_change"),
        ("职位名打成职称名了", "minor_change"),
        ("先讲清楚什么是字段", "minor_change"),
        ("你怎么判断是重复的", "no_change"),
    ],
)
def test_what_a_clause_is_about_decides_what_it_does(text: str, expected: str) -> None:
    """Faults, conditions and pleas change a detail; "bother" ends the work only if it is bothered with."""
    assert relation(text) == expected


def test_what_others_want_is_wanted() -> None:
    """ "the client wants …" asks for a change as "I want …" does; that the client calls is only a reason to wait."""
    assert relation("the client wants a shorter schema") == "minor_change"
    assert read("wait, my boss is calling").control_action == "pause"


@pytest.mark.parametrize("text", ["change it", "make it better", "改一下", "调整一下吧"])
def test_a_change_of_nothing_asks_what(text: str) -> None:
    """need_clarification; the question speaks the session's language."""
    analysis = read(text)
    assert analysis.clarification
    assert is_chinese(analysis.clarification) == is_chinese(text)
    assert decide_route(analysis, "execution").user_message == analysis.clarification


@pytest.mark.parametrize(
    ("text", "patches"),
    [
        ("cancel the second task", [("remove", "t2")]),
        ("cancel task t2", [("remove", "t2")]),
        ("skip the last task please", [("remove", "t3")]),
        ("取消第二个任务", [("remove", "t2")]),
        ("t3 先不做了", [("remove", "t3")]),
        ("do t3 first", [("reorder", "t3")]),
        ("先做第三个任务", [("reorder", "t3")]),
        ("don't cancel task t2", []),
        ("cancel task 9", []),
    ],
)
def test_orders_about_a_task(text: str, patches: list[tuple[str, str]]) -> None:
    """Simple cases come straight from the rules, and only what is certain."""
    analysis = read(text, tasks=TASKS)
    assert [(patch.op, patch.task_id) for patch in analysis.plan_patches] == patches
    assert analysis.control_action is None


def test_finished_tasks_are_not_patched() -> None:
    """Patches are applied to tasks not yet done."""
    done = (KnownTask(id="t1", title="Schema", status="done"),)
    assert read("cancel task t1", tasks=done).plan_patches == ()


def test_what_an_input_refers_to() -> None:
    """Tasks, files, quoted things, members."""
    found = read('@bob in src/copy.py rename `bulk` to "batch" for the second task', tasks=TASKS)
    assert found.context_dependency.referenced_entities == ("t2", "src/copy.py", "bulk", "batch", "bob")


@pytest.mark.parametrize(
    "text",
    [
        "make it shorter",
        "the orders table is missing a column, add it",
        "start over with Oracle",
        "再短一点",
        "抓取的职位信息去重",
    ],
)
def test_a_change_of_finished_work_is_about_that_work(text: str) -> None:
    """It continues the work that is complete; nobody is asked."""
    analysis = read(text, "completed")
    assert analysis.task_relation.type in ("same_task_minor_change", "same_task_major_change")
    assert analysis.context_dependency.needs_current_task_context
    decision = decide_route(analysis, "completed")
    assert (decision.route, decision.message_code, decision.user_confirmation_required) == (
        "new_task",
        "route_follow_up",
        False,
    )


@pytest.mark.parametrize(
    "text", ["plan a trip to Rome", "write a poem about the sea", "帮我订一张去上海的高铁票", "写一首关于秋天的诗"]
)
def test_another_goal_after_finished_work_is_its_own(text: str) -> None:
    """Nothing ties it to the work that is complete."""
    assert decide_route(read(text, "completed"), "completed").message_code != "route_follow_up"


@pytest.mark.parametrize(
    "text",
    ["why did you choose this order?", "who wrote the second task?", "你为什么用这个字段？", "第二个任务是谁做的？"],
)
def test_a_question_about_finished_work_is_answered(text: str) -> None:
    """It is no new goal."""
    decision = decide_route(read(text, "completed"), "completed")
    assert (decision.route, decision.message_code) == ("new_task", "route_asks_back")


@pytest.mark.parametrize("text", ["what is the capital of France?", "How do I cook rice?", "法国的首都是哪里？"])
def test_a_question_about_something_else_is_a_new_goal(text: str) -> None:
    """Nothing ties it to the finished work."""
    assert decide_route(read(text, "completed"), "completed").message_code == "route_new_task"


@pytest.mark.parametrize("text", ["thanks!", "ok, great", "谢谢", "好的，辛苦了"])
def test_thanks_for_finished_work_begin_nothing(text: str) -> None:
    """People are told where it stands; while nothing was done it is a goal like any other."""
    decision = decide_route(read(text, "completed"), "completed")
    assert (decision.route, decision.payload.control_action) == ("control_action", "status_query")


@pytest.mark.parametrize("status", [each for each in get_args(WorkflowStatus) if each not in ACTIVE])
@pytest.mark.parametrize("text", ["add an index", "write a poem", "继续做", "进度条改成蓝色"])
def test_without_work_everything_is_a_new_goal(status: WorkflowStatus, text: str) -> None:
    """With nothing under way there is nothing to relate to."""
    analysis = read(text, status)
    assert (analysis.task_relation.type, analysis.normalized_intent.action) == ("different_task", "create")
    assert analysis.assessment is None
    assert read("stop", status).control_action == "cancel"


@for_all(strategies.text(max_size=400), strategies.sampled_from(get_args(WorkflowStatus)))
def test_every_input_has_a_sound_reading(text: str, status: WorkflowStatus) -> None:
    """The front door never fails: whatever is typed, the analysis is sound, and the same each time."""
    analysis = read(text, status, tasks=TASKS)
    assert is_sound(analysis)
    assert analysis == read(text, status, tasks=TASKS)
    assert (analysis.assessment is None) == (status not in ACTIVE or analysis.control_action is not None)


@pytest.mark.parametrize(
    "text",
    [
        "is it " * 3_000,
        "全都" * 3_000 + "x",
        "/" * 9_000,
        "'" * 9_000,
        "了" * 9_000 + "x",
        "ok " * 9_000,
        "任务的" * 40,
        "别再做了" * 30,
    ],
)
def test_hostile_text_ends(text: str) -> None:
    """Untrusted text: no pattern backtracks without end (a run of these once took minutes)."""
    assert read(text).task_relation.confidence > 0
