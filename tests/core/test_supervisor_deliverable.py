"""What a job delivers looks like a post: title, body, tags, pictures."""

from typing import Any

from moot.core.flows.supervisor.deliverable import (
    PICTURES,
    SRC_CHARS,
    Deliverable,
    Picture,
    find_deliverable,
    to_markdown,
    to_plain_text,
)
from moot.core.flows.supervisor.supervisor_events import SupervisionEnded
from moot.core.flows.supervisor.supervisor_settings import Condition, EndRule, SupervisorSettings
from moot.core.session.events import MessagePosted
from moot.core.view import project
from moot.telling.teller import Teller
from tests.core.studio import APPROVED, GOOD, STUDIO
from tests.core.teams import only
from tests.core.test_supervisor_flow import BRIEF, started

POST = {"generatedContent": {"title": "Five pots", "body": "Begin with mint.", "tags": ["herbs", "first balcony"]}}
PICTURE = {
    "asset_id": "cover-1",
    "src": "data:image/svg+xml;base64,PHN2Zy8+",
    "caption": "Dawn",
    "is_placeholder": True,
}


def finished() -> Any:
    """A job with one picture, made by a tool and approved."""
    session = started().decides("brief_compiler_agent").acts(state=BRIEF).decides("writer_agent").acts(state=POST)
    session = session.decides("image_planner_agent").acts(state={"imagePlans": [{"id": "cover"}]})
    session = session.decides("image_agent").acts(tool_calls=[{"name": "make_picture", "args": {}, "result": PICTURE}])
    session = session.acts(state={"generatedImageAssetIds": ["cover-1"]})
    return session.decides("review_agent").acts(state=APPROVED | GOOD)


def test_the_end_carries_what_was_made() -> None:
    """The event and the view have title, body, tags and pictures as data that a page can show."""
    session = finished()
    (ended,) = only(session.facts, SupervisionEnded)
    expected = Deliverable(
        title="Five pots",
        body="Begin with mint.",
        tags=("herbs", "first balcony"),
        pictures=(Picture(asset_id="cover-1", src=PICTURE["src"], caption="Dawn", is_placeholder=True),),  # type: ignore[arg-type]
    )
    assert ended.deliverable == expected
    view = project(session.state).supervision
    assert view is not None
    assert view.deliverable == expected


def test_people_read_it_as_a_post() -> None:
    """The transcript has the title above the text, tags, and pictures by their captions, placeholders marked."""
    session, teller = finished(), Teller()
    lines = [line.strip() for fact in session.facts for line in teller.lines(fact)]
    at = lines.index("✓ Done")
    assert [line for line in lines[at + 1 :] if line][:4] == [
        "Five pots",
        "Begin with mint.",
        "#herbs #first_balcony",
        "🖼 Dawn (placeholder)",
    ]
    post = Deliverable(body="b", title="t", pictures=(Picture(asset_id="a", src="https://x/a.png"),))
    assert to_markdown(post, "zh") == "## t\n\nb\n\n🖼 a <https://x/a.png>"
    assert to_plain_text(Deliverable(body="b"), "en") == "b"


def test_a_text_without_a_title_is_a_deliverable_too() -> None:
    """The required texts are the body; a job without any delivers nothing."""
    plain = SupervisorSettings(end=EndRule(requires=(Condition(key="story"), Condition(key="moral.text"))))
    assert find_deliverable(plain, {"story": "Once", "moral": {"text": "Be kind"}}, {}) == Deliverable(
        body="Once\n\nBe kind"
    )
    assert find_deliverable(plain, {"story": None}, {}) is None
    assert find_deliverable(STUDIO, {"generatedContent": {"body": " "}}, {}) is None


def test_pictures_are_bounded() -> None:
    """The event stays small: at most twelve pictures, and no more data than fits."""
    large = {f"p{n}": Picture(asset_id=f"p{n}", src="x" * (SRC_CHARS // 2)) for n in range(20)}
    made = find_deliverable(STUDIO, POST | {"generatedImageAssetIds": list(large)}, large)
    assert made is not None
    assert len(made.pictures) == PICTURES
    assert [bool(picture.src) for picture in made.pictures[:4]] == [True, True, False, False]


def test_the_json_of_agents_is_not_shown_to_people() -> None:
    """An agent's message is the sentence before its JSON; a message of JSON alone is no message."""
    session = started().decides("brief_compiler_agent", guidance="go")
    session = session.acts('The brief is ready.\n```json\n{"state": {"creativeBrief": {"subject": "herbs"}}}\n```')
    teller = Teller()
    lines = [line for fact in session.facts for line in teller.lines(fact)]
    assert "Brief: The brief is ready." in lines
    assert not any("creativeBrief" in line and "{" in line for line in lines)
    assert only(session.facts, MessagePosted)[-1].has_decision
    assert session.shared["creativeBrief"] == {"subject": "herbs"}
