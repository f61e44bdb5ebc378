"""The state and head of one session, and the only way to change them: decide, append, evolve."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from random import random

from moot.core.codec import Event, Head, stamp
from moot.core.decide import decide
from moot.core.draft import NOTHING_WRITTEN
from moot.core.errors import CommandReused, Conflict, Diverged, Fenced, LogError
from moot.core.evolve import evolve
from moot.core.facts import LOG_VERSION, Fact
from moot.core.outstanding import outstanding
from moot.core.session import budgets
from moot.core.session.commands import HumanCommand
from moot.core.session.state import State
from moot.core.session.usage import NOTHING
from moot.runtime.cluster import PAGE_EVENTS, SOLE, Cluster, News, Stake, Standing
from moot.runtime.inbox import PendingCommand
from moot.runtime.ports import Clock, CommandKey, Log, Receipt, Summary
from moot.runtime.snapshots import load_state
from moot.runtime.summaries import sum_elsewhere, summarise, summary_key

logger = logging.getLogger(__name__)

APPEND_TRIES = 20


class Journal:
    """Writes a session and takes in what others wrote, one at a time.

    Args:
        on_change: called after each change of the state or of the standing, before the next await.
        written: what running turns have written so far, by their ids.
        cluster: the nodes that share the log, if there are any.
        standing: whether this node acts for the session.
        may_claim: whether this node may begin to act for a session of a team.
        has_trees_here: whether the members of a team work in trees on the machine that acts for the session.
    """

    def __init__(
        self,
        session_id: str,
        state: State,
        head: Head,
        log: Log,
        clock: Clock,
        on_change: Callable[[], None],
        written: Mapping[str, str] = NOTHING_WRITTEN,
        *,
        cluster: Cluster | None = None,
        standing: Standing = SOLE,
        may_claim: Callable[[str], bool] = lambda _: True,
        has_trees_here: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self.session_id = session_id
        self.state = state
        self.head = head
        self.standing = standing
        self._log = log
        self._clock = clock
        self._on_change = on_change
        self._written_by_turns = written
        self._cluster = cluster
        self._may_claim = may_claim
        self._has_trees_here = has_trees_here
        self._summary_key = summary_key(state)
        self._elsewhere = NOTHING
        self._stamped_at = ""  # the newest event, as far as it was read here
        self._mutex = asyncio.Lock()  # two who take in the same events at once would fold them twice

    async def wait_until_current(self) -> None:
        """Wait until no write is under way, and what other nodes wrote is taken in. Raises LogError."""
        async with self._mutex:
            if self._cluster:
                await self._catch_up()

    def let_go(self) -> None:
        """Stop acting for the session."""
        self.standing = Standing(is_mine=False, epoch=self.standing.epoch)
        self._on_change()

    async def write(self, batch: list[PendingCommand]) -> None:
        """Decide commands one after the other and log their facts with one append; settle every command.

        Commands that are settled early leave the batch, so that a retry does not decide them again.
        """
        try:
            async with self._mutex:
                await self._write(batch)
        except Exception as error:  # each command gets it: nobody may wait for ever
            _fail(batch, error)
        except asyncio.CancelledError:
            _fail(batch, LogError(f"session {self.session_id}: interrupted; whether it was logged is not known"))
            raise
        else:
            seq = self.head.seq
            for pending in batch:
                pending.settle(Receipt(pending.key.digest if pending.key else "", seq))

    async def _write(self, batch: list[PendingCommand]) -> None:
        if self._cluster and any(not pending.is_report for pending in batch):
            await self._catch_up()  # a person must not be refused because of what this node has not heard yet
        if self.state.team.budget.scope == "team":
            await self._count_elsewhere(batch)
        for attempt in range(APPEND_TRIES):
            if batch and (key := batch[-1].key):
                await self._settle_repeated(batch, key)
            try:
                if attempt and self._cluster:
                    await self._write_locked(self._cluster, batch)
                else:
                    await self._write_optimistically(batch)
            except Conflict as error:  # another process wrote: decide again on the new state
                await self._catch_up()
                if isinstance(error, Fenced) and batch and batch[0].job:
                    raise  # its worker has lost the job for good
            else:
                return
        raise Conflict(f"session {self.session_id}: others appended {APPEND_TRIES} times in a row; try again")

    async def _count_elsewhere(self, batch: list[PendingCommand]) -> None:
        """Sum up what other sessions have spent of the team's budget, before a turn may start."""
        if any(isinstance(each.command, budgets.STARTING) for each in batch):
            listings = [*await self._log.sessions(), *await self._log.sessions(removed=True)]
            self._elsewhere = sum_elsewhere(listings, self.session_id, self.state.team, self._clock.now())

    async def _write_optimistically(self, batch: list[PendingCommand]) -> None:
        self._drop_reports(batch)
        state, events = self._decide(batch)
        if not events:
            return
        key, standing = batch[-1].key, SOLE
        key_of_summary, summary = self._summarise_change(state)
        try:
            if self._cluster:
                stake = self._make_stake(state, batch)
                standing = await self._cluster.append(
                    self.session_id, self.head, events, command=key, summary=summary, stake=stake
                )
            else:
                await self._log.append(self.session_id, self.head, events, command=key, summary=summary)
        except Conflict:
            raise
        except LogError:  # it may be in the log nevertheless, and then it has happened
            with suppress(LogError):
                await self._catch_up()
            raise
        self._stamped_at = events[-1].timestamp
        self._move_on(state, events[-1].head, standing, key_of_summary)

    async def _write_locked(self, cluster: Cluster, batch: list[PendingCommand]) -> None:
        """Decide while nobody else can append, so that a busy owner cannot starve other nodes."""
        async with cluster.locked(self.session_id, self.head) as hold:
            self._take_in(hold.news)
            self._drop_reports(batch)
            state, events = self._decide(batch)
            if not events:
                return
            key_of_summary, summary = self._summarise_change(state)
            stake = self._make_stake(state, batch)
            standing = await hold.append(events, command=batch[-1].key, summary=summary, stake=stake)
        self._stamped_at = events[-1].timestamp
        self._move_on(state, events[-1].head, standing, key_of_summary)

    def _drop_reports(self, batch: list[PendingCommand]) -> None:
        """Settle what agents and timers report if this node does not act for the session any more."""
        if self.standing.is_mine:
            return
        for pending in tuple(batch):
            if pending.is_report:
                batch.remove(pending)
                pending.settle(Fenced(f"session {self.session_id} is in the hands of another node"))

    async def _settle_repeated(self, batch: list[PendingCommand], key: CommandKey) -> None:
        """Settle a command that was logged before. Only the last one can have been: it alone has a key.

        If it is a worker's, everything that was reported with it was logged too.
        """
        receipt = await self._log.find_command(self.session_id, key.command_id)
        if receipt is None:
            return
        last = batch.pop()
        if last.job:
            for pending in batch:
                pending.settle(receipt)
            batch.clear()
        if receipt.digest == key.digest:
            last.settle(receipt)
        else:
            last.settle(CommandReused(f"command id {key.command_id!r} was used before with another body"))

    def _decide(self, batch: list[PendingCommand]) -> tuple[State, list[Event]]:
        """Decide each command on the state that those before it lead to. Commands that fail leave the batch."""
        try:
            return self._decide_all(batch)
        except Exception:  # a fact cannot be encoded: encode after each command to find out whose it is
            return self._decide_all(batch, encode_each=True)

    def _decide_all(self, batch: list[PendingCommand], *, encode_each: bool = False) -> tuple[State, list[Event]]:
        at, state = self._now(), self.state
        facts: list[Fact] = []
        tokens: dict[int, str] = {}
        log_version = self._cluster.log_version if self._cluster else LOG_VERSION
        for pending in tuple(batch):
            try:
                chance = random()  # noqa: S311 - jitter is no secret
                seq = self.head.seq + len(facts)
                decided = decide(
                    state, pending.command, at, chance, self._written_by_turns, seq, self._elsewhere, log_version
                )
                if encode_each:
                    stamp(state.team, self.session_id, self.head, decided.facts, at)
            except Exception as error:  # a command that cannot be decided must not fail the others
                batch.remove(pending)
                pending.settle(error)
            else:
                state = decided.state
                if not pending.is_report and isinstance(pending.command, HumanCommand) and pending.command.principal:
                    positions = range(len(facts), len(facts) + len(decided.facts))
                    tokens.update(dict.fromkeys(positions, pending.command.principal.token_id))
                facts += decided.facts
        return state, stamp(state.team, self.session_id, self.head, facts, at, tokens)

    def _now(self) -> str:
        """Return the time. It never goes back in a session, though the clocks of nodes differ by milliseconds."""
        now = self._clock.now()
        return max(now, self._stamped_at) if self._cluster else now

    def _summarise_change(self, state: State) -> tuple[tuple[object, ...], Summary | None]:
        """Return the key of the summary, and the summary itself if it must be stored again."""
        key = summary_key(state)
        return key, None if key == self._summary_key else summarise(state)

    def _make_stake(self, state: State, batch: list[PendingCommand]) -> Stake:
        is_report = any(pending.is_report for pending in batch)
        return Stake(
            due=bool(outstanding(state)),
            epoch=self.standing.epoch if is_report else None,
            claims=self._may_claim(state.team.name),
            job=batch[0].job if batch else None,
            binds=bool(state.workspace.trees) and self._has_trees_here(state.team.name),
        )

    def _move_on(self, state: State, head: Head, standing: Standing, key_of_summary: tuple[object, ...]) -> None:
        self._summary_key = key_of_summary
        self.state = state
        self.head = head
        self.standing = standing
        self._on_change()

    async def _catch_up(self) -> None:
        """Fold what others appended. If that is nothing, nothing has changed and no effect may start because of it."""
        if self._cluster is None:
            while events := await self._log.read(self.session_id, self.head.seq):
                self._take_in(News(events, SOLE))
            return
        try:
            while self._take_in(await self._cluster.catch_up(self.session_id, self.head)) >= PAGE_EVENTS:
                pass  # there may be more
        except Diverged as error:
            logger.error("%s; it is read again", error)  # noqa: TRY400 - one line is enough
            state, head = await load_state(self._log, self.session_id)
            self._move_on(state, head, Standing(is_mine=False, epoch=-1), summary_key(state))
            self._take_in(await self._cluster.catch_up(self.session_id, self.head))

    def _take_in(self, news: News) -> int:
        """Fold events of others, and take over the standing. Returns how many events there were."""
        events = news.events
        if not events and news.standing == self.standing:
            return 0
        if events:
            if events[0].seq != self.head.seq + 1:
                raise LogError(f"session {self.session_id}: events {events[0].seq} do not follow {self.head.seq}")
            for event in events:
                self.state = evolve(self.state, event.fact)
            self.head = events[-1].head
            self._stamped_at = events[-1].timestamp
            self._summary_key = summary_key(self.state)  # the other process wrote that summary
        self.standing = news.standing
        self._on_change()
        return len(events)


def _fail(batch: list[PendingCommand], error: Exception) -> None:
    for pending in batch:
        pending.settle(error)
