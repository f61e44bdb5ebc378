"""What the terminal says, and what it knows without a screen."""

import ast

from moot.core.session.team import LANGUAGES, Kind, Language, Member
from moot.core.texts import find_text
from moot.tui.composer.completion import complete
from moot.tui.keys import Keys
from moot.tui.questions import plan_edit
from moot.tui.screens.help import list_help
from moot.tui.words import Words
from tests.tidy.sources import PACKAGE, list_python_files, parse

EN, ZH = Words("en"), Words("zh")


def asked_keys() -> set[str]:
    """Every constant that the terminal's modules ask the catalogue for."""
    keys = set()
    for path in list_python_files(PACKAGE / "tui"):
        for node in ast.walk(parse(path)):
            is_words = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("words")
            if is_words and node.args and isinstance(node.args[0], ast.Constant):  # type: ignore[attr-defined]
                keys.add(str(node.args[0].value))  # type: ignore[attr-defined]
    return keys


def find(key: str, language: Language) -> str | None:
    return find_text(f"terminal.{key}", language) or find_text(f"ui.{key}", language)


def test_every_word_is_in_both_languages() -> None:
    """One catalogue for page and terminal; every key that is asked for has a text in zh and en."""
    keys = asked_keys()
    assert len(keys) > 60
    assert sorted(key for key in keys for language in LANGUAGES if find(key, language) is None) == []
    assert "Ctrl+Q" in str(list_help(ZH, Keys()))


def test_plural_forms() -> None:
    """The button names the effect, in the language's own form; the words are those of the page."""
    assert EN("plan.approve", count=1) == "Approve 1 task"
    assert EN("plan.approve_changed", count=3, changed=1) == "Approve 3 tasks (1 changed)"
    assert EN("resumed", count=1) == "caught up: 1 event replayed"
    assert ZH("plan.approve", count=3) == "批准 3 个任务"
    assert EN("removed", title="{title}") == "“{title}” is removed"


def test_completion() -> None:
    """Members after @ and inside [NEXT:], commands after a slash; nothing in a path or an address."""
    members = [
        Member(id="bob", kind=Kind.AI, name="Bob", display_name="Bob", order=1),
        Member(id="bai", kind=Kind.AI, name="小白", display_name="小白", order=2),
    ]

    def labels(text: str) -> list[str]:
        found = complete(text, len(text), members, EN)
        return [offer.label for offer in found.offers] if found else []

    assert labels("@b") == ["Bob", "小白"]
    assert labels("@小") == ["小白"]
    assert labels("hello [NEXT: Bob, 小") == ["小白"]
    assert labels("/que") == ["/queue", "/queue skip", "/queue clear"]
    assert labels("a@b") == labels("see /etc") == labels("") == labels("/queue clear") == []


def test_editing_a_plan() -> None:
    """What is wrong stands at its row; the differences are counted; removing frees who waited."""
    tasks: plan_edit.Tasks = ({"id": "a", "title": "A"}, {"id": "b", "title": "B", "depends_on": ["a"]})
    assert plan_edit.find_problems(tasks) == []
    circle = plan_edit.patch(tasks, 0, depends_on=["b"])
    assert [(each.at, each.code) for each in plan_edit.find_problems(circle)] == [(0, "plan.circle")]
    assert [each.code for each in plan_edit.find_problems(plan_edit.add(tasks))] == ["plan.no_title"]
    assert [each.code for each in plan_edit.find_problems(())] == ["plan.empty"]
    gone = plan_edit.remove(tasks, 0)
    assert gone == ({"id": "b", "title": "B", "depends_on": []},)
    assert plan_edit.diff(tasks, gone).count == 2
    assert plan_edit.diff(tasks, plan_edit.move(tasks, 0, 1)).is_moved
    assert plan_edit.move(tasks, 0, -1) == tasks
    assert plan_edit.diff(tasks, tasks).count == 0
