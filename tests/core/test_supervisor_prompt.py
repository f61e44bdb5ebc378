"""The supervisor's prompt, in both languages."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from moot.config.prompts import read_template
from moot.core.flows.supervisor.briefing import Briefing, Taken
from moot.core.flows.supervisor.decision import Decision, Unusable, extract_decision
from moot.core.flows.supervisor.prompt import PLACEHOLDERS, build_prompt
from moot.core.flows.supervisor.supervisor_settings import Condition, SupervisedAgent, SupervisorSettings
from moot.core.session.team import Language
from moot.core.template import list_placeholders
from tests.core.studio import BODY, REJECTED, STUDIO, scores

LANGUAGES: tuple[Language, ...] = ("en", "zh")


def prompt(language: Language = "en", settings: SupervisorSettings = STUDIO, **given: Any) -> str:
    briefing = Briefing(settings=settings, language=language, **{"state": {}, **given})
    return build_prompt(read_template("supervisor", language), briefing)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_format_with_an_example(language: Language) -> None:
    """The JSON format, all four keys, an example that would be a decision, the names allowed."""
    said = prompt(language, settings=replace(STUDIO, few_shot=()))
    for key in ("next_agent", "guidance", "context_from_previous", "focus_areas"):
        assert f'"{key}"' in said
    assert "brief_compiler_agent, research_evidence_agent" in said
    assert ", END" in said
    assert isinstance(extract_decision(said, STUDIO.agents), Decision)


@pytest.mark.parametrize(("language", "done", "still_open"), [("en", "done", "open"), ("zh", "已完成", "未完成")])
def test_the_state(language: Language, done: str, still_open: str) -> None:
    """Which keys are done ✅ and which are open ❌, for every key that an agent writes."""
    said = prompt(language, state=BODY | {"imagePlans": [], "evidencePack": "  ", "iterationCount": 1})
    assert f"- generatedContent: ✅ {done} " in said
    for key in ("creativeBrief", "imagePlans", "evidencePack", "briefComplete"):
        assert f"- {key}: ❌ {still_open}\n" in said
    assert "1/3" in said
    assert "- messages:" not in said


def test_what_people_may_give_is_not_open() -> None:
    """Inputs and ids are listed once they are there; nobody owes them."""
    said = prompt(state={"layoutPreference": None, "referenceImages": []})
    for key in ("layoutPreference", "referenceImages", "imageGenProvider", "creativeId"):
        assert f"- {key}:" not in said
    assert '- layoutPreference: ✅ done "one column"' in prompt(state={"layoutPreference": "one column"})


@pytest.mark.parametrize(
    ("language", "lacks", "rejected"),
    [
        ("en", "incomplete, it needs: generatedContent.body has text", "does not approve"),
        ("zh", "不完整，还需要：generatedContent.body 有内容", "未通过"),
    ],
)
def test_what_is_there_and_not_good_is_not_done(language: Language, lacks: str, rejected: str) -> None:
    """Content without a body and a review that does not approve are ❌, though they have a value."""
    said = prompt(language, state={"generatedContent": {"title": "t", "正文": "words"}})
    assert f"- generatedContent: ❌ {lacks} " in said
    said = prompt(language, state=BODY | REJECTED | scores(readability=0.4))
    assert f"- reviewFeedback: ❌ {rejected} " in said
    assert f"- qualityScores: ❌ {rejected} " in said


def test_the_supervisor_sees_enough_of_each_key() -> None:
    """An excerpt of a key has 1,500 characters, not a line."""
    said = prompt(state={"evidencePack": "zebra " * 1_000})
    assert said.count("zebra ") == 250


@pytest.mark.parametrize(("language", "order"), [("en", "## The usual order"), ("zh", "## 正常的执行顺序")])
def test_the_usual_order_and_the_table_of_fallbacks(language: Language, order: str) -> None:
    """The prompt has the normal order of the agents, as advice, and which agent to go back to for which score."""
    said = prompt(language)
    assert order in said
    assert (
        "brief_compiler_agent → research_evidence_agent → reference_intelligence_agent → layout_planner_agent" in said
    )
    assert "review_agent → END" in said
    for axis, agent in STUDIO.quality.fallback if STUDIO.quality else ():
        row = next(line for line in said.splitlines() if line.startswith(f"- {axis} "))
        assert row.endswith(f"→ {agent}")
        assert "0.60" in row
    own = replace(STUDIO, order=("writer_agent", "review_agent"), quality=None)
    said = prompt(language, settings=own)
    assert "\nwriter_agent → review_agent → END\n" in said
    assert "infoDensity" not in said.replace("infoDensity 0.45", "")


@pytest.mark.parametrize("language", LANGUAGES)
def test_sections_without_content_are_left_out(language: Language) -> None:
    """No heading stands above nothing."""
    said = prompt(language, settings=replace(STUDIO, quality=None))
    lines = [line for line in said.splitlines() if line.strip()]
    headings = [at for at, line in enumerate(lines) if line.startswith("#")]
    assert all(not lines[at + 1].startswith("#") for at in headings)
    assert len(headings) == 8


HINTED = BODY | REJECTED | scores(infoDensity=0.3)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("changed", "acted"),
    [(("evidencePack",), ("research_evidence_agent",)), (("generatedContent",), ("writer_agent",))],
)
def test_a_hint_ages(language: Language, changed: tuple[str, ...], acted: tuple[str, ...]) -> None:
    """Once the suggested agent or the author has acted, the hint is to review again, and the review is outdated."""
    assert "research_evidence_agent" in next(
        line for line in prompt(language, state=HINTED).splitlines() if "回退到 res" in line or "Go back to res" in line
    )
    said = prompt(language, state=HINTED, changed=changed, acted=acted)
    hints = [line for line in said.splitlines() if line.startswith("⚠️")]
    assert len(hints) == 1
    assert changed[0] in hints[0]
    assert "review_agent" in hints[0]
    assert "research_evidence_agent" not in hints[0]
    outdated = {"en": f"outdated: older than {changed[0]}", "zh": f"已过期：早于 {changed[0]} 的修改"}[language]
    assert f"- reviewFeedback: ❌ {outdated} " in said


def test_other_changes_do_not_age_a_hint() -> None:
    """A change by somebody else leaves the hint as it is."""
    said = prompt(state=HINTED, changed=("layoutSpec",), acted=("layout_planner_agent",))
    assert "⚠️ Go back to research_evidence_agent" in said


def test_each_agents_purpose_and_needs() -> None:
    """What each agent is for and needs, whether it has it, and who acts otherwise."""
    said = prompt(state=BODY)
    for name, agent in STUDIO.agents.items():
        assert f"- {name}: {agent.purpose}" in said
    writer = next(line for line in said.splitlines() if line.startswith("- writer_agent"))
    assert "needs creativeBrief is there or briefComplete is true ❌" in writer
    assert "if that is missing, first brief_compiler_agent" in writer
    reviewer = next(line for line in said.splitlines() if line.startswith("- review_agent"))
    assert "needs generatedContent.body has text ✅" in reviewer
    assert "creativeBrief 已存在 或 briefComplete 为 true ❌" in prompt("zh")


def test_what_was_decided_so_far() -> None:
    """The decisions with their guidance, corrections shown, the newest twenty."""
    assert "this is your first decision" in prompt()
    taken = [Taken(next_agent="brief_compiler_agent", guidance=f"go {number}") for number in range(29)]
    said = prompt(decisions=(*taken, Taken(next_agent="review_agent", corrected_to="writer_agent")))
    assert "go 9\n" not in said
    assert "11. brief_compiler_agent: go 10\n" in said
    assert "30. review_agent → writer_agent (corrected" in said


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_hint_after_a_failed_review(language: Language) -> None:
    """After a review that failed, the low axes and whom to go back to; never before."""
    failed = prompt(language, state=BODY | REJECTED | scores(readability=0.4))
    assert "readability 0.40 < 0.60" in failed
    assert "⚠️ " in failed
    hints = [line for line in failed.splitlines() if line.startswith("⚠️")]
    assert any("image_planner_agent" in hint for hint in hints)
    assert "⚠️" not in prompt(language, state=BODY)


def test_the_hint_when_rounds_are_used_up() -> None:
    """The supervisor is told that it may end with what there is."""
    assert "marked as partial" in prompt(state=BODY | REJECTED | {"iterationCount": 3})


FAULTS = {
    "no_json": "no valid JSON object with next_agent",
    "empty": "next_agent was empty",
    "not_text": "next_agent was 5",
    "unknown": 'no agent "5"',
    "early_end": "Still missing: generatedContent.body has text",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_correction_hint(fault: Any) -> None:
    """The supervisor is told what was wrong and what is allowed."""
    said = prompt(unusable=Unusable(fault=fault, given="5"))
    assert FAULTS[fault] in said
    hint = next(line for line in said.splitlines() if line.startswith("⚠️"))
    assert fault == "early_end" or "writer_agent" in hint
    assert "⚠️" in prompt("zh", unusable=Unusable(fault=fault, given="5"))


def test_an_early_end_with_a_body_lacks_the_approval() -> None:
    """END too early says what is missing, also when it is the review."""
    said = prompt(state=BODY | REJECTED, unusable=Unusable(fault="early_end"))
    assert "Still missing: the review's approval" in said


def test_the_few_shot() -> None:
    """The team's own examples, or some made from its agents; each is a decision."""
    assert "put the three trends first" in prompt()
    agents = {"triage": SupervisedAgent(), "refund": SupervisedAgent(requires_any=(Condition(key="case"),))}
    agents["refund"] = replace(agents["refund"], fallback="triage")
    said = prompt(settings=SupervisorSettings(agents=agents))
    assert "case is ❌ open, and refund needs it:" in said
    assert extract_decision(said, agents) == Decision(next_agent="END")


def test_a_template_of_the_teams_own() -> None:
    """The team file may replace the template; what it leaves out stands at its end."""
    own = replace(STUDIO, prompt="You are the chief. {{ agents }}\n{{nonsense}}")
    said = prompt(settings=own, goal="a post", state=BODY)
    assert said.startswith("You are the chief. - brief_compiler_agent")
    assert "{{nonsense}}" in said
    for part in ("a post", "✅", "this is your first decision", '"next_agent"', "three trends"):
        assert part in said
    assert said.count("- writer_agent:") == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_built_in_templates_name_every_section(language: Language) -> None:
    """Nothing is appended to the built-in templates."""
    assert sorted(list_placeholders(read_template("supervisor", language))) == sorted(PLACEHOLDERS)


def test_what_people_say_fills_no_placeholder() -> None:
    """Untrusted text: a goal that looks like a placeholder stays as it is."""
    assert "{{few_shot}} {{" in prompt(goal="{{few_shot}} {{")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
KEYS = st.sampled_from([*STUDIO.state, "unknown"])


@given(st.dictionaries(KEYS, VALUES, max_size=6), st.sampled_from(LANGUAGES), st.text(max_size=50))
def test_any_state_can_be_told(state: dict[str, Any], language: Language, goal: str) -> None:
    """Property: whatever agents wrote into the state, there is a prompt, and it is not many times larger."""
    assert len(prompt(language, state=state, goal=goal)) < 30_000
