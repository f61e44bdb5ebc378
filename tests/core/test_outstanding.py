"""What must be done next is a function of the state."""

from moot.core.effects import Deadline, RunTurn, StepDeadline
from moot.core.evolve import evolve
from moot.core.facts import Fact
from moot.core.flows.chat.chat_settings import ChatSettings
from moot.core.limits import HISTORY_CHARS, OUTPUT_CHARS
from moot.core.outstanding import outstanding
from moot.core.session.commands import Answer, CancelTurn, ExpireTurn, ReportStep
from moot.core.session.events import StepAsked, TurnStepped
from moot.core.session.state import Turn
from moot.testing.scenario import AT, given
from tests.core.teams import make_chat_team, only, turn_input

TEAM = make_chat_team(chat=ChatSettings(turn_timeout_s=60.0, history=2))


def test_a_running_turn_is_to_be_run_and_timed() -> None:
    """After a crash the shell folds the log and does what is outstanding; each effect has a key."""
    scenario = given(TEAM).says("[NEXT: bob] go")
    run, deadline = outstanding(scenario.state)
    assert run == RunTurn(Turn(turn_id="t1", member="bob", index=0, started_at=AT), "t1")
    assert deadline == Deadline("deadline:t1", 60.0, ExpireTurn(turn_id="t1"))
    assert (run.key, deadline.key) == ("t1", "deadline:t1")


def test_nothing_is_outstanding_while_a_human_has_the_floor() -> None:
    """A paused or ended session needs nothing done."""
    scenario = given(TEAM)
    assert outstanding(scenario.state) == []
    assert outstanding(scenario.says("[NEXT: bob, carol] go").when(CancelTurn()).state) == []
    assert outstanding(scenario.says("/end").state) == []


def test_an_open_step_with_a_deadline_is_timed_until_it_is_answered() -> None:
    """Pending steps survive a restart with their remaining time; those without a deadline wait."""
    endless = given(TEAM).says("[NEXT: bob, carol] go").when(CancelTurn()).says("/queue clear")
    assert outstanding(endless.state) == []
    at = "2026-01-01T00:05:00.000Z"
    question: Fact = StepAsked(step_id="s1", kind="decision", options=(), expires_at=at, default=None)
    scenario = given(TEAM)
    scenario.state = evolve(scenario.state, question)
    (deadline,) = outstanding(scenario.state)
    assert deadline == StepDeadline("s1", at)
    assert deadline.key == "step:s1"
    assert outstanding(scenario.when(Answer(step_id="s1", confirmed=True)).state) == []


def test_a_turn_is_given_all_it_needs() -> None:
    """Newest message, recent history, team task, its role and who can be addressed."""
    scenario = given(TEAM).says("[TEAM_TASK: win] one").says("two").says("[NEXT: bob] three")
    handed = turn_input("s1", scenario.state, scenario.state.running[0])
    assert handed.message is not None
    assert (handed.message.member, handed.message.text) == ("alice", " three")
    assert [message.text for message in handed.history] == ["two", " three"]
    assert (handed.team_task, handed.member.id, handed.index, handed.language) == ("win", "bob", 0, "en")
    assert [each.id for each in handed.addressable] == ["alice", "bob", "carol", "dave"]


def test_no_history_still_hands_on_the_newest_message() -> None:
    """chat.history: 0 means none, not even that the message itself is lost."""
    scenario = given(make_chat_team(chat=ChatSettings(history=0))).says("one").says("[NEXT: bob] two")
    handed = turn_input("s1", scenario.state, scenario.state.running[0])
    assert handed.history == ()
    assert handed.message is not None
    assert handed.message.text == " two"


def test_an_endless_output_is_cut_and_says_so() -> None:
    """An AI's text is truncated at its limit with a mark; the log stays bounded."""
    scenario = given(TEAM).says("[NEXT: bob] go").replies("x" * (OUTPUT_CHARS + 5))
    posted = scenario.new[1]
    assert posted.event == "message.posted"
    assert getattr(posted, "text", "").endswith("\n… [cut: 5 more characters]")
    assert scenario.state.history[-1].text == getattr(posted, "text", "")  # the newest is handed on whole
    assert len(scenario.says("thanks").state.history[-2].text) < HISTORY_CHARS + 100  # older ones are cut


def test_steps_of_a_turn_are_logged_safely() -> None:
    """Thought, action and observation are untrusted text too."""
    scenario = given(TEAM).says("[NEXT: bob] go")
    scenario.when(ReportStep(turn_id="t1", thought="\x1b[2Jhm", observation="y" * (HISTORY_CHARS + 1)))
    stepped = only(scenario.then("turn.step").new, TurnStepped)[0]
    assert (stepped.thought, stepped.action) == ("hm", None)
    assert (stepped.observation or "").endswith("[cut: 1 more characters]")
