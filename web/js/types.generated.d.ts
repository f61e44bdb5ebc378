// Made by `make docs` from the structs that cross the wire: commands, the metadata of frames, the view, and
// the answers of REST. Edit those, not this file.

declare namespace Wire {
  /** The fields of each command. */
  interface Commands {
    "user.create_session": { team?: string; title?: string };
    "user.reconnect": { session_id: string };
    "user.reconnect_with_state": { session_id: string; last_seq?: number; last_event_id?: string; state_checksum?: string; signed_state?: string };
    "user.request_state": { session_id: string };
    "user.ack": { last_seq?: number; last_event_id?: string };
    "user.set_language": { language?: "en" | "zh"; content?: string };
    "user.watch": { what?: "sessions"; on?: boolean; content?: string };
    "user.message": { text?: string; to?: Array<string>; inputs?: Record<string, any>; step_id?: string; attachments?: Array<FileRef>; interrupt?: boolean; content?: string };
    "user.response": { step_id: string; confirmed?: boolean; choice?: string; answer?: string; tasks?: Array<Task>; selected_ids?: Array<string>; custom_input?: string; state?: Record<string, any>; approved?: boolean; content?: any[] };
    "user.cancel": {};
    "user.stop": {};
    "user.pause": { trigger?: "esc" | "pause_button" };
    "user.resume": {};
    "user.retry": {};
    "user.queue": { action?: "clear" | "move" | "skip"; member?: string; to?: number; content?: string };
    "user.end": {};
    "user.rename": { title?: string; content?: string };
    "user.take": { how?: "apply" | "discard" | "keep" | "merge"; content?: string };
    "user.undo": { turn_id?: string; task_id?: string | number };
    "user.comment": { commit: string; path: string; lines: [number, number]; text?: string; hunk?: string; is_last?: boolean; content?: string };
    "user.solve_tasks": { tasks?: Array<Task>; question?: string; content?: string | any[] };
    "user.cancel_task": { task_id?: string | number; content?: string };
    "user.restart_task": { task_id?: string | number; member?: string; content?: string };
    "user.cancel_plan": {};
    "user.replan": { feedback?: string; content?: string };
  }

  /** The metadata of each frame. */
  interface Metadata {
    "agent.session_created": SessionCreated;
    "session.budget_counted": BudgetCounted;
    "message.posted": MessagePosted;
    "session.team_task_set": TeamTaskSet;
    "session.language_changed": LanguageChanged;
    "session.renamed": SessionRenamed;
    "understanding.started": UnderstandingStarted;
    "understanding.completed": UnderstandingCompleted;
    "routing.decided": RoutingDecided;
    "workflow.deferred": InputDeferred;
    "turn.started": TurnStarted;
    "turn.step": TurnStepped;
    "turn.completed": TurnCompleted;
    "turn.failed": TurnFailed;
    "turn.cancelled": TurnCancelled;
    "turn.spent": TurnSpent;
    "session.activated": SessionActivated;
    "session.pause_requested": PauseRequested;
    "session.paused": SessionPaused;
    "session.completed": SessionCompleted;
    "notice.posted": NoticePosted;
    "agent.user_confirm": StepAsked;
    "agent.user_confirm_closed": StepClosed;
    "permission.granted": PermissionGranted;
    "permission.revoked": PermissionRevoked;
    "member.asked": MemberAsked;
    "member.answered": MemberAnswered;
    "member.awaits_answer": AnswerAwaited;
    "turn.handed_over": HandedOver;
    "turn.blocked": BlockReported;
    "turn.file_shown": FileShown;
    "turn.parked": TurnParked;
    "turn.unparked": TurnUnparked;
    "turn.message": MessageOffered;
    "turn.message_delivered": MessageDelivered;
    "workspace.opened": WorkspaceOpened;
    "workspace.changed": WorkspaceChanged;
    "workspace.checked": WorkspaceChecked;
    "workspace.queued": WorkspaceQueued;
    "workspace.merged": WorkspaceMerged;
    "workspace.conflicted": WorkspaceConflicted;
    "workspace.resolved": WorkspaceResolved;
    "workspace.take_requested": TakeRequested;
    "workspace.taken": WorkspaceTaken;
    "workspace.undo_requested": UndoRequested;
    "workspace.reverted": WorkspaceReverted;
    "workspace.failed": WorkspaceFailed;
    "workspace.removed": WorkspaceRemoved;
    "workspace.commented": LinesCommented;
    "workspace.comments_sent": CommentsSent;
    "queue.changed": QueueChanged;
    "supervisor.started": SupervisionStarted;
    "supervisor.input_noted": InputNoted;
    "supervisor.decided": SupervisorDecided;
    "supervisor.undecided": SupervisorUndecided;
    "supervisor.state_updated": StateUpdated;
    "supervisor.tools_called": ToolsCalled;
    "supervisor.tool_completed": ToolCompleted;
    "supervisor.reviewed": Reviewed;
    "supervisor.ended": SupervisionEnded;
    "plan.start": PlanStarted;
    "plan.step_completed": PlanStepped;
    "workflow.plan_refused": PlanRefused;
    "plan.completed": PlanCompleted;
    "plan.reviewed": PlanReviewed;
    "workflow.plan_approved": PlanApproved;
    "plan.cancelled": PlanCancelled;
    "workflow.changed": WorkflowChanged;
    "workflow.evaluation_started": EvaluationStarted;
    "workflow.evaluated": PlanEvaluated;
    "workflow.goal_changed": GoalChanged;
    "workflow.change_requested": ChangeRequested;
    "workflow.snapshot_saved": SnapshotSaved;
    "workflow.patched": PlanPatched;
    "task.dispatch_requested": DispatchRequested;
    "task.dispatch_acked": DispatchAcked;
    "task.dispatch_nacked": DispatchNacked;
    "solver.start": SolverStarted;
    "solver.progress": SolverProgressed;
    "solver.completed": SolverCompleted;
    "solver.cancelled": SolverCancelled;
    "solver.restarted": SolverRestarted;
    "task.failed": TaskFailed;
    "task.lease_expired": LeaseExpired;
    "task.reviewed": TaskReviewed;
    "task.takes_turns": TasksTakeTurns;
    "task.sent_back": TaskSentBack;
    "task.blocked": TaskBlocked;
    "task.skipped": TaskSkipped;
    "error.execution": ExecutionFailed;
    "error.recovery_started": RecoveryStarted;
    "error.recovery_success": RecoverySucceeded;
    "error.recovery_failed": RecoveryFailed;
    "aggregate.start": AggregateStarted;
    "aggregate.completed": AggregateCompleted;
    "aggregate.reviewed": AggregateReviewed;
    "pipeline.completed": PipelineCompleted;
    "agent.final_answer": FinalAnswered;
    "agent.interrupted": Interrupted;
    "member.unavailable": MemberUnavailable;
    "member.probed": MemberProbed;
    "task.retry_due": WaitEnded;
    "system.connected": Greeting | Resumed;
    "system.accepted": Accepted;
    "system.error": Problem;
    "agent.error": Problem;
    "system.heartbeat": Heartbeat;
    "agent.state_exported": StateExported;
    "agent.state_restored": StateRestored;
    "turn.delta": TurnDelta;
    "solver.delta": SolverDelta;
    "turn.thinking": TurnThinking;
    "session.view": ViewChanged;
    "system.sessions": SessionsChanged;
  }

  /** `system.accepted`: a command is durable; `seq` is the head after it. */
  interface Accepted {
    command_id: string;
    seq: number;
  }

  /** Whom a message of a chat gives the floor to. `member` is set where the type implies one. */
  interface Addressing {
    type: "send_to_ai" | "wait_for_human" | "continue_queue" | "error_unresolved";
    member?: string;
    addressees?: Array<string>;
    available_members?: Array<string>;
  }

  interface AggregateCompleted {
    text: string;
    member?: string;
  }

  /** The reviewer looked at the answer. `n` counts the reviews of answers from the same results. */
  interface AggregateReviewed {
    pass: boolean;
    feedback: string;
    n: number;
    member?: string;
    turn_id?: string;
    is_reworked?: boolean;
  }

  /** The results become one answer. `n` is 2 when the reviewer sent the first answer back. */
  interface AggregateStarted {
    member?: string;
    n?: number;
  }

  /** A member was told to end its turn: nobody has answered its question yet, and the answer will come later. */
  interface AnswerAwaited {
    question_id: string;
    turn_id: string;
    member: string;
  }

  /** A file. `name` is what people called it: it is shown, and never names a place on a disk. */
  interface Attachment {
    sha256: string;
    name: string;
    media_type: string;
    size: number;
  }

  /** A member said that it cannot do its work. Its turn fails when it ends. */
  interface BlockReported {
    turn_id: string;
    member: string;
    reason: string;
  }

  /** What waits for an answer: the turn of a member, a task, or all of the session; `name` is whose or which. */
  interface Blocked {
    kind: "session" | "task" | "turn";
    name: string;
  }

  /** 0 = off. At a limit the session pauses and asks; going on grants the same amount again. */
  interface Budget {
    max_tokens: number;
    max_cost_usd: number;
    max_turns: number;
    per: "day" | "session" | "week";
    scope: "session" | "team";
  }

  /** What is counted against budgets of a period or of several sessions, when it has changed. `day` is today's. Budgets whose period ended before begin anew. `elsewhere`: what other sessions of the team have spent in the period of the team's budget. */
  interface BudgetCounted {
    day: string;
    elsewhere?: Spent;
  }

  /** A small change that the planner is to turn into patches. */
  interface ChangeRequested {
    text: string;
    member: string;
  }

  interface ChatSettings {
    max_hops: number;
    history: number;
    turn_timeout_s: number;
    default: string;
    mentions: "everyone" | "humans" | "off";
  }

  /** How a check command ended; the log has its output. */
  interface CheckRow {
    command: string;
    exit: number;
  }

  /** A decision, or a turn of the supervisor without one (`fault`). `number` counts them from the job's beginning. */
  interface Choice {
    number: number;
    next: string;
    member: string | null;
    guidance: string;
    focus_areas: Array<string>;
    corrected_from: string | null;
    correction: string | null;
    fault: string;
    given: string;
  }

  /** The comments that were kept are sent, by the message that follows; or they are dropped. */
  interface CommentsSent {
    count: number;
    is_dropped?: boolean;
    member?: string;
  }

  /** What must hold for a key of the shared state. */
  interface Condition {
    key: string;
    is?: "non_blank" | "non_empty" | "present" | boolean;
  }

  interface ContextDependency {
    needs_current_task_context: boolean;
    needs_execution_history: boolean;
    needs_resource_status: boolean;
    referenced_entities: Array<string>;
  }

  /** Since the session began. */
  interface Counters {
    messages: number;
    turns: number;
    failed_turns: number;
    tokens: number;
    cost_usd: number;
  }

  /** Holds when each entry of the list `items` has an entry in `by`: a list as long, or a mapping by the items' id. */
  interface Coverage {
    items: string;
    by: string;
  }

  /** An event at which a scene begins while members are at work; with `task_id` it must be about that task. */
  interface Cue {
    event: string;
    task_id: string;
  }

  /** A decision of the supervisor. `next_agent` is an agent of the team or END. */
  interface Decision {
    next_agent: string;
    guidance: string;
    context_from_previous: string;
    focus_areas: Array<string>;
  }

  /** Another goal, for when the current work is over. */
  interface DeferredInput {
    text: string;
    member: string;
  }

  /** The result of a job. */
  interface Deliverable {
    body: string;
    title?: string;
    tags?: Array<string>;
    pictures?: Array<Picture>;
  }

  interface Deltas {
    goal_similarity: number;
    scope_delta: "major" | "minor" | "none";
    constraint_delta: "major" | "minor" | "none";
    deliverable_delta: "major" | "minor" | "none";
    resource_impact: "major" | "minor" | "none";
    timeline_impact: "major" | "minor" | "none";
  }

  /** A demo of a team on offer. */
  interface DemoDocument {
    team: string;
    flow: string;
    scenes: Array<SceneDocument>;
  }

  /** `place`: where it stood, when it was taken, in the line of all sessions' tasks that wait for room to run. */
  interface DispatchAcked {
    task_id: string;
    agent_id: string;
    dispatch_id: string;
    member: string;
    to: "CREATED" | "READY" | "DISPATCHING" | "DISPATCH_FAILED" | "DISPATCHED" | "RUNNING" | "EXECUTION_FAILED" | "EXECUTION_SUCCEEDED" | "REVIEWING" | "REWORK_REQUIRED" | "DONE" | "BLOCKED" | "CANCELLED";
    place?: number;
  }

  /** `retry_in_s` is None when the task is not offered again. */
  interface DispatchNacked {
    task_id: string;
    agent_id: string;
    dispatch_id: string;
    member: string;
    reason: string;
    to: "CREATED" | "READY" | "DISPATCHING" | "DISPATCH_FAILED" | "DISPATCHED" | "RUNNING" | "EXECUTION_FAILED" | "EXECUTION_SUCCEEDED" | "REVIEWING" | "REWORK_REQUIRED" | "DONE" | "BLOCKED" | "CANCELLED";
    retry_in_s?: number;
    retry_at?: string;
  }

  /** `index` and `task_index`: how many turns the member had before, in all and for this task. */
  interface DispatchRequested {
    task_id: string;
    agent_id: string;
    dispatch_id: string;
    member: string;
    attempt: number;
    to: "CREATED" | "READY" | "DISPATCHING" | "DISPATCH_FAILED" | "DISPATCHED" | "RUNNING" | "EXECUTION_FAILED" | "EXECUTION_SUCCEEDED" | "REVIEWING" | "REWORK_REQUIRED" | "DONE" | "BLOCKED" | "CANCELLED";
    index?: number;
    task_index?: number;
    is_again?: boolean;
    place?: string;
    tree?: string;
    offered_at?: string;
    seq?: number;
  }

  /** Where the state says that the review approved, and whether the quality must be approved too. */
  interface EndReview {
    approved: string;
    quality?: boolean;
  }

  /** When the work may end: all of `requires`, and the review, if there was one, approved. */
  interface EndRule {
    requires?: Array<Condition>;
    review?: EndReview;
  }

  /** The planner is asked whether the plan still holds, after a failure (`task_id`) or a large change (`input`). */
  interface EvaluationStarted {
    member: string;
    task_id?: string;
    input?: Input;
    code?: string;
    error_type?: string;
    detail?: string;
  }

  /** A situation and the decision that would be good in it. */
  interface Example {
    situation: string;
    decision: Record<string, any>;
  }

  /** Once per failure episode. `task_id` is None for a planner's or an aggregator's turn (`job`). */
  interface ExecutionFailed {
    task_id: string | null;
    error_type: string;
    recoverable: boolean;
    suggested_action: string;
    message?: string;
    job?: string;
  }

  /** A file that a change touches. `was` is its name before, if it was renamed; a binary file has no lines. */
  interface FileChange {
    path: string;
    status: "added" | "deleted" | "modified" | "renamed";
    added: number;
    removed: number;
    was?: string;
    is_binary?: boolean;
  }

  /** How a message names a file that was uploaded to its session. `name` is what people are to read. */
  interface FileRef {
    sha256: string;
    name?: string;
  }

  /** A member showed people a file of its folder. `path` is relative to that folder. */
  interface FileShown {
    turn_id: string;
    member: string;
    path: string;
    file: Attachment;
    caption?: string;
  }

  /** The answer, as a message of the conversation. */
  interface FinalAnswered {
    text: string;
    member: string;
  }

  /** A large change gave the work another goal; the plan that follows is for the new one. */
  interface GoalChanged {
    question: string;
    was: string;
    member: string;
  }

  /** `pattern` is a command, or `*` for any use of the tool. `allowed` is false for a no that lasts. */
  interface Grant {
    tool: string;
    pattern?: string;
    allowed?: boolean;
  }

  /** What people decided for the rest of the session about a member. `number` revokes it: `/permissions revoke 1`. */
  interface GrantRow {
    number: number;
    member: string;
    tool: string;
    pattern: string;
    allowed: boolean;
  }

  /** `system.connected` without a session: the connection is up. */
  interface Greeting {
    connection_id: string;
    server_version: string;
    protocol: number;
    heartbeat_s: number;
    limits: Limits;
  }

  /** A member named who speaks after its turn. It counts like `[NEXT:]` when the turn is completed. */
  interface HandedOver {
    turn_id: string;
    member: string;
    to: string;
    reason?: string;
  }

  /** `system.heartbeat`: the connection is alive. */
  interface Heartbeat {
  }

  /** What waits for you, oldest first. */
  interface InboxDocument {
    items: Array<InboxItem>;
  }

  /** An open question, or a floor that waits for a human: those have no `step_id`, `question` and `options`. `blocks` is null if everything else goes on meanwhile. */
  interface InboxItem {
    session_id: string;
    title: string;
    kind: "failed" | "finished" | "paused" | "permission" | "plan" | "question" | "your_turn";
    step_id: string | null;
    question: string | null;
    options: Array<Option>;
    blocks: Blocked | null;
    since: string;
  }

  /** A human input that has to be understood. `asked` counts the questions about it so far. `goal` is what the person wants in the words of a model that understood the input; empty if no model did. */
  interface Input {
    input_id: string;
    member: string;
    text: string;
    asked?: number;
    goal?: string;
    attachments?: Array<Attachment>;
  }

  /** Another goal was put off until the current work is over. */
  interface InputDeferred {
    text: string;
    member: string;
  }

  /** A human said something about the running job. The supervisor gets it for its next decision. */
  interface InputNoted {
    member: string;
    text: string;
  }

  /** The meaning of an input. `clarification` is a question that must be answered first, or empty. */
  interface IntentAnalysis {
    normalized_intent: NormalizedIntent;
    task_relation: TaskRelation;
    context_dependency: ContextDependency;
    suggested_route: SuggestedRoute;
    assessment: TaskRelationAssessment | null;
    control_action: "cancel" | "pause" | "resume" | "status_query" | null;
    plan_patches: Array<PlanPatch>;
    clarification: string;
  }

  /** All work was stopped. */
  interface Interrupted {
    reason: string;
  }

  /** One job from its goal to its end. `state` is what the agents share; `writers` says who wrote a key last. */
  interface Job {
    goal: string;
    asked_by: string;
    acting: string;
    steps: number;
    choices: Array<Choice>;
    unusable_in_a_row: number;
    state: Record<string, any>;
    writers: Record<string, string>;
    tools: Array<ToolRun>;
    review: Review | null;
    outcome: string;
    reason: string;
    deliverable: Deliverable | null;
  }

  /** The language of the session changed. */
  interface LanguageChanged {
    language: "en" | "zh";
  }

  /** The start of the last message, on one line; `by` is the display name of its author. */
  interface LastLine {
    by: string;
    text: string;
  }

  /** The newest input and its analysis. `relation` and `route` are empty until they are known. */
  interface LatestInput {
    input_id: string;
    member: string;
    text: string;
    relation: string;
    confidence: number;
    reasoning: string;
    route: string;
  }

  /** The worker of a task is gone; the task is offered again. */
  interface LeaseExpired {
    task_id: string;
    dispatch_id: string;
    member: string;
    reason: string;
    to: "CREATED" | "READY" | "DISPATCHING" | "DISPATCH_FAILED" | "DISPATCHED" | "RUNNING" | "EXECUTION_FAILED" | "EXECUTION_SUCCEEDED" | "REVIEWING" | "REWORK_REQUIRED" | "DONE" | "BLOCKED" | "CANCELLED";
  }

  /** The limits of a connection; the defaults are those of our own server. */
  interface Limits {
    frame_bytes: number;
    messages_per_s: number;
    message_burst: number;
    lag_events: number;
  }

  /** A comment on lines that waits to be sent together with others. */
  interface LineComment {
    commit: string;
    path: string;
    lines: [number, number];
    text: string;
    hunk: string;
    to: string;
  }

  /** How much a tree, or the work as a whole, differs from what it started from. */
  interface LineCounts {
    files?: number;
    added?: number;
    removed?: number;
  }

  /** A person commented on lines of a change. The message that follows quotes them. */
  interface LinesCommented {
    commit: string;
    path: string;
    lines: [number, number];
    text: string;
    hunk?: string;
    member?: string;
    to?: string;
    is_last?: boolean;
  }

  interface MachineDocument {
    name: string;
    initial: string;
    final: Array<string>;
    states: Array<string>;
    transitions: Array<Transition>;
  }

  /** A human or an AI. `member()` makes one with defaults. */
  interface Member {
    id: string;
    kind: "human" | "ai";
    name: string;
    display_name: string;
    order: number;
    role?: string;
    concurrency?: number;
    budget?: Budget;
    purpose?: string;
    capabilities?: Array<string>;
    fallback?: Array<string>;
    edits?: boolean;
  }

  /** A team-mate's question was answered, or could not be (`error_type`). */
  interface MemberAnswered {
    question_id: string;
    member: string;
    to: string;
    answer: string;
    error_type?: string;
    turn_id?: string;
  }

  /** A member asked a team-mate something in the middle of its turn. */
  interface MemberAsked {
    question_id: string;
    turn_id: string;
    member: string;
    to: string;
    question: string;
  }

  /** The delay is over: the next offer is the probe. */
  interface MemberProbed {
    member: string;
  }

  /** The breaker is open: it did not take `failures` dispatches in a row. */
  interface MemberUnavailable {
    member: string;
    failures: number;
    retry_in_s: number;
    retry_at?: string;
  }

  /** How a message reached a member whose turn ran when it was written. */
  interface MessageDelivered {
    turn_id: string;
    member: string;
    number: number;
    how: "boundary" | "next_turn" | "now" | "routed";
  }

  /** A person wrote to a member whose turn runs: its agent is given the message there, if it can take one. `is_queued`: the message put the member into the queue, in case it cannot. `is_kept`: then the member's next turn begins with it. */
  interface MessageOffered {
    turn_id: string;
    member: string;
    number: number;
    by: string;
    text: string;
    is_queued?: boolean;
    is_kept?: boolean;
    attachments?: Array<Attachment>;
  }

  /** A member wrote a message. `raw` is the original, if markers were removed from it to get `text`. `to` are the members it was addressed to, by a marker, a mention or the team's default. `has_decision`: the text contains JSON that Moot acts on (a decision, state, tool calls), which people do not see. */
  interface MessagePosted {
    member: string;
    text: string;
    raw?: string;
    turn_id?: string;
    has_decision?: boolean;
    to?: Array<string>;
    attachments?: Array<Attachment>;
  }

  /** Something that a value lacks: the path into the state and what is expected there. `is_missing`: nothing is. */
  interface Misfit {
    path: string;
    expected: "boolean" | "filled" | "list" | "no_state" | "number" | "object" | "score" | "text";
    is_missing?: boolean;
  }

  interface NormalizedIntent {
    goal: string;
    action: "cancel" | "clarify" | "continue" | "create" | "modify" | "query";
    scope: "full_task" | "meta_control" | "partial_task";
    urgency: "high" | "low" | "medium";
  }

  /** A message for people: a code of the text catalogue and the parameters of its template. */
  interface NoticePosted {
    code: string;
    names?: Array<string>;
    available?: Array<string>;
    who?: string;
    detail?: string;
    limit?: number;
    minutes?: number;
    count?: number;
  }

  interface Option {
    id: string;
    label: string;
    description?: string;
  }

  /** A turn or task that waits: until a usage limit is over, or for the answer to a question (`until` is null). */
  interface ParkedTurn {
    turn_id: string;
    member: string;
    until: string | null;
    reason: string;
    message: string;
  }

  /** A pause was requested while turns run: they finish, then the session pauses. */
  interface PauseRequested {
    member: string | null;
    trigger?: "esc" | "pause_button";
  }

  interface Payload {
    plan_patches: Array<PlanPatch>;
    control_action: "cancel" | "pause" | "resume" | "status_query" | null;
    new_task_justification: string | null;
    replan_trigger: string | null;
  }

  /** People decided what a member may do for the rest of the session. `pattern` is a command, or `*` for any use of the tool. `allowed` is false for a no. */
  interface PermissionGranted {
    member: string;
    tool: string;
    pattern: string;
    allowed?: boolean;
    by?: string;
  }

  /** What people had decided about a member for the rest of the session holds no longer: it asks again. */
  interface PermissionRevoked {
    member: string;
    tool: string;
    pattern: string;
    by?: string;
  }

  /** A picture that a tool made. `src` is a data: or https: address; a placeholder stands for a picture to be made. */
  interface Picture {
    asset_id: string;
    src?: string;
    caption?: string;
    is_placeholder?: boolean;
  }

  /** The work is over, with all of its tasks or with some. */
  interface PipelineCompleted {
    status: "complete" | "partial";
    missing?: Array<string>;
    is_rejected?: boolean;
  }

  /** These tasks run and no others. */
  interface PlanApproved {
    tasks: Array<Record<string, any>>;
    plan_hash: string;
    plan_id?: string;
    by?: string;
    kept?: Array<string>;
    ready?: Array<string>;
  }

  /** Nothing of the plan runs any more. */
  interface PlanCancelled {
    reason: "failed" | "invalid_plan" | "timeout" | "user_cancel" | "user_reject";
  }

  /** `kept`: tasks that an earlier plan finished and that need not run again. */
  interface PlanCompleted {
    tasks: Array<Record<string, any>>;
    plan_summary: string;
    plan_id?: string;
    plan_hash?: string;
    kept?: Array<string>;
    member?: string;
  }

  /** What the planner thinks of its plan: plan again, go on without the task or the change, ask people, or give up. */
  interface PlanEvaluated {
    decision: "abort" | "ask" | "continue" | "replan";
    reason: string;
    member: string;
    task_id?: string;
  }

  /** A change to a plan that is under way: `changes` are fields of the task, or `{after: id | null}` to reorder. */
  interface PlanPatch {
    op: "add" | "modify" | "remove" | "reorder";
    task_id: string;
    changes: Record<string, any>;
  }

  /** A plan that runs was changed a little: how, and what it is now. */
  interface PlanPatched {
    patches: Array<PlanPatch>;
    tasks: Array<Record<string, any>>;
    ready?: Array<string>;
  }

  /** What the planner returned cannot be run. */
  interface PlanRefused {
    problems: Array<string>;
    n: number;
  }

  /** The reviewer looked at a plan before people are asked about it. `n` counts the reviews since planning began. */
  interface PlanReviewed {
    pass: boolean;
    feedback: string;
    n: number;
    plan_id?: string;
    member?: string;
    turn_id?: string;
    is_reworked?: boolean;
  }

  /** How plans are confirmed, run and retried. */
  interface PlanSettings {
    confirm: "always" | "never";
    confirm_timeout_s: number;
    max_parallel: number;
    dispatch_timeout_s: number;
    turn_timeout_s: number;
    retry: Retry;
    review: boolean;
    final_review: boolean;
    max_rework: number;
  }

  /** Planning begins; again with `feedback` when the planner is to do better, with `snapshot_id` on a replan. Without a `member` nobody plans: the plan that nobody confirmed in time is shown again. */
  interface PlanStarted {
    question: string;
    plan_id?: string;
    feedback?: string;
    snapshot_id?: string;
    member?: string;
  }

  /** One for each step of the planner; `step` is the text, the three at the end say what it was. */
  interface PlanStepped {
    step: string;
    n: number;
    member?: string;
    turn_id?: string;
    thought?: string;
    action?: string;
    observation?: string;
    tool?: ToolUse;
    diff?: string;
  }

  /** What plays an AI member, as its team file says. */
  interface Player {
    member: string;
    agent: string;
    model: string;
    permissions: string;
    tools: Array<string>;
    instructions: string;
  }

  /** `system.error` and `agent.error`; `content` is a sentence for people. `problems` lists the faults of a plan, each as `path: what is wrong`. */
  interface Problem {
    code: string;
    retryable?: boolean;
    command_id?: string;
    by?: string;
    problems?: Array<string>;
  }

  interface ProblemsDocument {
    problems: Array<SourceProblem>;
  }

  /** Where a session was started: its team file, as an absolute path or a built-in team's name, and the file's folder. It is remembered beside the log and is no part of it: a copy of a session on another machine has another one. */
  interface Project {
    file: string;
    folder: string;
  }

  /** Scores of the state and their thresholds. `fallback` pairs axis and agent: the first axis below counts. */
  interface Quality {
    key: string;
    axes?: Array<string>;
    threshold?: number;
    thresholds?: Record<string, number>;
    fallback?: Array<[string, string]>;
  }

  /** An open step. `text` and the labels of Moot's own options are in the reader's language. */
  interface Question {
    step_id: string;
    kind: string;
    text: string;
    options: Array<Option>;
    expires_at: string | null;
    default: string | null;
    asked_by: string | null;
    who: string;
    code: string;
    task_id: string | null;
    error_type: string;
    input: string;
    tasks: Array<Record<string, any>> | null;
    plan_summary: string;
    job: string;
    key: string;
    turn_id: string;
    selection: string;
    allow_custom_input: boolean;
    member: string;
    tool: ToolUse | null;
    diff: string | null;
  }

  /** The queue changed. `priorities` are those of `pending`, omitted if all are P2. */
  interface QueueChanged {
    executing: string | null;
    pending: Array<string>;
    priorities?: Array<string>;
  }

  /** No retry is left: people are asked. */
  interface RecoveryFailed {
    task_id: string | null;
    attempt: number;
    error_type: string;
    message?: string;
    job?: string;
  }

  /** A retry, and when; with `recovery_strategy` "fallback" by another member, whose usage limit is not reached. */
  interface RecoveryStarted {
    task_id: string | null;
    recovery_strategy: string;
    attempt: number;
    max_attempts: number;
    to?: "CREATED" | "READY" | "DISPATCHING" | "DISPATCH_FAILED" | "DISPATCHED" | "RUNNING" | "EXECUTION_FAILED" | "EXECUTION_SUCCEEDED" | "REVIEWING" | "REWORK_REQUIRED" | "DONE" | "BLOCKED" | "CANCELLED";
    delay_s?: number;
    job?: string;
    retry_at?: string;
    member?: string;
    stands_in_for?: string;
  }

  interface RecoverySucceeded {
    task_id: string | null;
    attempt: number;
    job?: string;
  }

  /** `system.connected` for a session: its events follow, starting at `from`. If `resumed` is false, the client must drop the events that it has of this session. */
  interface Resumed {
    session_id: string;
    resumed: boolean;
    from?: number;
    reason?: string;
  }

  /** Retries after a first run that failed. */
  interface Retry {
    max_attempts: number;
    base_delay_s: number;
    cap_s: number;
  }

  interface Review {
    approved: boolean;
    iteration: number;
    fallback: string | null;
  }

  /** A review ended. `iteration`: reviews so far that did not approve. `fallback`: the agent the scores suggest. */
  interface Reviewed {
    approved: boolean;
    iteration: number;
    fallback?: string;
    agent?: string;
    member?: string;
  }

  interface RouteThresholds {
    certain: number;
    minor_change: number;
    cancel: number;
  }

  /** How a message was routed: in chat the action and the members it put into the queue, elsewhere the route. */
  interface RoutingDecided {
    confidence: number;
    action?: Addressing;
    queue_updates?: Array<string>;
    skipped?: Array<string>;
    input_id?: string;
    route?: "continue_execution" | "control_action" | "full_replan" | "minor_replan" | "new_task" | "wait_user_decision";
    payload?: Payload;
    user_confirmation_required?: boolean;
    user_message?: string;
    message_code?: string;
  }

  /** A turn under way. `job` and `task_id` say what it is for, in flows that have jobs. */
  interface RunningTurn {
    turn_id: string;
    member: string;
    started_at: string;
    job: string;
    task_id: string;
    tool: ToolUse | null;
    question_id: string;
  }

  /** What a viewer is told, and what the human then says or answers; it begins at its cue, or with the floor. */
  interface SceneDocument {
    caption: string;
    cut: boolean;
    say: string;
    answer: Record<string, any> | null;
    cue: Cue | null;
  }

  /** An AI has the floor. `is_routed`: not by what a human said just now, but by an answer, a command or a result. */
  interface SessionActivated {
    is_routed?: boolean;
  }

  /** The session ended. */
  interface SessionCompleted {
    reason: string;
  }

  /** The first event of every session. Holds the team, without what runs its AI members. */
  interface SessionCreated {
    chat?: ChatSettings;
    plan?: PlanSettings;
    supervisor?: SupervisorSettings;
    team: string;
    flow: string;
    members: Array<Member>;
    language: "en" | "zh";
    title: string;
    understanding?: "agent" | "explicit" | "llm" | "rules";
    thresholds?: RouteThresholds;
    budget?: Budget;
    permission_timeout_s?: number;
    session_id?: string;
    workspace?: WorkspaceSettings;
  }

  /** A line in the list of sessions. */
  interface SessionEntry {
    session_id: string;
    seq: number;
    hash: string;
    created_at: string;
    updated_at: string;
    title: string;
    team: string;
    flow: string;
    status: "paused" | "active" | "completed";
    waiting_for: string | null;
    busy: boolean;
    pause_reason: "addressed" | "agent_error" | "agent_timeout" | "budget" | "correction_repeated" | "fallback" | "finished" | "hop_limit" | "iteration_limit" | "misshapen" | "step" | "step_limit" | "stopped" | "undecided" | "unresolved" | "user_pause" | null;
    messages: number;
    last: LastLine | null;
    asks: string | null;
    needs: "failed" | "finished" | "paused" | "permission" | "plan" | "question" | "your_turn" | null;
    removed_at: string | null;
    project: Project | null;
  }

  /** A human has the floor. `reason` says why. */
  interface SessionPaused {
    waiting_for: string;
    reason: "addressed" | "agent_error" | "agent_timeout" | "budget" | "correction_repeated" | "fallback" | "finished" | "hop_limit" | "iteration_limit" | "misshapen" | "step" | "step_limit" | "stopped" | "undecided" | "unresolved" | "user_pause";
  }

  /** The session has a new title. */
  interface SessionRenamed {
    title: string;
    member: string | null;
  }

  /** `system.sessions`: after user.watch the list of sessions (`full`), then what has changed in it. `sessions` are rows as in `GET /api/sessions`: the 200 last active that one may read. `removed` are the ids of those that are no longer among them. */
  interface SessionsChanged {
    full: boolean;
    sessions: Array<Record<string, any>>;
    removed: Array<string>;
  }

  /** How far the work is: a checkpoint for a pause, the basis of a replan. The results stand in the log already. */
  interface SnapshotSaved {
    snapshot_id: string;
    done?: Array<string>;
    failed?: Array<string>;
    running?: Array<string>;
    waiting?: Array<string>;
    reason?: string;
  }

  /** The task is stopped, or is never begun. */
  interface SolverCancelled {
    task: Record<string, any>;
    to: "CREATED" | "READY" | "DISPATCHING" | "DISPATCH_FAILED" | "DISPATCHED" | "RUNNING" | "EXECUTION_FAILED" | "EXECUTION_SUCCEEDED" | "REVIEWING" | "REWORK_REQUIRED" | "DONE" | "BLOCKED" | "CANCELLED";
    reason?: string;
  }

  interface SolverCompleted {
    task: Record<string, any>;
    result: string;
    to: "CREATED" | "READY" | "DISPATCHING" | "DISPATCH_FAILED" | "DISPATCHED" | "RUNNING" | "EXECUTION_FAILED" | "EXECUTION_SUCCEEDED" | "REVIEWING" | "REWORK_REQUIRED" | "DONE" | "BLOCKED" | "CANCELLED";
    member?: string;
    dispatch_id?: string;
    awaits_review?: boolean;
    ready?: Array<string>;
    usage?: Usage;
    gate?: string;
  }

  /** `solver.delta`: a piece of the result that a task writes; `turn_id` is its dispatch, the result contains all. */
  interface SolverDelta {
    turn_id: string;
    text: string;
  }

  /** One for each step; `step` is the text, the three others say what it was. */
  interface SolverProgressed {
    task_id: string;
    done: number;
    total: number | null;
    percent: number | null;
    step: string;
    to: "CREATED" | "READY" | "DISPATCHING" | "DISPATCH_FAILED" | "DISPATCHED" | "RUNNING" | "EXECUTION_FAILED" | "EXECUTION_SUCCEEDED" | "REVIEWING" | "REWORK_REQUIRED" | "DONE" | "BLOCKED" | "CANCELLED";
    member?: string;
    dispatch_id?: string;
    thought?: string;
    action?: string;
    observation?: string;
    tool?: ToolUse;
    diff?: string;
  }

  /** The task starts from the beginning, with a fresh count of attempts; `member` when it was given to another. */
  interface SolverRestarted {
    task: Record<string, any>;
    to: "CREATED" | "READY" | "DISPATCHING" | "DISPATCH_FAILED" | "DISPATCHED" | "RUNNING" | "EXECUTION_FAILED" | "EXECUTION_SUCCEEDED" | "REVIEWING" | "REWORK_REQUIRED" | "DONE" | "BLOCKED" | "CANCELLED";
    reason?: string;
    ready?: Array<string>;
    member?: string;
  }

  interface SolverStarted {
    task: Record<string, any>;
    member: string;
    attempt: number;
    dispatch_id: string;
    to: "CREATED" | "READY" | "DISPATCHING" | "DISPATCH_FAILED" | "DISPATCHED" | "RUNNING" | "EXECUTION_FAILED" | "EXECUTION_SUCCEEDED" | "REVIEWING" | "REWORK_REQUIRED" | "DONE" | "BLOCKED" | "CANCELLED";
    started_at?: string;
  }

  /** A problem: its line, the key that it is about, and a sentence. */
  interface SourceProblem {
    line: number | null;
    path: string;
    text: string;
  }

  /** The sum of what turns cost. `tokens` are all of them; the others are parts of it. */
  interface Spent {
    turns: number;
    tokens: number;
    cost_usd: number;
    output_tokens: number;
    cached_tokens: number;
    thinking_tokens: number;
  }

  /** `agent.state_exported`: the view of a session at `seq`, and its place, signed, to reconnect with. */
  interface StateExported {
    state: View;
    seq: number;
    hash: string;
    signed_state: string;
  }

  /** `agent.state_restored`: the server accepted a signed state; the events after it follow. */
  interface StateRestored {
    session_id: string;
    seq: number;
    hash: string;
  }

  /** Keys of the shared state were written: by an agent, by a human (edit, answer or input), or by Moot. Inputs that come while no job runs are for the next one. With `misfits` the agent acts again, because its output lacks them; `sent_back` says how often in a row. `is_after_review`: the last review is older than these changes. */
  interface StateUpdated {
    changes: Record<string, any>;
    agent?: string;
    member?: string;
    turn_id?: string;
    refused?: Record<string, "misshapen" | "not_owned" | "not_plain" | "too_large">;
    misfits?: Array<Misfit>;
    sent_back?: number;
    is_after_review?: boolean;
  }

  /** A question that waits for one answer. `default` is chosen if nobody answers in time. One fact for every kind of question: a plan to confirm, an input or a failure to decide about, an output to check, an agent's own question, a permission (docs/decisions/031-one-fact-for-questions.md). `timeout_s` is how long people have while the server runs. `expires_at` is when that will be, by the clock of the moment; it is shown and decides nothing. */
  interface StepAsked {
    step_id: string;
    kind: string;
    options: Array<Option>;
    expires_at: string | null;
    default: string | null;
    code?: string;
    asked_by?: string;
    question?: string;
    task_id?: string;
    job?: string;
    error_type?: string;
    input?: Input;
    tasks?: Array<Record<string, any>>;
    plan_summary?: string;
    plan_id?: string;
    plan_hash?: string;
    names?: Array<string>;
    who?: string;
    detail?: string;
    key?: string;
    turn_id?: string;
    selection?: "multiple" | "none" | "single";
    allow_custom_input?: boolean;
    timeout_s?: number;
    member?: string;
    tool?: ToolUse;
    diff?: string;
    grant?: Grant;
  }

  /** A question was answered, expired or was withdrawn. */
  interface StepClosed {
    step_id: string;
    outcome: "answered" | "cancelled" | "expired" | "superseded";
    by?: string;
    confirmed?: boolean;
    choice?: string;
    answer?: string;
    tasks?: Array<Record<string, any>>;
    selected_ids?: Array<string>;
  }

  interface SuggestedRoute {
    next_phase: "control" | "execution" | "new_task" | "plan_loop" | "replan" | "wait_user";
    reason: string;
    requires_user_confirmation: boolean;
  }

  /** What an agent is for, may write and needs first (any one is enough), and who acts instead if that is missing. */
  interface SupervisedAgent {
    purpose?: string;
    member?: string;
    writes?: Array<string>;
    requires_any?: Array<Condition>;
    fallback?: string;
    pause_after?: boolean;
    ends?: boolean;
    tools?: ToolLoop;
  }

  /** The job ended; the session waits for the next one. `deliverable` is its result, if it was not cancelled. */
  interface SupervisionEnded {
    outcome: "cancelled" | "complete" | "partial";
    reason: string;
    partial?: boolean;
    deliverable?: Deliverable;
  }

  /** A job began, with its own shared state. */
  interface SupervisionStarted {
    goal: string;
    asked_by: string;
    is_deferred?: boolean;
    number?: number;
    thread_id?: string;
    creative_id?: string;
  }

  /** It was decided who acts next. `corrected_from` is the supervisor's choice, if `next` is another. The texts of `decision` are short, for people; `guidance` and `context` are the whole texts, if those were cut. */
  interface SupervisorDecided {
    decision: Decision;
    next: string;
    member?: string;
    turn_id?: string;
    corrected_from?: string;
    correction?: "human" | "precondition" | "quality_fallback";
    repeated?: number;
    followed?: number;
    guidance?: string;
    context?: string;
  }

  /** Who leads, whom it may choose, what they share, and when the work ends. */
  interface SupervisorSettings {
    member?: string;
    max_iterations?: number;
    max_steps?: number;
    max_clarification_rounds?: number;
    turn_timeout_s?: number;
    tools?: ToolLoop;
    end?: EndRule;
    agents?: Record<string, SupervisedAgent>;
    pause_after?: Array<string>;
    quality?: Quality;
    inputs?: Array<string>;
    state?: Record<string, any>;
    shapes?: Record<string, any>;
    order?: Array<string>;
    complete_when?: Record<string, Coverage>;
    prompt?: string;
    few_shot?: Array<Example>;
  }

  /** The supervisor's turn had no usable decision, for the `count`th time in a row. */
  interface SupervisorUndecided {
    turn_id: string;
    member: string;
    fault: "early_end" | "empty" | "no_json" | "not_ready" | "not_text" | "unknown";
    given: string;
    count: number;
  }

  /** A person asked for the work. `workspace.taken` follows when it is done. */
  interface TakeRequested {
    how: "apply" | "discard" | "keep" | "merge";
    number: number;
    member?: string;
    at?: string;
  }

  /** The command with which a person opens a member's conversation in the agent's own program, on this machine. `task_id`: in a plan each task has a conversation of its own; empty for that of the session. */
  interface Takeover {
    member: string;
    task_id: string;
    command: string;
  }

  /** A task of a plan. A whole number as id counts as its decimal text; other keys are kept. */
  interface Task {
    id: string | number;
    title: string;
    objective?: string;
    depends_on?: Array<string | number>;
    role?: string;
    member?: string;
    deliverable?: string;
  }

  /** Nobody can do the task, or no retry is left. */
  interface TaskBlocked {
    task_id: string;
    reason: string;
    to: "CREATED" | "READY" | "DISPATCHING" | "DISPATCH_FAILED" | "DISPATCHED" | "RUNNING" | "EXECUTION_FAILED" | "EXECUTION_SUCCEEDED" | "REVIEWING" | "REWORK_REQUIRED" | "DONE" | "BLOCKED" | "CANCELLED";
  }

  interface TaskFailed {
    task_id: string;
    dispatch_id: string;
    member: string;
    attempt: number;
    error_type: string;
    message: string;
    to: "CREATED" | "READY" | "DISPATCHING" | "DISPATCH_FAILED" | "DISPATCHED" | "RUNNING" | "EXECUTION_FAILED" | "EXECUTION_SUCCEEDED" | "REVIEWING" | "REWORK_REQUIRED" | "DONE" | "BLOCKED" | "CANCELLED";
    usage?: Usage;
  }

  interface TaskRelation {
    type: "control_instruction" | "different_task" | "same_task_major_change" | "same_task_minor_change" | "same_task_no_change";
    confidence: number;
    reasoning: string;
  }

  /** How an input relates to the work that is under way. */
  interface TaskRelationAssessment {
    relation_type: "different_task" | "same_task_major_change" | "same_task_minor_change" | "same_task_no_major_change";
    reasoning: string;
    confidence: number;
    assessment: Deltas;
    recommended_action: "continue" | "full_replan" | "minor_replan" | "new_task";
    replan_rationale: string | null;
    new_task_justification: string | null;
  }

  /** Accepted, or sent back with feedback. */
  interface TaskReviewed {
    task_id: string;
    pass: boolean;
    to: "CREATED" | "READY" | "DISPATCHING" | "DISPATCH_FAILED" | "DISPATCHED" | "RUNNING" | "EXECUTION_FAILED" | "EXECUTION_SUCCEEDED" | "REVIEWING" | "REWORK_REQUIRED" | "DONE" | "BLOCKED" | "CANCELLED";
    feedback?: string;
    member?: string;
    turn_id?: string;
    ready?: Array<string>;
    is_reworked?: boolean;
  }

  /** A task on the board. `done` counts the steps since it was last started. */
  interface TaskRow {
    task: Record<string, any>;
    state: string;
    member: string;
    agent_id: string;
    attempt: number;
    retries: number;
    max_attempts: number;
    retry_in_s: number | null;
    retry_at: string;
    started_at: string;
    done: number;
    total: number | null;
    percent: number | null;
    step: string;
    tool: ToolUse | null;
    result: string;
    error_type: string;
    message: string;
    feedback: string;
    is_skipped: boolean;
    place: number | null;
    tree: TreeRow | null;
  }

  /** The work of a task did not pass: its checks failed, or it contradicts the work of others. */
  interface TaskSentBack {
    task_id: string;
    reason: string;
    feedback: string;
    to: "CREATED" | "READY" | "DISPATCHING" | "DISPATCH_FAILED" | "DISPATCHED" | "RUNNING" | "EXECUTION_FAILED" | "EXECUTION_SUCCEEDED" | "REVIEWING" | "REWORK_REQUIRED" | "DONE" | "BLOCKED" | "CANCELLED";
    member?: string;
    is_reworked?: boolean;
  }

  /** A human goes on without it: those who depend on it run without its result. */
  interface TaskSkipped {
    task_id: string;
    ready?: Array<string>;
    by?: string;
  }

  /** Tasks that may edit the same folder run one at a time, unless their `files` differ. Told once in a plan. */
  interface TasksTakeTurns {
    task_id: string;
    waits_for: string;
  }

  /** A team on offer; the first one is the default. */
  interface TeamDocument {
    name: string;
    flow: string;
    language: "en" | "zh";
    members: Array<Member>;
    scripted: boolean;
    description: string;
    examples: Array<string>;
    has_file: boolean;
    players: Array<Player>;
  }

  /** The text of a team file, and its hash, which a change must name. */
  interface TeamSource {
    name: string;
    file: string;
    text: string;
    sha256: string;
  }

  /** The shared goal was set with `[TEAM_TASK: …]`. */
  interface TeamTaskSet {
    member: string;
    team_task: string;
  }

  /** A call of a tool. `call_id` is Moot's name for it, `id` the agent's own. */
  interface ToolCall {
    call_id: string;
    name: string;
    args?: Record<string, any>;
    id?: string;
  }

  /** A tool returned its result or an error. */
  interface ToolCompleted {
    call_id: string;
    result?: any;
    error?: string;
  }

  /** The tools an agent calls between its turns: the node that runs them and when the loop ends. */
  interface ToolLoop {
    node: string;
    max_rounds?: number;
    done_when?: string;
  }

  /** A tool that was called in the newest round; without `is_done` it runs. Arguments and result are JSON, cut. */
  interface ToolRun {
    call_id: string;
    agent: string;
    name: string;
    args: string;
    round: number;
    is_done: boolean;
    result: string;
    error: string;
  }

  /** `id` is the same in every step about this use. `paths` are relative to the agent's folder where they are in it. `added` and `removed` count the lines of the whole change; the `diff` of the step may be cut. */
  interface ToolUse {
    id: string;
    kind: "delete" | "edit" | "execute" | "fetch" | "move" | "other" | "read" | "search" | "think";
    title: string;
    paths?: Array<string>;
    status?: "completed" | "failed" | "in_progress" | "pending";
    exit?: number;
    added?: number;
    removed?: number;
  }

  /** An agent called tools, for the `round`th time in a row. It acts again when all have returned. */
  interface ToolsCalled {
    agent: string;
    node: string;
    member: string;
    turn_id: string;
    round: number;
    calls: Array<ToolCall>;
  }

  interface Transition {
    from: string;
    trigger: string;
    to: string;
    extension: boolean;
  }

  /** The tree of a task on the board. `place` is that in the merge queue, 1 for the task that is merged now. */
  interface TreeRow {
    name: string;
    branch: string;
    base: string;
    commit: string;
    stage: "checked" | "checking" | "conflicted" | "merged" | "queued" | "removed" | "working";
    added: number;
    removed: number;
    files: number;
    checks: Array<CheckRow>;
    place: number | null;
    conflicts: Array<string>;
  }

  /** The turn of a planner, a reviewer or an aggregator failed and is tried again. */
  interface Trouble {
    error_type: string;
    message: string;
    retries: number;
    max_attempts: number;
    retry_in_s: number;
    retry_at: string;
  }

  /** A turn was stopped. `partial` is what it had written. */
  interface TurnCancelled {
    turn_id: string;
    member: string;
    reason: string;
    partial?: string;
  }

  /** A turn succeeded; a message follows if the agent wrote one. */
  interface TurnCompleted {
    turn_id: string;
    member: string;
    usage?: Usage;
  }

  /** `turn.delta`: a piece of a message that is being written; the message itself contains all of it. */
  interface TurnDelta {
    turn_id: string;
    text: string;
  }

  /** A turn failed. `error_type` says whether to retry it; `partial` is what it had written. */
  interface TurnFailed {
    turn_id: string;
    member: string;
    error_type: string;
    message: string;
    usage?: Usage;
    partial?: string;
  }

  /** A turn waits: until a usage limit is over (`until`), or for the answer to what its member asked. It has not ended: the same turn goes on. */
  interface TurnParked {
    turn_id: string;
    member: string;
    until: string | null;
    reason: string;
    message?: string;
    usage?: Usage;
  }

  /** What a turn had cost when it was stopped. This is known only afterwards. */
  interface TurnSpent {
    turn_id: string;
    member: string;
    usage: Usage;
  }

  /** A turn began. `index`: the member's earlier turns. `hop`: AI turns since a human last spoke, with this one. */
  interface TurnStarted {
    turn_id: string;
    member: string;
    index: number;
    hop: number;
    retry_of?: string;
    job?: string;
    task_id?: string;
    task_index?: number;
    started_at?: string;
    question_id?: string;
    stands_in_for?: string;
    seq?: number;
  }

  /** What an agent thinks, does or sees during its turn. `tool` is the use of a tool that it is about, as data. */
  interface TurnStepped {
    turn_id: string;
    member: string;
    thought?: string;
    action?: string;
    observation?: string;
    tool?: ToolUse;
    diff?: string;
  }

  /** `turn.thinking`: a piece of a thought, which is not part of the answer; the step contains all of it. */
  interface TurnThinking {
    turn_id: string;
    text: string;
  }

  /** A parked turn goes on: its time has come, somebody says so, or what it waited for was answered. `interrupted`: it was not parked; another worker begins it again with what a person said to its member. */
  interface TurnUnparked {
    turn_id: string;
    member: string;
    reason: string;
    by?: string;
  }

  /** A member whose circuit breaker is open; it is offered nothing before `retry_at`. */
  interface Unavailable {
    failures: number;
    retry_in_s: number;
    retry_at: string;
  }

  /** An input was understood. `fallback_reason`: why the rules did it instead of the model. */
  interface UnderstandingCompleted {
    input_id: string;
    analysis: IntentAnalysis;
    fallback_reason?: string;
    usage?: Usage;
  }

  /** An input is given to an understander, which analyses what it means. */
  interface UnderstandingStarted {
    input: Input;
  }

  /** A person asked to take a turn or a task back. `workspace.reverted` follows when it is done. */
  interface UndoRequested {
    number: number;
    turn_id?: string;
    task_id?: string;
    member?: string;
    at?: string;
  }

  /** What a turn cost. Cached tokens are a part of the input, tokens of thinking a part of the output. */
  interface Usage {
    input_tokens?: number;
    output_tokens?: number;
    cost_usd?: number;
    cached_tokens?: number;
    thinking_tokens?: number;
  }

  /** A session as others see it after one event of its log. `is_settled`: nothing happens without a human. `is_steered`: people give goals and steer the work, instead of talking with the members. `max_hops` is 0 where hops are not counted. `input` is the newest one that was to be understood; `input_routing` and `interrupt` are where its machine and that of a pause stand. */
  interface View {
    work: Work | null;
    supervision: Job | null;
    version: number;
    team: string;
    flow: string;
    is_steered: boolean;
    title: string;
    language: "en" | "zh";
    team_task: string;
    members: Array<Member>;
    status: "paused" | "active" | "completed";
    is_settled: boolean;
    waiting_for: string | null;
    pause_reason: string | null;
    executing: string | null;
    pending: Array<string>;
    hops: number;
    max_hops: number;
    questions: Array<Question>;
    running: Array<RunningTurn>;
    parked: Array<ParkedTurn>;
    counters: Counters;
    spent_by_member: Record<string, Spent>;
    input: LatestInput | null;
    deferred: Array<DeferredInput>;
    grants: Array<GrantRow>;
    workspace: WorkspaceView | null;
    input_routing: string;
    interrupt: string;
  }

  /** `session.view`: the view of a session after event `seq`, for connections with `?view=1`. `view` is a JSON merge patch (RFC 7386) from the view that was sent before; if `whole`, from an empty object. It follows the events up to `seq`, once for all that were written together. */
  interface ViewChanged {
    seq: number;
    view: Record<string, any>;
    whole: boolean;
  }

  /** The delay before a retry is over. */
  interface WaitEnded {
    task_id: string;
    to: "CREATED" | "READY" | "DISPATCHING" | "DISPATCH_FAILED" | "DISPATCHED" | "RUNNING" | "EXECUTION_FAILED" | "EXECUTION_SUCCEEDED" | "REVIEWING" | "REWORK_REQUIRED" | "DONE" | "BLOCKED" | "CANCELLED";
  }

  /** One piece of work from its plan to its end. `order` has the ids of `tasks` in the order of the plan. */
  interface Work {
    question: string;
    asked_by: string;
    status: string;
    trigger: string;
    replan_reason: string | null;
    decision_required: boolean;
    decision_options: Array<string>;
    latest_execution_snapshot_id: string;
    plan_id: string;
    summary: string;
    proposed: Array<Record<string, any>>;
    kept: Array<string>;
    plan_steps: number;
    plan_step: string;
    problems: Array<string>;
    tasks: Record<string, TaskRow>;
    order: Array<string>;
    slots: Record<string, string>;
    unavailable: Record<string, Unavailable>;
    troubles: Record<string, Trouble>;
    is_aggregating: boolean;
    outcome: string;
    answer: string;
  }

  /** The workflow machine moved. */
  interface WorkflowChanged {
    to: "PLAN_LOOP" | "EXECUTION" | "REPLAN_EVALUATION" | "WAIT_USER_DECISION" | "COMPLETED" | "FAILED";
    trigger: string;
    from?: "PLAN_LOOP" | "EXECUTION" | "REPLAN_EVALUATION" | "WAIT_USER_DECISION" | "COMPLETED" | "FAILED";
    reason?: string;
    question?: string;
    asked_by?: string;
    is_deferred?: boolean;
    follows?: boolean;
    asks_back?: boolean;
  }

  /** What a turn did to its tree, recorded as a commit. `more` counts the files that are not listed. `total`: how much the tree differs from what it started from, without what it got from other tasks. `is_outside`: a person or a program did it outside of turns, before this turn, or before the work was taken: then there is no turn. */
  interface WorkspaceChanged {
    turn_id: string;
    commit: string;
    parent: string;
    files: Array<FileChange>;
    member?: string;
    tree?: string;
    task_id?: string;
    added?: number;
    removed?: number;
    more?: number;
    total?: LineCounts;
    is_outside?: boolean;
  }

  /** A check command ended. `n` of `total`; the first that fails is the last. `tail` is the end of its output. `stage`: `task` for the work of a task, `merge` for what it is together with the work of others. */
  interface WorkspaceChecked {
    command: string;
    exit: number;
    tail: string;
    task_id?: string;
    turn_id?: string;
    n?: number;
    total?: number;
    stage?: "merge" | "task";
    files?: string;
  }

  /** The work of a task and that of others contradict each other in these files. */
  interface WorkspaceConflicted {
    task_id: string;
    files: Array<string>;
    commit?: string;
  }

  /** Git could not do what was asked: nothing changed. `detail` says why, `files` where. */
  interface WorkspaceFailed {
    what: string;
    detail: string;
    task_id?: string;
    files?: Array<string>;
    number?: number;
  }

  /** The work of a task is part of the whole. `state` is where the task stands, `ready` who may start now. `total`: how much the whole differs from what the session started from. */
  interface WorkspaceMerged {
    task_id: string;
    commit: string;
    parent?: string;
    files?: Array<FileChange>;
    added?: number;
    removed?: number;
    more?: number;
    total?: LineCounts;
    state?: string;
    ready?: Array<string>;
  }

  /** A tree is ready to work in. `base` is the commit that it starts from. */
  interface WorkspaceOpened {
    tree: string;
    branch: string;
    base: string;
    task_id?: string;
    turn_id?: string;
  }

  /** A task waits to be merged, at this place of the queue. */
  interface WorkspaceQueued {
    task_id: string;
    place: number;
    number?: number;
    queued_at?: string;
  }

  /** Trees were removed; what they held is saved or was discarded. */
  interface WorkspaceRemoved {
    trees: Array<string>;
  }

  /** A person chose one side for files that contradicted each other. */
  interface WorkspaceResolved {
    task_id: string;
    side: string;
    files: Array<string>;
    member?: string;
  }

  /** What a turn or a task did was taken back, by a new commit. `total`: how much its tree differs now. */
  interface WorkspaceReverted {
    commit: string;
    parent: string;
    files?: Array<FileChange>;
    turn_id?: string;
    task_id?: string;
    tree?: string;
    total?: LineCounts;
    member?: string;
    number?: number;
  }

  /** Where members work, as far as the log must know. The commands stay in the team file. */
  interface WorkspaceSettings {
    type: "none" | "shared" | "worktree";
    merge: "merge" | "squash";
    checks: number;
  }

  /** A person has the work: in their files, merged into their branch, as a branch; or it was discarded. `restored` is what the whole is again after it was discarded: what the person has already; `total`: how much that differs from what the session started from. */
  interface WorkspaceTaken {
    how: "apply" | "discard" | "keep" | "merge";
    commit: string;
    branch?: string;
    member?: string;
    number?: number;
    restored?: string;
    total?: LineCounts;
  }

  /** The work of a session whose members have trees. `has_work`: there are changes that nobody has taken. `pending` is what git does now because a person asked for it: apply, merge, keep, discard or undo. `comments` are kept until the last one, to be sent together. */
  interface WorkspaceView {
    branch: string;
    base: string;
    head: string;
    added: number;
    removed: number;
    has_work: boolean;
    taken: string;
    how: string;
    pending: string;
    comments: Array<LineComment>;
    is_removed: boolean;
  }
}
