"""Teams that Moot ships, completed by a model that only follows the words of its prompts, in every language."""

import json
from typing import Any

import pytest

from moot.app import open_app
from moot.cli.starter import Starter, fill_names, write_team
from moot.config.yaml_source import read_yaml
from moot.core.facts import Fact
from moot.core.flows.plan.plan_events import (
    AggregateReviewed,
    FinalAnswered,
    PipelineCompleted,
    PlanReviewed,
    TaskReviewed,
    WorkflowChanged,
)
from moot.core.flows.supervisor.supervisor_events import Reviewed, StateUpdated, SupervisionEnded, SupervisorDecided
from moot.core.session.commands import Answer
from moot.core.session.events import (
    MessagePosted,
    NoticePosted,
    SessionPaused,
    StepAsked,
    TurnStarted,
    UnderstandingCompleted,
)
from moot.core.session.team import Language
from tests.agents.fake_models import Asked, Call, FakeModels, Reply, fake_models
from tests.agents.naive_model import GO_BACK, answer
from tests.runtime.apps import run

LANGUAGES: tuple[Language, ...] = ("en", "zh")
STUDIOS = {"en": "content-studio", "zh": "content-studio-zh"}
GOALS = {"en": "A post about herbs on a balcony, with a picture.", "zh": "写一篇阳台种香草的图文，配一张图。"}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.delenv("MOOT_SEARCH_URL", raising=False)
    monkeypatch.delenv("MOOT_IMAGE_URL", raising=False)


def starter_team(template: str, language: Language, models: FakeModels) -> tuple[dict[str, Any], str]:
    """The team that `moot init` writes for a model, and the first line that it suggests."""
    agent = f'{{type: llm, model: "openai:small", base_url: "{models.url}"}}'
    names = fill_names(template, language, ())
    agents = (agent,) * (len(names) - 1)
    starter = Starter(team="starter", template=template, language=language, names=names, agents=agents)
    data = read_yaml(write_team(starter).encode()).data
    assert isinstance(data, dict)
    return data, starter.first_line


def studio_team(language: Language, models: FakeModels, **settings: Any) -> dict[str, Any]:
    """The built-in content studio with its models behind the test's endpoint."""
    from importlib import resources

    file = resources.files("moot").joinpath("teams", f"{STUDIOS[language]}.yaml")
    data: Any = read_yaml(file.read_bytes()).data
    for member in data["members"]:
        if "agent" in member:
            member["agent"]["base_url"] = models.url
    data["supervisor"].update(settings)
    return dict(data)


async def play(team: dict[str, Any], *texts: str) -> list[Fact]:
    """Say something, approve what has to be approved, say the next, and return all facts."""
    async with open_app(team) as app:
        session = await app.session()
        facts: list[Fact] = []
        for text in texts:
            said = [event.fact async for event in session.say(text)]
            for question in of_kind(said, StepAsked):
                if question.code == "" or "approve" not in [option.id for option in question.options]:
                    continue
                said += [event.fact async for event in session.answer(question.step_id, choice="approve")]
            facts += said
        return facts


def of_kind(facts: list[Fact], kind: type) -> list[Any]:
    return [fact for fact in facts if isinstance(fact, kind)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_chat_of_three_comes_back_to_the_person(language: Language) -> None:
    """The first AI hands over to the second as its prompt shows, and the second back to the person."""

    @run
    async def scene() -> None:
        with fake_models(answer) as models:
            team, first_line = starter_team("pair", language, models)
            facts = await play(team, first_line)
        ids = [member["id"] for member in team["members"]]
        assert [fact.member for fact in of_kind(facts, MessagePosted)] == ids
        assert of_kind(facts, SessionPaused)[-1].waiting_for == ids[0]
        assert of_kind(facts, NoticePosted) == []

    scene()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_planner_asks_what_only_a_person_can_say(language: Language) -> None:
    """Its prompt names the tool; what the person answers is known when the plan is made."""
    question = "Who is it for?"

    def ask_first(asked: Asked) -> Reply | str:
        if '"tasks"' in asked.prompt and "`ask_human`" in asked.prompt and not asked.results:
            return Reply(calls=(Call("ask_human", {"question": question, "options": ["children", "experts"]}),))
        return answer(asked)

    @run
    async def scene() -> None:
        with fake_models(ask_first) as models:
            team, first_line = starter_team("plan", language, models)
            async with open_app(team) as app:
                session = await app.session()
                asked: list[str] = []
                async for event in session.say(first_line):
                    if isinstance(event.fact, StepAsked) and event.fact.question == question:
                        asked.append(event.fact.step_id)
                        await session.submit(Answer(step_id=event.fact.step_id, choice="experts"))
                assert len(asked) == 1
                assert any("experts" in result for each in models.asked for result in each.results)

    scene()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_plan_with_review_is_completed(language: Language) -> None:
    """The plan, two tasks, the second after the first, and the answer are each reviewed and pass."""

    @run
    async def scene() -> None:
        with fake_models(answer) as models:
            team, first_line = starter_team("plan", language, models)
            facts = await play(team, first_line)
        assert [fact.passed for fact in of_kind(facts, PlanReviewed)] == [True]
        assert [fact.passed for fact in of_kind(facts, TaskReviewed)][:2] == [True, True]
        assert [fact.passed for fact in of_kind(facts, AggregateReviewed)] == [True]
        assert of_kind(facts, PipelineCompleted)[0].status == "complete"
        assert len(of_kind(facts, FinalAnswered)) == 1
        assert len(models.asked) <= 12

    scene()


@pytest.mark.parametrize("language", LANGUAGES)
def test_finished_work_is_continued(language: Language) -> None:
    """A model understands what is said about the result as a change of it; what it says is of use at once."""

    @run
    async def scene() -> None:
        with fake_models(answer) as models:
            team, first_line = starter_team("plan", language, models)
            team["understanding"] = {"type": "llm", "model": "openai:small", "base_url": models.url}
            facts = await play(team, first_line, {"en": "make it shorter", "zh": "再短一点"}[language])
        assert [fact.fallback_reason for fact in of_kind(facts, UnderstandingCompleted)] == [None, None]
        begun = [fact for fact in of_kind(facts, WorkflowChanged) if fact.trigger == "new_task"]
        assert [fact.follows for fact in begun] == [False, True]
        assert [fact.status for fact in of_kind(facts, PipelineCompleted)] == ["complete", "complete"]

    scene()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("template", "order"),
    [
        ("supervisor", ["writer_agent", "review_agent"]),
        ("studio", ["brief_compiler_agent", "research_evidence_agent", "writer_agent", "review_agent"]),
    ],
)
def test_a_small_supervised_team_is_completed(template: str, order: list[str], language: Language) -> None:
    """The team of `moot init` ends with a text that the review approved, without a correction."""

    @run
    async def scene() -> None:
        with fake_models(answer) as models:
            team, first_line = starter_team(template, language, models)
            facts = await play(team, first_line)
        ended = of_kind(facts, SupervisionEnded)[0]
        assert (ended.outcome, ended.deliverable.title != "") == ("complete", True)
        assert [fact.next for fact in of_kind(facts, SupervisorDecided)] == order
        assert of_kind(facts, NoticePosted) == []

    scene()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_content_studio_comes_to_an_approved_end(language: Language) -> None:
    """From the brief to the review in at most twenty turns, nothing corrected, with a picture to show."""

    @run
    async def scene() -> None:
        with fake_models(answer) as models:
            facts = await play(studio_team(language, models), GOALS[language])
        ended = of_kind(facts, SupervisionEnded)[0]
        assert ended.outcome == "complete"
        assert of_kind(facts, Reviewed)[-1].approved
        assert len(of_kind(facts, TurnStarted)) <= 20
        assert not any(fact.corrected_from for fact in of_kind(facts, SupervisorDecided))
        assert not any(fact.misfits for fact in of_kind(facts, StateUpdated))
        (picture,) = ended.deliverable.pictures
        assert picture.src.startswith("data:image/svg+xml;base64,")
        assert picture.is_placeholder
        assert all(fact.has_decision for fact in of_kind(facts, MessagePosted)[1:])

    scene()


@run
async def test_no_agent_of_a_supervisor_is_told_a_path_that_opens_a_file() -> None:
    """What another agent wrote has at-signs that do nothing, also in the supervisor's excerpts of the state."""

    def name_a_file(asked: Asked) -> str:
        said = answer(asked)
        return said.replace('"body": "', '"body": "see @/etc/passwd ') if '{"state"' in asked.prompt else said

    with fake_models(name_a_file) as models:
        await play(studio_team("en", models), GOALS["en"])
        prompts = [asked.prompt for asked in models.asked]
    assert any("＠/etc/passwd" in prompt for prompt in prompts if "next_agent" in prompt)
    assert [prompt for prompt in prompts if "@/etc" in prompt] == []


def stubborn(asked: Asked) -> str:
    """A model that writes a text where an object is needed, whatever it is told."""
    if "next_agent" not in asked.prompt and "generatedContent" in asked.prompt.partition('{"state"')[2]:
        return '好的：{"state": {"generatedContent": "标题：香草。正文：很好种。"}}'
    return answer(asked)


def unaware(asked: Asked) -> str:
    """A supervisor that always wants the review, and a writer that takes its text back."""
    if "next_agent" in asked.prompt:
        return '{"next_agent": "review_agent", "guidance": "check it"}'
    return '{"state": {"generatedContent": null}}'


@run
async def test_a_writer_who_never_finds_the_form_costs_three_turns() -> None:
    """The loop of equal corrections ends in a pause, with the first human named, after three outputs."""
    with fake_models(stubborn) as models:
        facts = await play(studio_team("zh", models), GOALS["zh"])
    sent_back = [fact.sent_back for fact in of_kind(facts, StateUpdated) if fact.misfits]
    assert sent_back == [1, 2, 3]
    assert of_kind(facts, StepAsked)[-1].error_type == "misshapen"
    assert of_kind(facts, SessionPaused)[-1].waiting_for == "you"


@run
async def test_a_choice_that_is_corrected_again_and_again_costs_three_corrections() -> None:
    """The supervisor wants a review of nothing three times; then the first human is asked."""
    with fake_models(unaware) as models:
        facts = await play(studio_team("en", models), GOALS["en"])
    assert [fact.repeated for fact in of_kind(facts, SupervisorDecided)] == [1, 2, 3]
    assert of_kind(facts, StepAsked)[-1].error_type == "correction_repeated"
    assert of_kind(facts, SessionPaused)[-1].waiting_for == "you"
    assert len(models.asked) == 5


def strict(asked: Asked) -> str:
    """A reviewer that always finds too few facts; everybody else follows the prompt."""
    text = answer(asked)
    return text.replace('"infoDensity": 0.8', '"infoDensity": "30%"').replace('"approved": true', '"approved": false')


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_hint_that_is_obeyed_does_not_loop(language: Language) -> None:
    """A supervisor that follows every hint, the last one too, reviews after each change and ends in part."""

    @run
    async def scene() -> None:
        with fake_models(strict) as models:
            facts = await play(studio_team(language, models), GOALS[language])
        assert of_kind(facts, SupervisionEnded)[0].outcome == "partial"
        assert [fact.iteration for fact in of_kind(facts, Reviewed)] == [1, 2, 3]
        chosen = [fact.next for fact in of_kind(facts, SupervisorDecided)]
        back = chosen[chosen.index("review_agent") + 1 :]
        assert back == ["research_evidence_agent", "review_agent"] * 2 + ["END"]

    scene()


def obedient(asked: Asked) -> str:
    """A reviewer as strict, and a supervisor that goes back whenever it is suggested, whatever else it is told."""
    suggested = GO_BACK.search(asked.prompt)
    return json.dumps({"next_agent": suggested[1]}) if suggested else strict(asked)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_suggestion_that_is_followed_again_and_again_ends_in_a_pause(language: Language) -> None:
    """The agent that failed reviews suggest is chosen three times; then the first human is asked."""

    @run
    async def scene() -> None:
        with fake_models(obedient) as models:
            facts = await play(studio_team(language, models), GOALS[language])
        assert [fact.followed for fact in of_kind(facts, SupervisorDecided) if fact.followed] == [1, 2, 3]
        assert of_kind(facts, StepAsked)[-1].error_type == "correction_repeated"
        assert of_kind(facts, SessionPaused)[-1].waiting_for == "you"
        assert of_kind(facts, SupervisionEnded) == []

    scene()
