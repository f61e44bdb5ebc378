"""One slot of an AI member: `worker#1`, `worker#2`, as many as it may run tasks at once.

An offer does not move a slot; the answer to it does. Extensions: a slot is released when its task is cancelled or its
worker is gone, and five offers in a row that were not taken open the breaker. After a delay one offer is a probe: if it
is taken, the breaker closes.
"""

from enum import StrEnum

from moot.core.fsm import machine


class State(StrEnum):
    IDLE = "IDLE"
    RESERVED = "RESERVED"
    RUNNING = "RUNNING"
    ERROR = "ERROR"
    BREAKER_OPEN = "BREAKER_OPEN"


class Trigger(StrEnum):
    DISPATCH_ACK = "dispatch_ack"
    TASK_EXECUTION_STARTED = "task_execution_started"
    AGENT_STEP_COMPLETED = "agent_step_completed"
    TASK_EXECUTION_SUCCESS = "task_execution_result:success"
    TASK_EXECUTION_FAILURE = "task_execution_result:failure"
    RECOVER_OR_RESET = "recover_or_reset"
    RELEASED = "released"
    DISPATCH_FAILURES_EXCEEDED = "dispatch_failures_exceeded"


S, T = State, Trigger

AGENT = machine(
    "agent",
    initial=S.IDLE,
    rows=[
        (S.IDLE, T.DISPATCH_ACK, S.RESERVED),
        (S.RESERVED, T.TASK_EXECUTION_STARTED, S.RUNNING),
        (S.RUNNING, T.AGENT_STEP_COMPLETED, S.RUNNING),
        (S.RUNNING, T.TASK_EXECUTION_SUCCESS, S.IDLE),
        (S.RUNNING, T.TASK_EXECUTION_FAILURE, S.ERROR),
        (S.ERROR, T.RECOVER_OR_RESET, S.IDLE),
    ],
    extensions=[
        (S.RESERVED, T.RELEASED, S.IDLE),
        (S.RUNNING, T.RELEASED, S.IDLE),
        (S.IDLE, T.DISPATCH_FAILURES_EXCEEDED, S.BREAKER_OPEN),
        (S.BREAKER_OPEN, T.DISPATCH_ACK, S.RESERVED),
    ],
)


def offer(slot: State) -> State:
    """A task is offered. A slot that failed before is reset."""
    return AGENT.walk(slot, {S.ERROR: (T.RECOVER_OR_RESET,)})


def take(slot: State) -> State:
    """The offer is taken; this closes a breaker."""
    return AGENT.advance(slot, T.DISPATCH_ACK)


def start(slot: State) -> State:
    return AGENT.advance(slot, T.TASK_EXECUTION_STARTED)


def step(slot: State) -> State:
    return AGENT.advance(slot, T.AGENT_STEP_COMPLETED)


def succeed(slot: State) -> State:
    return AGENT.advance(slot, T.TASK_EXECUTION_SUCCESS)


def fail(slot: State) -> State:
    return AGENT.advance(slot, T.TASK_EXECUTION_FAILURE)


def release(slot: State) -> State:
    """The task is taken away, or its worker is gone. A slot that was only offered something stays as it is."""
    return AGENT.walk(slot, {S.RESERVED: (T.RELEASED,), S.RUNNING: (T.RELEASED,)})


def open_breaker(slot: State) -> State:
    """The member did not take its offers. Slots that run a task finish it."""
    return AGENT.walk(slot, {S.IDLE: (T.DISPATCH_FAILURES_EXCEEDED,)})
