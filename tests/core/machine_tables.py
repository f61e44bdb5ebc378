"""The transitions of every machine, written by hand from its diagram: `state --> target: triggers`.

Names: what stands in parentheses is dropped, `success=false` becomes `:failure`, `a / b`, `a/b` and
`a | b` are separate triggers. The diagrams of workflow, session and connection name no triggers: these names are ours.
"""

SESSION = """
paused --> active: human_input / route_to_ai
active --> paused: route_to_human / fallback
active --> active: ai_chained
paused --> completed: end / human_done
active --> completed: stop
"""

INPUT_ROUTING = """
IDLE --> SEMANTIC_UNDERSTANDING: user_input_received
SEMANTIC_UNDERSTANDING --> ROUTING_DECISION: intent_analyzed
SEMANTIC_UNDERSTANDING --> SEMANTIC_UNDERSTANDING: need_clarification
ROUTING_DECISION --> CONTINUE_EXECUTION: same_task_no_change
ROUTING_DECISION --> MINOR_REPLAN: same_task_minor_change
ROUTING_DECISION --> FULL_REPLAN: same_task_major_change
ROUTING_DECISION --> NEW_TASK: different_task
ROUTING_DECISION --> CONTROL_ACTION: control_instruction
ROUTING_DECISION --> WAIT_USER_DECISION: confidence_too_low | requires_confirmation
MINOR_REPLAN --> EXECUTION: patches_applied
FULL_REPLAN --> PLAN_LOOP: user_confirmed
FULL_REPLAN --> EXECUTION: user_rejected_continue_anyway
NEW_TASK --> IDLE: current_task_closed
NEW_TASK --> PLAN_LOOP: new_task_started
CONTROL_ACTION --> IDLE: action_completed
WAIT_USER_DECISION --> FULL_REPLAN: user_choose_replan
WAIT_USER_DECISION --> CONTINUE_EXECUTION: user_choose_continue
WAIT_USER_DECISION --> NEW_TASK: user_choose_new_task
WAIT_USER_DECISION --> IDLE: user_abort
EXECUTION --> EXECUTION: normal_iteration
EXECUTION --> SEMANTIC_UNDERSTANDING: new_user_input
EXECUTION --> FULL_REPLAN: major_failure_or_change
PLAN_LOOP --> EXECUTION: plan_approved
EXECUTION --> COMPLETED: all_done
EXECUTION --> FAILED: unrecoverable
"""

WORKFLOW = """
PLAN_LOOP --> EXECUTION: plan_approved
PLAN_LOOP --> WAIT_USER_DECISION: plan_needs_user_confirmation
EXECUTION --> EXECUTION: normal_iteration
EXECUTION --> REPLAN_EVALUATION: major_failure / major_change
REPLAN_EVALUATION --> PLAN_LOOP: replan_required
REPLAN_EVALUATION --> EXECUTION: replan_not_required
REPLAN_EVALUATION --> WAIT_USER_DECISION: user_decision_required
WAIT_USER_DECISION --> PLAN_LOOP: user_choose_replan
WAIT_USER_DECISION --> EXECUTION: user_choose_continue
WAIT_USER_DECISION --> FAILED: user_abort
EXECUTION --> COMPLETED: all_done_and_review_passed
EXECUTION --> FAILED: unrecoverable_failure
"""

TASK = """
CREATED --> READY: deps_satisfied
READY --> DISPATCHING: orchestrator_dispatch
DISPATCHING --> DISPATCH_FAILED: dispatch_nack / timeout / no_resource
DISPATCHING --> DISPATCHED: dispatch_ack
DISPATCHED --> RUNNING: task_execution_started
RUNNING --> RUNNING: task_progress
RUNNING --> EXECUTION_FAILED: task_execution_result:failure
RUNNING --> EXECUTION_SUCCEEDED: task_execution_result:success
EXECUTION_SUCCEEDED --> REVIEWING: review_requested
REVIEWING --> DONE: review_pass
REVIEWING --> REWORK_REQUIRED: review_reject
REWORK_REQUIRED --> READY: replan_or_retry
DISPATCH_FAILED --> BLOCKED: unrecoverable_resource_missing
DISPATCH_FAILED --> READY: recoverable_retry
EXECUTION_FAILED --> READY: retry_or_reassign
"""

AGENT = """
IDLE --> RESERVED: dispatch_ack
RESERVED --> RUNNING: task_execution_started
RUNNING --> RUNNING: agent_step_completed
RUNNING --> IDLE: task_execution_result:success
RUNNING --> ERROR: task_execution_result:failure
ERROR --> IDLE: recover_or_reset
"""

INTERRUPT = """
EXECUTION --> PAUSING: esc/pause_button
PAUSING --> PAUSED: checkpoint_saved
PAUSED --> UNDERSTANDING_NEW_INPUT: new_user_input
UNDERSTANDING_NEW_INPUT --> RELATION_CHECK: task_understanding_ready
RELATION_CHECK --> RESUME_READY: same_task_no_major_change
RELATION_CHECK --> MINOR_REPLAN: same_task_minor_change
RELATION_CHECK --> WAIT_USER_DECISION: same_task_major_change
RELATION_CHECK --> WAIT_USER_DECISION: different_task
RESUME_READY --> EXECUTION: resume_execution
MINOR_REPLAN --> EXECUTION: patch_plan_applied
WAIT_USER_DECISION --> PLAN_LOOP: full_replan
WAIT_USER_DECISION --> EXECUTION: continue_current/minor_replan
WAIT_USER_DECISION --> NEW_TASK_INIT: close_and_new_task
"""

CONNECTION = """
DISCONNECTED --> CONNECTING: connect
CONNECTING --> CONNECTED: connect_ok
CONNECTING --> RECONNECTING: connect_failed
CONNECTED --> RECONNECTING: link_lost
RECONNECTING --> CONNECTED: reconnect_ok
RECONNECTING --> DISCONNECTED: reconnect_timeout
"""

DIAGRAMS = {
    "session": SESSION,
    "input_routing": INPUT_ROUTING,
    "workflow": WORKFLOW,
    "task": TASK,
    "agent": AGENT,
    "interrupt": INTERRUPT,
    "connection": CONNECTION,
}

# what the diagrams leave open; those of the session also hold when it was paused already
EXTENSIONS = {
    "session": "paused --> paused: route_to_human / fallback",
    "input_routing": """
CONTINUE_EXECUTION --> EXECUTION: resumed
CONTROL_ACTION --> EXECUTION: returned_to_execution
CONTROL_ACTION --> PLAN_LOOP: returned_to_plan
PLAN_LOOP --> SEMANTIC_UNDERSTANDING: new_user_input
WAIT_USER_DECISION --> SEMANTIC_UNDERSTANDING: new_user_input
PLAN_LOOP --> IDLE: cancelled
EXECUTION --> IDLE: cancelled
COMPLETED --> SEMANTIC_UNDERSTANDING: user_input_received
FAILED --> SEMANTIC_UNDERSTANDING: user_input_received
""",
    "workflow": """
PLAN_LOOP --> FAILED: user_abort
EXECUTION --> FAILED: user_abort
REPLAN_EVALUATION --> FAILED: user_abort
""",
    "task": """
DISPATCHED --> READY: lease_expired
RUNNING --> READY: lease_expired
DISPATCHED --> DISPATCH_FAILED: start_timeout
DISPATCH_FAILED --> BLOCKED: retries_exhausted
EXECUTION_FAILED --> BLOCKED: retries_exhausted
REWORK_REQUIRED --> BLOCKED: retries_exhausted
EXECUTION_SUCCEEDED --> DONE: review_off
READY --> CREATED: deps_added
CREATED --> CANCELLED: cancelled
READY --> CANCELLED: cancelled
DISPATCHING --> CANCELLED: cancelled
DISPATCH_FAILED --> CANCELLED: cancelled
DISPATCHED --> CANCELLED: cancelled
RUNNING --> CANCELLED: cancelled
EXECUTION_FAILED --> CANCELLED: cancelled
EXECUTION_SUCCEEDED --> CANCELLED: cancelled
REVIEWING --> CANCELLED: cancelled
REWORK_REQUIRED --> CANCELLED: cancelled
""",
    "agent": """
RESERVED --> IDLE: released
RUNNING --> IDLE: released
IDLE --> BREAKER_OPEN: dispatch_failures_exceeded
BREAKER_OPEN --> RESERVED: dispatch_ack
""",
    "interrupt": "PAUSED --> EXECUTION: resume",
    "connection": "",
}
