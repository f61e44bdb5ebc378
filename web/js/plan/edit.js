// Editing a plan before it is approved: what is wrong with it and what is different from the proposal. Pure.

const TASKS = 100;

/** The same rules as core/flows/plan/tasks.py, as far as they can be known here; the server has the last word.
 * @param {Task[]} tasks @returns {Problem[]} */
export function findProblems(tasks) {
  /** @type {Problem[]} */
  const problems = [];
  if (!tasks.length) problems.push({ at: -1, code: "plan.empty", params: {} });
  if (tasks.length > TASKS) problems.push({ at: TASKS, code: "plan.too_many", params: { limit: String(TASKS) } });
  const ids = tasks.map((task) => task.id);
  tasks.forEach((task, at) => {
    if (!task.title?.trim()) problems.push({ at, code: "plan.no_title", params: {} });
    if (!task.id?.trim()) problems.push({ at, code: "plan.no_id", params: {} });
    else if (ids.indexOf(task.id) !== at) problems.push({ at, code: "plan.same_id", params: { id: task.id } });
    for (const id of task.depends_on ?? []) {
      if (!ids.includes(id)) problems.push({ at, code: "plan.no_such_task", params: { id } });
    }
  });
  const circle = findCircle(tasks);
  if (circle.length) problems.push({ at: ids.indexOf(circle[0]), code: "plan.circle", params: { ids: circle.join(" → ") } });
  return problems;
}

/** Ids that wait for each other, the first one again at the end. @param {Task[]} tasks @returns {string[]} */
export function findCircle(tasks) {
  const waiting = new Map(tasks.map((task) => [task.id, task.depends_on ?? []]));
  const isFree = (/** @type {string[]} */ needed) => !needed.some((id) => waiting.has(id));
  for (let found = true; found;) {
    found = false;
    for (const [id, needed] of waiting) if (isFree(needed)) found = waiting.delete(id);
  }
  const [first] = waiting.keys();
  if (first === undefined) return [];
  const trail = [first];
  for (;;) {
    const next = /** @type {string} */ ((waiting.get(trail[trail.length - 1]) ?? []).find((id) => waiting.has(id)));
    const seen = trail.indexOf(next);
    if (seen >= 0) return [...trail.slice(seen), next];
    trail.push(next);
  }
}

/** The task itself and all that wait for it, be it for others that do. @param {Task[]} tasks @param {string} id @returns {Set<string>} */
export function followersOf(tasks, id) {
  const found = new Set([id]);
  for (let size = 0; size < found.size;) {
    size = found.size;
    for (const task of tasks) if (task.depends_on?.some((each) => found.has(each))) found.add(task.id);
  }
  return found;
}

const FIELDS = /** @type {const} */ (["title", "objective", "member", "role", "depends_on"]);

/** @param {Task[]} proposed @param {Task[]} edited @returns {Diff} */
export function diff(proposed, edited) {
  const before = new Map(proposed.map((task) => [task.id, task]));
  const after = new Set(edited.map((task) => task.id));
  /** @type {Record<string, string[]>} */
  const changed = {};
  for (const task of edited) {
    const old = before.get(task.id);
    const fields = old ? FIELDS.filter((field) => !isSame(old[field], task[field])) : [];
    if (fields.length) changed[task.id] = fields;
  }
  const added = edited.filter((task) => !before.has(task.id)).map((task) => task.id);
  const removed = proposed.filter((task) => !after.has(task.id));
  const order = (/** @type {Task[]} */ list, /** @type {(id: string) => boolean} */ has) => list.map((task) => task.id).filter(has).join("\n");
  const isMoved = order(proposed, (id) => after.has(id)) !== order(edited, (id) => before.has(id));
  const count = added.length + removed.length + Object.keys(changed).length + (isMoved ? 1 : 0);
  return { added, removed, changed, isMoved, count };
}

/** @param {unknown} a @param {unknown} b */
function isSame(a, b) {
  const plain = (/** @type {unknown} */ value) => (Array.isArray(value) ? value.join("\n") : value ?? "");
  return plain(a) === plain(b);
}

/** An id that no task has. @param {Task[]} tasks */
export function freshId(tasks) {
  const ids = new Set(tasks.map((task) => task.id));
  for (let n = tasks.length + 1; ; n++) if (!ids.has(`t${n}`)) return `t${n}`;
}

/** @param {Task[]} tasks @param {number} at @param {number} by @returns {Task[]} */
export function moveTask(tasks, at, by) {
  const to = at + by;
  if (to < 0 || to >= tasks.length) return tasks;
  const moved = [...tasks];
  const [task] = moved.splice(at, 1);
  moved.splice(to, 0, task);
  return moved;
}

/** Tasks that can run at the same time, wave after wave. Those of a circle are in none. @param {Task[]} tasks @returns {Task[][]} */
export function wavesOf(tasks) {
  const ids = new Set(tasks.map((task) => task.id)), waves = [], done = new Set();
  for (let left = tasks; left.length;) {
    const wave = left.filter((task) => (task.depends_on ?? []).every((id) => done.has(id) || !ids.has(id)));
    if (!wave.length) break;
    waves.push(wave);
    for (const task of wave) done.add(task.id);
    left = left.filter((task) => !done.has(task.id));
  }
  return waves;
}
