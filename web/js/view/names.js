// What members are called, and what is named by them: the queue, the tasks in their order.

/** @param {View | null | undefined} view @param {string | null | undefined} id */
export const nameOf = (view, id) => view?.members.find((each) => each.id === id)?.display_name ?? id ?? "";

/** Who plays a role of the flow. @param {View | null} view @param {string} role */
export const roleName = (view, role) => view?.members.find((each) => each.role === role)?.display_name ?? role;

/** The tasks of the work, in the order of its plan. @param {View | null} view @returns {TaskRun[]} */
export const runsOf = (view) => view?.work?.order.map((id) => /** @type {NonNullable<View["work"]>} */ (view.work).tasks[id]) ?? [];

/** Done, or a human goes on without it. @param {TaskRun} run */
export const isFinished = (run) => run.state === "DONE" || run.is_skipped;

/** Whether a turn or a task runs. @param {View | null} view */
export const isAtWork = (view) => Boolean(view?.running.length) || runsOf(view).some((run) => run.state === "RUNNING");

/** What Esc does to what goes on. Work that is pausing is stopped: it may take long until its steps have ended.
 * @param {View} view @returns {"stop" | "pause" | ""} */
export function escapeOf(view) {
  if (!isAtWork(view)) return "";
  return view.is_steered && view.interrupt !== "PAUSING" ? "pause" : "stop";
}

/** `ben#2` works beside `ben#1`: Ben 2. @param {View} view @param {string} agentId */
export function slotName(view, agentId) {
  const [id, number] = agentId.split("#");
  return nameOf(view, id) + (Number(number) > 1 ? ` ${number}` : "");
}

/** `📋 Queue: [Claude ⏳] → Bob → You`; null when nothing runs and nothing waits.
 * @param {View} view @param {string | null} viewer @param {{queue: string, you: string}} words */
export function queueLine(view, viewer, words) {
  const name = (/** @type {string} */ id) => (id === viewer ? words.you : nameOf(view, id));
  const names = view.executing ? [`[${name(view.executing)} ⏳]`] : [];
  names.push(...view.pending.map(name));
  return names.length ? words.queue.replace("{names}", () => names.join(" → ")) : null;
}

/** Who does something, and to whom, if the event names members. @param {View | null} view @param {{member?: string, to?: unknown}} metadata */
export function actors(view, { member, to }) {
  const ids = [member, to].filter((id) => view?.members.some((each) => each.id === id));
  return ids.map((id) => nameOf(view, /** @type {string} */ (id))).join(" → ");
}
