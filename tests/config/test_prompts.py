"""A team's own prompts: text, or files beside the team file; what is wrong with them is told with its line."""

from pathlib import Path
from typing import Any

import pytest

from moot.config.loading import list_problems, load_team
from moot.config.prompts import PHASES, PROMPT_BYTES, read_template
from moot.core.template import list_placeholders

TEAM = """\
moot: 1
name: own
members:
  - {id: alice, kind: human}
  - {id: bob, kind: ai, agent: {type: script}}
prompts:
"""


def write(folder: Path, prompts: str) -> Path:
    file = folder / "team.yaml"
    file.write_text(TEAM + prompts, encoding="utf-8")
    return file


def problems(folder: Path, prompts: str) -> list[str]:
    return [problem.format("f") for problem in list_problems(write(folder, prompts))]


def test_a_prompt_is_text_or_a_file_beside_the_team(tmp_path: Path) -> None:
    """Every phase's prompt can be replaced; paths start at the team file."""
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "review.md").write_text("Judge {{result}} 严格", encoding="utf-8")
    file = write(
        tmp_path, "  reviewing: prompts/review.md\\n  planning: |\\n    Plan {{goal}}.\\n".replace("\\n", "\n")
    )
    assert load_team(file).prompts.by_phase() == {"reviewing": "Judge {{result}} 严格", "planning": "Plan {{goal}}.\n"}


def test_an_object_may_have_prompts_too() -> None:
    """Objects are checked like files."""
    team: dict[str, Any] = {
        "members": [{"id": "a", "kind": "human"}, {"id": "b", "kind": "ai", "agent": {"type": "script"}}],
        "prompts": {"executing": "Do {{task}}."},
    }
    assert load_team(team).prompts.by_phase() == {"executing": "Do {{task}}."}


def test_what_is_wrong_is_told_with_its_line(tmp_path: Path) -> None:
    """All problems at once, each with its line and what is nearest."""
    (tmp_path / "latin.md").write_bytes(b"\xff\xfe\xfa")
    (tmp_path / "large.txt").write_text("x" * (PROMPT_BYTES + 1))
    found = problems(
        tmp_path,
        "  planing: x\n  planning: no.md\n  patching: ../up.md\n  executing: latin.md\n  reviewing: large.txt\n"
        '  aggregating: "{{reslts}} {{x}}"\n  supervisor: " "\n',
    )
    assert [line.split(":")[1] for line in found] == ["7", "8", "9", "10", "11", "12", "12", "13"]
    assert "did you mean 'planning'?" in found[0]
    assert "No such file" in found[1]
    assert "beside the team file" in found[2]
    assert "UTF-8" in found[3]
    assert "larger than" in found[4]
    assert "did you mean 'results'?" in found[5]
    assert "placeholders: goal, results, missing, diff, feedback, language" in found[6]
    assert "empty" in found[7]


def test_a_prompt_for_routing_needs_its_place(tmp_path: Path) -> None:
    """It is a part of what an understander is told; one that would be used nowhere is refused."""
    assert problems(tmp_path, "  routing: Ask first.\n") == []
    assert problems(tmp_path, '  routing: Ask first.\n  understanding: "{{input}} {{ routing }}"\n') == []
    (found,) = problems(tmp_path, '  routing: Ask first.\n  understanding: "{{input}}"\n')
    assert "prompts.routing: this prompt is used nowhere" in found


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    """A team file that lies somewhere reads nothing of the person's own."""
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "team").mkdir()
    (tmp_path / "team" / "link.md").symlink_to(tmp_path / "secret.md")
    (found,) = problems(tmp_path / "team", "  planning: link.md\n")
    assert "beside the team file" in found


@pytest.mark.parametrize("phase", PHASES)
def test_the_built_in_prompts_agree(phase: str) -> None:
    """Every prompt exists in both languages, and the same is filled in."""
    english = list_placeholders(read_template(phase, "en"))
    assert sorted(list_placeholders(read_template(phase, "zh"))) == sorted(english)
