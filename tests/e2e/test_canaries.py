"""Twenty secrets where secrets are kept, and every place where they must not turn up."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.cli.command import MOOT, Moot

KEYS = (
    *("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY"),
    *("OPENROUTER_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "SOME_CREDENTIAL", "PROXY_AUTH"),
)
TEAM = """\
moot: 1
name: leaky
flow: chat
members:
  - {id: alice, kind: human}
  - {id: bob, kind: ai, agent: {type: python, call: "leaky:fail"}}
  - {id: carol, kind: ai, agent: {type: llm, model: "openai:none", base_url: "http://127.0.0.1:9/v1"}}
  - id: dave
    kind: ai
    agent:
      type: cli
      command: [PYTHON, -c, "import os, sys; sys.exit(str(dict(os.environ)))"]
      output: text
      env: [OPENAI_API_KEY]
"""
LEAKY = """\
import os
async def fail(turn):
    raise RuntimeError(" ".join(value for value in os.environ.values() if "canary" in value))
"""
OWNER, STRANGER = "canary-of-the-owner", "canary-of-nobody"
OURS = re.compile(r"http://127\.0\.0\.1:\d+")


def plant(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """In the environment, and in a file `.env`, which nobody has asked Moot to read. The secrets that are planted."""
    (folder / "team.yaml").write_text(TEAM.replace("PYTHON", sys.executable), encoding="utf-8")
    (folder / "leaky.py").write_text(LEAKY, encoding="utf-8")
    (folder / ".env").write_text("SECRET=canary-of-dot-env\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MOOT_TOKEN", OWNER)
    keys = {name: f"canary-{number:02}-{name.lower()}" for number, name in enumerate(KEYS)}
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    return [*keys.values(), OWNER, STRANGER, "canary-of-dot-env"]


def use_the_server() -> tuple[str, list[str]]:
    """Everything that it says while right and wrong tokens are shown to it; and the secrets that came up meanwhile."""
    log, told = Path("serve.log"), ""
    with log.open("wb") as said:
        server = subprocess.Popen([*MOOT, "serve", "team.yaml", "--port", "0"], stdout=said, stderr=said)
        try:
            while not (found := OURS.search(log.read_text(encoding="utf-8"))):
                assert server.poll() is None, log.read_text(encoding="utf-8")
                time.sleep(0.05)
            with httpx.Client(base_url=found[0], trust_env=False) as client:
                for secret in (OWNER, STRANGER):
                    for path in ("/api/sessions", "/api/nothing", "/metrics"):
                        told += client.get(path, params={"token": secret}).text
                        told += client.get(path, headers={"authorization": f"Bearer {secret}"}).text
                login = client.post("/api/login", json={"token": OWNER}, headers={"origin": found[0]})
                assert login.is_success
                halves = [*client.cookies.values(), login.json()["secret"]]
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)
    return told + log.read_text(encoding="utf-8"), halves


def test_twenty_secrets_turn_up_nowhere(moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in what is said, logged, stored, exported or found by the doctor, also where members try to tell."""
    secrets = plant(tmp_path, monkeypatch)
    [given] = moot("token", "create", "--role", "viewer", "--json").objects
    told = [moot("trust", "team.yaml", "--yes")]
    told += [moot("run", "team.yaml", "--say", f"[NEXT: {each}] go on") for each in ("bob", "carol", "dave")]
    assert "".join(each.out for each in told).count("encountered an error") == 3
    served, halves = use_the_server()
    sessions = moot("sessions", "list", "--json")
    told += [moot("doctor"), sessions]
    for each in sessions.objects:
        told += [moot("sessions", "export", each["session_id"], "--format", form) for form in ("jsonl", "md", "html")]
    key = (moot.data / "signing.key").read_text(encoding="utf-8").strip()
    secrets += [given["token"], key, *halves]
    assert len(secrets) >= 19
    shown = served.replace(f"#token={OWNER}", "") + "".join(each.out + each.err for each in told)
    assert [secret for secret in secrets if secret in shown] == []
    private = ("owner.token", "signing.key")
    kept = [path.read_bytes() for path in moot.data.rglob("*") if path.is_file() and path.name not in private]
    assert [secret for secret in secrets if any(secret.encode() in each for each in kept)] == []
