"""What a fact is, and how facts are folded into a state.

A fact is something that happened, named in the past tense. Facts are all that a log holds: a state is the fold of
facts, so that replaying a log gives the same state again. Event names are never reused or renamed, and new fields have
defaults, because old logs must always decode.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar, overload

from msgspec import Struct

Json = dict[str, Any]  # a document as somebody wrote it
# Of what this Moot reads. A release that adds kinds of facts, gives one a new meaning, or stores them in another way,
# raises it. 2: segments of the archive in PostgreSQL.
LOG_VERSION = 2


class Fact(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The base of every fact. Fields without a default are always written: they are the contract of the protocol.

    The class variables say how a fact is enveloped (`moot.core.envelope`).
    """

    event: ClassVar[str]
    timeline: ClassVar[str] = ""  # its name on the timeline; empty: it is not on it
    author: ClassVar[str] = ""  # the field that names the member who caused it; empty: Moot itself
    content: ClassVar[str] = ""  # the field that is also the stored event's `content`
    since: ClassVar[int] = 1  # the LOG_VERSION that has it first: not logged while a server on the log is older

    @property
    def is_on_timeline(self) -> bool:
        """Whether this fact is on the timeline, if its kind is."""
        return True

    def frame_content(self) -> Json | None:
        """Return what frames repeat in `content`, though the log stores it in the metadata only."""
        return None


S = TypeVar("S")
F1 = TypeVar("F1", bound=Fact)
F2 = TypeVar("F2", bound=Fact)
F3 = TypeVar("F3", bound=Fact)


class Fold(Generic[S]):
    """How a state of type `S` follows facts: one function for each kind of fact.

    `on` registers a function and lets the type checker compare it with the kind of fact. Functions are looked up, not
    matched, because folding is hot: a `match` tries one class after the other.
    """

    def __init__(self) -> None:
        self.table: dict[type[Fact], Callable[[S, Any], S]] = {}

    @overload
    def on(self, kind: type[F1], /) -> Callable[[Callable[[S, F1], S]], Callable[[S, F1], S]]: ...
    @overload
    def on(
        self, kind: type[F1], other: type[F2], /
    ) -> Callable[[Callable[[S, F1 | F2], S]], Callable[[S, F1 | F2], S]]: ...
    @overload
    def on(
        self, kind: type[F1], other: type[F2], third: type[F3], /
    ) -> Callable[[Callable[[S, F1 | F2 | F3], S]], Callable[[S, F1 | F2 | F3], S]]: ...
    def on(self, *kinds: type[Any]) -> Callable[[Callable[[S, Any], S]], Callable[[S, Any], S]]:
        """Decorate the function that folds facts of these kinds."""

        def register(function: Callable[[S, Any], S]) -> Callable[[S, Any], S]:
            for kind in kinds:
                self._add(kind, function)
            return function

        return register

    def ignore(self, *kinds: type[Fact]) -> None:
        """Declare kinds of facts that leave the state as it is."""
        for kind in kinds:
            self._add(kind, _keep)

    def _add(self, kind: type[Fact], function: Callable[[S, Any], S]) -> None:
        if kind in self.table:
            raise ValueError(f"{kind.__name__} is folded twice")
        self.table[kind] = function


class Follow(Generic[S]):
    """How a flow's part of the state follows facts of every session, after the session's own fold.

    A registered function is given the state before the fact, the state after it, and the fact.
    """

    def __init__(self) -> None:
        self.table: dict[type[Fact], Callable[[S, S, Any], S]] = {}

    def on(self, kind: type[F1]) -> Callable[[Callable[[S, S, F1], S]], Callable[[S, S, F1], S]]:
        """Decorate the function that follows facts of this kind."""

        def register(function: Callable[[S, S, F1], S]) -> Callable[[S, S, F1], S]:
            if kind in self.table:
                raise ValueError(f"{kind.__name__} is followed twice")
            self.table[kind] = function
            return function

        return register


def _keep(state: S, _: Fact) -> S:
    return state
