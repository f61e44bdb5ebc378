"""The image, as far as it can be checked without Docker: what is copied is there, and pip takes the versions."""

import re
import shutil
import subprocess
from pathlib import Path

from tests.docs.blocks import ROOT

STEPS = re.sub(r"\\\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8")).splitlines()


def test_what_is_copied_is_sent_to_the_builder() -> None:
    """.dockerignore leaves out everything but what it names, and the image needs no more."""
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").split() if line.startswith("!")}
    copied = [line.split()[1:-1] for line in STEPS if line.startswith("COPY ") and "--from" not in line]
    assert {name for names in copied for name in names} == kept
    assert all((ROOT / name).exists() for name in kept)


def test_pip_is_given_versions_without_hashes(tmp_path: Path) -> None:
    """With a hash in any file pip refuses to install a folder: every pinned version is there, and nothing else."""
    shutil.copy(ROOT / "requirements.lock", tmp_path)
    (make,) = [line.removeprefix("RUN ") for line in STEPS if line.startswith("RUN sed")]
    subprocess.run(["sh", "-c", make], cwd=tmp_path, check=True)
    (file,) = re.findall(r"pip install .*--constraint (\S+)", "\n".join(STEPS))
    lines = (tmp_path / file).read_text(encoding="utf-8").splitlines()
    pinned = re.findall(
        r"^[\w.-]+==.*?(?= \\$)", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert lines == pinned
    assert len(lines) > 50


def test_it_runs_as_a_user_who_may_write_the_data() -> None:
    """Not as root; the volume and the folder of the team are that user's; it is asked whether it lives."""
    text = "\n".join(STEPS)
    assert STEPS.index("USER moot") > next(at for at, line in enumerate(STEPS) if "useradd" in line)
    assert "chown moot /data /team" in text
    assert "MOOT_DATA=/data" in text
    assert "VOLUME /data" in STEPS
    assert any(line.startswith("HEALTHCHECK ") and "/healthz" in line for line in STEPS)
