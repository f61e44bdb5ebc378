"""The ports of a log that several nodes share: who acts for a session, and news of what others wrote.

Any node decides the commands of people and appends. Agents and timers are started by one node alone, the owner of the
session. A node becomes the owner with the append that makes work due, or by a claim when the owner is gone. Each new
owner has a new epoch, and what an owner appends is refused under an old one.
"""

from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from typing import ClassVar, Protocol

from msgspec import Struct

from moot.core.codec import Event, Head
from moot.core.facts import LOG_VERSION
from moot.runtime.ports import CommandKey, Log, Store, Summary
from moot.runtime.worker_jobs import JobRef, Jobs

PAGE_EVENTS = 1_000  # at most in one answer to `catch_up`


class Standing(Struct, frozen=True):
    """Whether this node acts for a session, and since which epoch."""

    is_mine: bool
    epoch: int


SOLE = Standing(is_mine=True, epoch=0)  # of a log that one process has to itself
FOLLOWING = Standing(is_mine=False, epoch=0)


class Stake(Struct, frozen=True, kw_only=True):
    """What a node says about a session when it appends.

    `due`: effects are outstanding, so that somebody must act. `epoch`: append only as the owner since this epoch; None:
    anybody may. `claims`: become the owner if work is due and nobody acts for the session. `job`: append only while a
    worker has this claim. `binds`: members work in trees on the machine of the owner, so that no other may act for it.
    """

    due: bool
    epoch: int | None = None
    claims: bool = False
    job: JobRef | None = None
    binds: bool = False


class News(Struct, frozen=True):
    """The events behind a head, and who acts for the session after them."""

    events: list[Event]
    standing: Standing


class Hold(Protocol):
    """A session that nobody else can append to until the block ends."""

    news: News

    async def append(
        self, events: Sequence[Event], *, command: CommandKey | None, summary: Summary | None, stake: Stake
    ) -> Standing:
        """Append after the news, at most once. Raises Conflict if the command was logged before, or Fenced."""


class ClusterListener(Protocol):
    """What a node does when it hears from the others. The methods return at once."""

    def hear(self, session_id: str, seq: int) -> None:
        """Another node has appended; the head is at `seq` now."""

    def forget(self, session_id: str) -> None:
        """The session was removed."""

    def take_over(self, session_id: str) -> None:
        """This node is the owner of a session in which work is due."""

    def miss(self, session_id: str, place: str, epoch: int) -> None:
        """Work is due in a session whose trees are at a place where no node is. `epoch` is that of its last owner."""

    def let_go(self) -> None:
        """Stop acting for every session: this node could not renew its lease."""

    def list_followed(self) -> Collection[str]:
        """Return the sessions that this node follows and wants to hear about."""

    def show(self, session_id: str, event: str, turn_id: str, text: str) -> None:
        """Show a piece of text or of a thought that a member on another node has written."""


class Documents(Protocol):
    """Small texts that all nodes share, such as the lists of tokens. Each has a version that grows with its changes."""

    async def get(self, names: Sequence[str]) -> dict[str, tuple[int, bytes]]:
        """Return version and data of those documents that exist."""

    async def put(self, name: str, version: int, data: bytes) -> bool:
        """Replace the document of this version, 0 for none, and tell the others. False if it has another version."""

    async def wait(self, at_most_s: float) -> None:
        """Return when another node has changed a document, or after so many seconds."""


class Cluster(Protocol):
    """A node's place among the others."""

    documents: Documents
    jobs: Jobs

    @property
    def offset_s(self) -> float:
        """Return by how many seconds the store's clock is ahead of this machine's."""

    @property
    def log_version(self) -> int:
        """Return what every node can read: facts of newer kinds are not written yet."""

    async def check_ready(self) -> None:
        """Raise LogError if this node does not hear the others, may not act, or what it writes is not safe enough."""

    def show(self, session_id: str, event: str, turn_id: str, text: str) -> None:
        """Carry a piece of what a member writes here to the nodes where somebody looks on. It may be dropped."""

    async def read_status(self) -> "ClusterStatus":
        """Return the state of all nodes, for operators. Raises LogError."""

    def measure(self) -> "list[Sample]":
        """Return this node's counters and measurements."""

    async def join(
        self, listener: ClusterListener, teams: Callable[[], Collection[str]], version: str = "", place: str = ""
    ) -> None:
        """Become a node that acts for sessions of these teams; none: it only serves people.

        `version` is Moot's, `place` where members' trees are on this machine: nodes with another place do not act for
        sessions that have trees here.
        """

    async def leave(self) -> None:
        """Hand over what this node acts for."""

    async def claim(self) -> None:
        """Take over what is due and has no owner; the listener is told."""

    async def append(
        self,
        session_id: str,
        expected: Head,
        events: Sequence[Event],
        *,
        command: CommandKey | None = None,
        summary: Summary | None = None,
        stake: Stake,
    ) -> Standing:
        """As `Log.append`. Raises Fenced if the stake names an epoch that is over."""

    async def catch_up(self, session_id: str, after: Head) -> News:
        """Return what came after a head, at most PAGE_EVENTS events.

        Raises NotFound, or Diverged if the session no longer has an event with this hash.
        """

    def locked(self, session_id: str, after: Head) -> AbstractAsyncContextManager[Hold]:
        """Keep others from appending, while a decision is made. Raises like `catch_up`."""

    async def settle(self, session_id: str, head: Head, epoch: int) -> None:
        """Say that nothing is due in a session that this node owns, unless it has another head by now."""


class Sample(Struct, frozen=True):
    """A measurement. One whose name ends in `_total` counts."""

    name: str
    value: float
    labels: dict[str, str] = {}


class NodeStatus(Struct, frozen=True):
    """A node as the others see it. `owned`: sessions with work under way that it acts for.

    `version` is Moot's, `log_version` that of the facts that it can read.
    """

    id: int
    name: str
    version: str
    log_version: int
    teams: list[str]
    lease_left_s: float
    owned: int


class WorkerStatus(Struct, frozen=True):
    """A worker as the servers see it. `host` is the node that it is connected to, `jobs` how many it has."""

    name: str
    pools: list[str]
    host: int | None
    lease_left_s: float
    jobs: int


class PoolStatus(Struct, frozen=True):
    """A pool of workers: how many are connected, and how many turns and tasks wait for one or are under way."""

    name: str
    workers: int
    waiting: int
    under_way: int


class ClusterStatus(Struct, frozen=True, kw_only=True):
    """`unowned_due`: sessions in which work is due and no live node acts; above 0 for long is an alarm.

    `notify_queue_usage`: how full the queue of wake-ups is, 0 to 1. `oldest_transaction_s`: a transaction that is
    open for long keeps the server from cleaning up. `pools`: those with a worker or a job.
    """

    server: str
    version: int
    lineage: str
    sessions: int
    removed: int
    doomed: int
    due: int
    unowned_due: int
    partitions: int
    sync_standbys: int
    notify_queue_usage: float
    oldest_transaction_s: float
    nodes: list[NodeStatus]
    workers: list[WorkerStatus] = []
    pools: list[PoolStatus] = []


class Upkeep(Struct, frozen=True, kw_only=True):
    """What maintenance has done: rows of deleted sessions swept, idle sessions archived, partitions emptied.

    `waits_for`: what has to go away before sessions are archived.
    """

    swept: int = 0
    archived: int = 0
    emptied: int = 0
    waits_for: str = ""


class SharedStore(Store):
    """A store that several machines share. It is prepared once, before the first of them starts."""

    version: ClassVar[int]  # of the tables that this Moot needs
    node_name: str  # what a node that this process becomes is called

    @abstractmethod
    async def initialise(self, *, after_restore: bool = False, to: int | None = None) -> int:
        """Make what the log needs, or bring it to a version. Returns the version that was there, 0 for none.

        `to` is that version, if it is not `version`; there is no way back. `after_restore`: also forget who acted for
        sessions and which jobs there were, and begin a new lineage. Raises Unusable, or LogError if others are in the
        way; then what was done stays, and a second call goes on.
        """

    @abstractmethod
    async def read_status(self) -> ClusterStatus:
        """Return the state of the store, for operators. Raises Unusable if the store was never prepared."""

    @abstractmethod
    async def maintain(self) -> Upkeep:
        """Do the periodic maintenance. Raises LogError; what was done stays, and a second call goes on."""


def cluster_of(log: Log) -> Cluster | None:
    """Return the cluster that shares a log, None if a single process owns the log."""
    cluster: Cluster | None = getattr(log, "cluster", None)
    return cluster


def log_version_of(log: Log) -> int:
    """Return what every process on a log can read."""
    cluster = cluster_of(log)
    return cluster.log_version if cluster else LOG_VERSION
