"""Faults made by hand, one in each: what the product promises is tested only if its tests see them."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """`old` stands once in `file` (below src/moot) and becomes `new`; one of `tests` (below tests) must fail then."""

    name: str
    file: str
    old: str
    new: str
    tests: str


MUTANTS = (
    Mutant(
        "a command is done again each time it is sent",
        "runtime/journal.py",
        "        if receipt is None:\n            return\n",
        "        return\n",
        "runtime/test_commands_once.py",
    ),
    Mutant(
        "one command id for two bodies",
        "runtime/journal.py",
        "if receipt.digest == last.key.digest:",
        "if True:",
        "runtime/test_commands_once.py",
    ),
    Mutant(
        "accepted before it is on disk",
        "runtime/journal.py",
        "        await self._log.append(self.session_id, self.head.seq, events, command=key, summary=summary)\n",
        "        asyncio.get_running_loop().call_later(0.01, lambda: None)\n"
        "        _ = asyncio.ensure_future(\n"
        "            self._log.append(self.session_id, self.head.seq, events, command=key, summary=summary))\n",
        "runtime/test_log_faults.py",
    ),
    Mutant(
        "who loses a race does not decide again",
        "runtime/journal.py",
        "                    await self._catch_up()\n",
        "                    raise\n",
        "runtime/test_log_faults.py",
    ),
    Mutant(
        "two writers may fork a log",
        "runtime/stores/memory.py",
        "len(session.events) != expected_seq",
        "len(session.events) < expected_seq",
        "contract/test_log_contract.py",
    ),
    Mutant(
        "reading begins with the event that is known",
        "runtime/stores/memory.py",
        ".events[after : after + limit]",
        ".events[max(0, after - 1) : after + limit]",
        "contract/test_log_contract.py",
    ),
    Mutant(
        "an event does not chain to the one before",
        "core/codec.py",
        "return sha256(previous.encode() + data)",
        "return sha256(data)",
        "core/test_codec.py core/test_golden.py",
    ),
    Mutant(
        "a client's other history is not seen",
        "protocol/server.py",
        "request.checksum != hash_at_cursor",
        "not hash_at_cursor",
        "protocol/test_server.py gateway/test_ws_resume.py",
    ),
    Mutant(
        "live events begin one too early",
        "gateway/feeds.py",
        "        start = len(self._frames) - self.head + cursor\n        return self._frames[start",
        "        start = max(0, len(self._frames) - self.head + cursor - 1)\n        return self._frames[start",
        "gateway/test_ws_resume.py gateway/test_ws_feeds.py",
    ),
    Mutant(
        "a key may stand twice",
        "protocol/strict_json.py",
        "if len(read) != len(pairs):",
        "if len(read) > len(pairs):",
        "protocol/test_strict_json.py",
    ),
    Mutant(
        "a login needs no Origin",
        "gateway/guard.py",
        'needs_origin=credentials.kind == "login")',
        "needs_origin=False)",
        "gateway/test_guard.py",
    ),
    Mutant(
        "a signed state is not checked",
        "gateway/auth.py",
        "self._states.unsign(text)",
        'text.rpartition(".")[0]',
        "gateway/test_auth.py",
    ),
    Mutant(
        "a question is answered twice",
        "core/session/steps.py",
        "if closed and closed.outcome is Outcome.ANSWERED:",
        "if False:",
        "core/test_steps.py",
    ),
    Mutant(
        "a clock that jumped closes a question",
        "runtime/engine.py",
        "    return max(min(left_s, whole_s), min(REOPENED_S, whole_s), 0.0)",
        "    return max(left_s, 0.0)",
        "runtime/test_clock_jumps.py",
    ),
    Mutant(
        "one turn too many before people are asked",
        "core/flows/chat/chat_flow.py",
        "state.hops >= max_hops",
        "state.hops > max_hops",
        "core/test_seed_001_routing.py core/test_controls.py",
    ),
    Mutant(
        "somebody stands behind himself in the queue",
        "core/flows/chat/routing.py",
        "        if at and result[at - 1].member == entry.member:\n            continue\n",
        "",
        "core/test_seed_001_routing.py core/test_routing_functions.py",
    ),
    Mutant(
        "a result counts though its dispatch is over",
        "core/flows/plan/plan_flow.py",
        "    if run.state not in expected:\n",
        "    if False:\n",
        "core/test_plan_dispatch.py",
    ),
    Mutant(
        "one retry too many",
        "core/flows/plan/recovery.py",
        "retries >= retry.max_attempts",
        "retries > retry.max_attempts",
        "core/test_plan_recovery.py",
    ),
    Mutant(
        "the breaker never opens",
        "core/flows/plan/recovery.py",
        "if slots.failures + 1 >= limits.BREAKER_FAILURES:",
        "if False:",
        "core/test_plan_dispatch.py",
    ),
    Mutant(
        "any number of tasks at once",
        "core/flows/plan/dispatching.py",
        "free = team.plan.max_parallel - len(work_of(draft).dispatches)",
        "free = 10_000",
        "core/test_plan_dispatch.py",
    ),
    Mutant(
        "more tasks at once than there is room for",
        "runtime/dispatch.py",
        "        if not room.locked():\n",
        "        if True:\n            room = Room(1)\n",
        "runtime/test_plan_limits.py",
    ),
    Mutant(
        "what a dead process held is waited for",
        "runtime/engine.py",
        "if command is None:\n            self.act()",
        "if True:\n            self.act()",
        "runtime/test_plan_crash.py runtime/test_plan_workers.py",
    ),
    Mutant(
        "a pause holds up nothing",
        "core/flows/plan/plan_flow.py",
        "elif draft.state.interrupt is Interrupt.EXECUTION and work.is_approved",
        "elif work.is_approved",
        "core/test_plan_pause.py",
    ),
    Mutant(
        "other tasks run than were shown",
        "core/flows/plan/answers.py",
        "tasks = edited = read_tasks(command.tasks, draft.team)",
        "edited = read_tasks(command.tasks, draft.team)",
        "core/test_plan_confirm.py",
    ),
    Mutant(
        "a circle of tasks is a plan",
        "core/flows/plan/tasks.py",
        "    if circle:\n",
        "    if False:\n",
        "core/test_plan_tasks.py",
    ),
    Mutant(
        "escape sequences are stored",
        "core/decide.py",
        "    message = text.clean(command.text)\n",
        "    message = command.text\n",
        "core/test_messages.py core/test_text.py",
    ),
    Mutant(
        "a commit is not synced",
        "runtime/stores/log_tables.py",
        "PRAGMA synchronous = FULL",
        "PRAGMA synchronous = NORMAL",
        "power/test_power.py",
    ),
    Mutant(
        "a file that is gone is written to",
        "runtime/stores/sqlite.py",
        "if _identify(self._path) != self._identity:",
        "if False:",
        "contract/test_sqlite_faults.py",
    ),
    Mutant(
        "two engines run one session",
        "runtime/sessions.py",
        "return self._engines.get(session_id) or self._admit(",
        "return self._admit(",
        "runtime/test_opening.py sim/test_sim.py",
    ),
    Mutant(
        "the state is behind a log that failed to answer",
        "runtime/journal.py",
        "            with suppress(LogError):\n                await self._catch_up()\n            raise\n",
        "            raise\n",
        "runtime/test_log_faults.py sim/test_sim.py",
    ),
    Mutant(
        "a client takes an event twice",
        "protocol/following.py",
        "if self.asked_at is not None or seq <= self.head.seq:",
        "if self.asked_at is not None or seq < self.head.seq:",
        "sim/test_sim.py",
    ),
    Mutant(
        "a client does not see a hole",
        "protocol/following.py",
        "if seq > self.head.seq + 1:",
        "if False:",
        "sim/test_sim.py protocol/test_client_faults.py",
    ),
    Mutant(
        "a client does not check hashes",
        "protocol/following.py",
        "(is_known and chain(self.head.hash, data) != hash_)",
        "False",
        "sim/test_sim.py protocol/test_client_faults.py",
    ),
    Mutant(
        "a command that was not answered is not sent again",
        "protocol/unanswered.py",
        "        for waiting in self._waiting.values():\n            waiting.due = -inf",
        "        for waiting in ():\n            waiting.due = -inf",
        "sim/test_sim.py protocol/test_client_faults.py",
    ),
    Mutant(
        "a turn runs on after its end",
        "runtime/engine.py",
        "            running.pop(key).cancel()\n",
        "            running.pop(key)\n",
        "sim/test_sim.py runtime/test_turns.py",
    ),
    Mutant(
        "a snapshot of another log is believed",
        "runtime/snapshots.py",
        "        and await _is_prefix(log, session_id, snapshot.head)\n",
        "",
        "runtime/test_snapshots.py sim/test_sim.py",
    ),
    Mutant(
        "a damaged snapshot is believed",
        "runtime/snapshots.py",
        "and digest == _digest(snapshot.head, data)",
        "",
        "runtime/test_snapshots.py",
    ),
)
