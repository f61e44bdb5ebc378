"""What the terminal says, and what it knows without a screen."""

import ast

from moot.core.team import Kind, Member
from moot.tui import plan_edit
from moot.tui.completion import complete
from moot.tui.help import help_content
from moot.tui.keys import Keys
from moot.tui.rows import CATEGORIES, MOST_ROWS, Rows
from moot.tui.words import TERMINAL, Words
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


def test_every_word_is_in_both_languages() -> None:
    """UX: one catalogue for page and terminal; every key that is asked for has a text in zh and en."""
    keys = asked_keys() | {f"event.{name}" for name in CATEGORIES}
    assert len(keys) > 60
    assert sorted(key for key in keys for words in (EN, ZH) if words(key) == key) == []
    assert all(set(texts) == {"zh", "en"} for texts in TERMINAL.values())
    assert "Ctrl+Q" in help_content("zh", Keys()).plain


def test_plural_forms() -> None:
    """UX: the button names the effect, in the language's own form; the words are those of the page."""
    assert EN("plan.approve", count=1) == "Approve 1 task"
    assert EN("plan.approve_changed", count=3, changed=1) == "Approve 3 tasks (1 changed)"
    assert ZH("plan.approve", count=3) == "批准 3 个任务"
    assert EN("removed", title="{title}") == "“{title}” is removed"


def test_completion() -> None:
    """UX composer: members after @ and inside [NEXT:], commands after a slash; nothing in a path or an address."""
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
    """UX plan editor: what is wrong stands at its row; the differences are counted; removing frees who waited."""
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


def test_the_timeline_is_bounded() -> None:
    """UX: everything that grows has a bound; what began before the bound may end after it."""
    rows = Rows()
    for number in range(MOST_ROWS * 2):
        for event, seq in (("turn.started", 2 * number + 1), ("turn.completed", 2 * number + 2)):
            said = {"turn_id": f"t{number}", "member": "bob"}
            rows.push({"event": event, "seq": seq, "timestamp": "2026-01-01T00:00:00.000Z", "metadata": said})
    assert len(rows.list) <= MOST_ROWS
    assert all(row.outcome == "ok" for row in rows.list)
