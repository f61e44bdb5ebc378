"""Messages into a running turn: people write to a member while it works, or interrupt it."""

from moot.agents.context import build_context
from moot.core.effects import DeliverMessage, RunTask
from moot.core.flows.registry import flow_of
from moot.core.flows.turns import TurnInput
from moot.core.outstanding import outstanding
from moot.core.session.attachments import Attachment, FileRef
from moot.core.session.commands import CompleteTurn, FailTurn, Post, ReportDelivery
from moot.core.session.desk_events import MessageDelivered, MessageOffered
from moot.core.session.events import MessagePosted, TurnCancelled, TurnStarted
from moot.core.session.state import Message
from moot.testing.plan_scenario import PlanScenario, plan_given, task
from moot.testing.scenario import Scenario, given
from tests.core.plan_teams import make_plan_team, worker
from tests.core.teams import make_chat_team, only

TEAM = make_chat_team()
PLAN_TEAM = make_plan_team(worker("w1", concurrency=1), worker("w2", 21, concurrency=1))


def at_work(*queue: str) -> Scenario:
    """Bob has a turn, and the others wait."""
    return given(TEAM).says(f"[NEXT: {', '.join(('bob', *queue))}] build it", by="alice")


def deliver(scenario: Scenario, how: str, number: int = 1) -> Scenario:
    return scenario.when(ReportDelivery(turn_id="t1", number=number, how=how))  # type: ignore[arg-type]


def pending(scenario: Scenario) -> list[tuple[str, int, str]]:
    effects = [effect for effect in outstanding(scenario.state) if isinstance(effect, DeliverMessage)]
    return [(effect.worker, effect.number, effect.text) for effect in effects]


def read_input(scenario: Scenario) -> TurnInput:
    return flow_of(scenario.state).turn_input("s1", scenario.state, scenario.state.running[0].turn_id)


def test_a_message_for_the_member_at_work_is_brought_into_its_turn() -> None:
    """It is offered to the agent; the member also waits in the queue, until it is known that the agent has it."""
    scenario = at_work("carol").says("@bob in blue, please", by="alice")
    assert only(scenario.new, MessageOffered)[0].text == "@bob in blue, please"
    assert pending(scenario) == [("t1", 1, "@bob in blue, please")]
    assert scenario.queue == ["carol", "bob"]
    deliver(scenario, "now").then("turn.message_delivered", "queue.changed")
    assert (pending(scenario), scenario.queue) == ([], ["carol"])


def test_a_message_for_somebody_else_is_not() -> None:
    """It waits for its addressee's turn, as does one that names nobody."""
    assert not only(at_work().says("@carol look", by="alice").new, MessageOffered)
    assert not only(at_work().says("hm", by="alice").new, MessageOffered)
    assert not only(at_work().says("[NEXT: bob]", by="alice").new, MessageOffered)


def test_what_the_agent_cannot_take_begins_the_next_turn() -> None:
    """The member keeps its place in the queue, and its next turn is about the message, not about its own answer."""
    scenario = deliver(at_work("carol").says("@bob in blue", by="alice"), "next_turn")
    assert (only(scenario.new, MessageDelivered)[0].how, scenario.queue) == ("next_turn", ["carol", "bob"])
    scenario.replies("done, in red").replies("fine")
    assert read_input(scenario).message == Message("alice", "@bob in blue")
    scenario.replies("now blue")
    assert not scenario.state.unread


def test_a_turn_that_ends_first_leaves_the_message_to_the_next() -> None:
    """People are told; a turn that fails with it leaves it to the one after."""
    scenario = at_work().says("@bob in blue", by="alice").replies("done, in red")
    assert only(scenario.new, MessageDelivered)[0].how == "next_turn"
    assert read_input(scenario).message == Message("alice", "@bob in blue")
    scenario.fails().says("/retry", by="alice")
    assert read_input(scenario).message == Message("alice", "@bob in blue")


def test_two_messages_keep_the_place_until_both_are_delivered() -> None:
    """The second does not queue the member again, and the first alone does not take it out."""
    scenario = at_work().says("@bob one", by="alice").says("@bob two", by="alice")
    assert scenario.queue == ["bob"]
    assert deliver(scenario, "boundary", 1).queue == ["bob"]
    assert deliver(scenario, "boundary", 2).queue == []


def test_a_worker_that_starts_again_has_the_messages_in_its_input() -> None:
    """After a crash the turn runs again: nothing that was said into it is lost."""
    scenario = at_work().says("@bob in blue", by="alice")
    assert read_input(scenario).messages == (Message("alice", "@bob in blue"),)
    assert [message.text for message in read_input(scenario).history] == [" build it", "@bob in blue"]


def test_a_report_counts_once() -> None:
    """A second report about the same message, or one after the turn, is refused."""
    scenario = deliver(at_work().says("@bob x", by="alice"), "now")
    deliver(scenario, "now").refused("stale_turn")
    scenario.replies("done")
    deliver(scenario, "now").refused("stale_turn")


def test_an_interruption_cancels_the_turn_and_begins_it_again_with_both() -> None:
    """`interrupt`: the turn is cancelled, its member is next ahead of the queue, and the message is its newest."""
    scenario = at_work("carol").when(Post(text="stop, do Y", by="alice", interrupt=True))
    assert only(scenario.new, TurnCancelled)[0].reason == "interrupted"
    assert only(scenario.new, TurnStarted)[0].member == "bob"
    assert scenario.queue == ["carol"]
    assert read_input(scenario).message == Message("alice", "stop, do Y")
    assert [message.text for message in read_input(scenario).history] == [" build it", "stop, do Y"]


def test_slash_interrupt_is_the_same() -> None:
    """`/interrupt NAME text`, with or without `@`; the text is a message like any other."""
    for typed in ("/interrupt bob do Y", "/interrupt @Bob, do Y"):
        scenario = at_work().says(typed, by="alice")
        assert only(scenario.new, TurnCancelled)[0].turn_id == "t1"
        assert only(scenario.new, MessagePosted)[0].text == "do Y"


def test_an_interruption_names_a_member() -> None:
    """Without a name it is refused with the names that there are; with no text as well."""
    at_work().says("/interrupt", by="alice").refused("interrupt_whom")
    at_work().says("/interrupt nobody stop", by="alice").refused("interrupt_whom")
    at_work().says("/interrupt bob", by="alice").refused("interrupt_whom")


def test_an_interruption_for_somebody_else_interrupts_nobody() -> None:
    """The message is routed like any other, and people are told who goes on working."""
    scenario = at_work().says("/interrupt carol look at this", by="alice")
    assert not only(scenario.new, TurnCancelled)
    assert scenario.queue == ["carol"]
    assert "Nothing was interrupted" in scenario.notices[0]


def test_an_interruption_while_nobody_works_is_a_message() -> None:
    """The turn may have ended while it was typed."""
    scenario = given(TEAM).says("/interrupt bob do Y", by="alice")
    assert only(scenario.new, TurnStarted)[0].member == "bob"


def test_a_parked_turn_keeps_its_messages() -> None:
    """A usage limit parks the turn: what is said to the member meanwhile is in its input when it goes on."""
    scenario = at_work().when(FailTurn(turn_id="t1", error_type="rate_limit", message="", retry_after_s=7_200))
    scenario.says("@bob in blue", by="alice")
    assert pending(scenario) == []
    scenario.says("/resume", by="alice")
    assert pending(scenario) == [("t1#1", 1, "@bob in blue")]
    assert len(read_input(scenario).messages) == 1


def test_a_completed_turn_forgets_what_was_delivered() -> None:
    """The next turn is about what is newest, as ever."""
    scenario = deliver(at_work().says("@bob in blue", by="alice"), "boundary")
    scenario.when(CompleteTurn(turn_id="t1", text="blue it is"))
    assert not scenario.state.unread
    assert not scenario.state.running


def test_a_message_with_files_waits_for_the_next_turn() -> None:
    """An agent takes words into its turn; the next turn is given the files as well."""
    file = Attachment(sha256="ab" * 32, name="plan.png", media_type="image/png", size=3)
    said = Post(text="@bob like this", by="alice", attachments=(FileRef(sha256=file.sha256),), files=(file,))
    scenario = at_work().when(said)
    assert only(scenario.new, MessageDelivered)[0].how == "next_turn"
    scenario.replies("done, in red")
    assert read_input(scenario).message == Message("alice", "@bob like this", attachments=(file,))


# plans


def solving() -> PlanScenario:
    """Two tasks run, each with a member of its own."""
    scenario = plan_given(PLAN_TEAM).says("a report").understands("different_task")
    scenario.plans(task("a"), task("b")).approves()
    return scenario.starts("a").starts("b")


def test_a_message_for_a_member_with_a_task_is_brought_to_it() -> None:
    """`[NEXT: name]` or `to` names it: the message is for that worker, and nothing is understood or changed."""
    scenario = solving()
    run = scenario.run("a")
    scenario.says(f"[NEXT: {run.member}] use tabs")
    offered = only(scenario.new, MessageOffered)[0]
    assert (offered.turn_id, offered.member, offered.text) == (scenario.dispatch_id("a"), run.member, "use tabs")
    assert pending(scenario) == [(scenario.dispatch_id("a"), 1, "use tabs")]
    assert not scenario.state.door.inputs
    scenario.when(ReportDelivery(turn_id=scenario.dispatch_id("a"), number=1, how="now")).then("turn.message_delivered")


def test_what_does_not_reach_a_worker_is_understood_like_any_input() -> None:
    """The agent cannot take it, or its task is over: it is routed, and nothing is lost."""
    scenario = solving()
    run = scenario.run("a")
    scenario.says(f"[NEXT: {run.member}] use tabs")
    scenario.when(ReportDelivery(turn_id=scenario.dispatch_id("a"), number=1, how="next_turn"))
    assert only(scenario.new, MessageDelivered)[0].how == "routed"
    assert [input_.text for input_ in scenario.state.door.inputs] == ["use tabs"]
    scenario = solving()
    run = scenario.run("a")
    scenario.says(f"[NEXT: {run.member}] use tabs").completes("a")
    assert [input_.text for input_ in scenario.state.door.inputs] == ["use tabs"]


def test_an_interrupted_task_begins_again_with_the_message() -> None:
    """Its worker is replaced; the task keeps its dispatch, its attempt and its place."""
    scenario = solving()
    run = scenario.run("a")
    scenario.says(f"/interrupt {run.member} use tabs")
    assert pending(scenario) == [(f"{scenario.dispatch_id('a')}#1", 1, "use tabs")]
    workers = [effect.key for effect in outstanding(scenario.state) if isinstance(effect, RunTask)]
    assert workers == [f"{scenario.dispatch_id('a')}#1", scenario.dispatch_id("b")]
    told = flow_of(scenario.state).turn_input("s1", scenario.state, scenario.dispatch_id("a"))
    assert told.messages == (Message("alice", "use tabs"),)
    assert "use tabs" in build_context(told).prompt
