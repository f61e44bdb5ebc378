"""One slot of an AI member (seed 002 §6).

Extensions: a reservation may be given back, and five dispatch failures in a row open the breaker; the next offer,
after the base delay, is the probe: an ack closes the breaker.
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
        (S.IDLE, T.DISPATCH_FAILURES_EXCEEDED, S.BREAKER_OPEN),
        (S.BREAKER_OPEN, T.DISPATCH_ACK, S.RESERVED),
    ],
)
