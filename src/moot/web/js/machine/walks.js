// Where each machine of a session stands, as the page knows it from the log.

import { slotName } from "../view/names.js";
import { begin } from "../view/walk.js";

/** @param {App} app @returns {Lit[]} */
export function walks({ view, connection, inside }) {
  /** @type {Lit[]} */
  const lit = [];
  const add = (/** @type {string} */ machine, /** @type {string} */ about, /** @type {Walk} */ walk) =>
    lit.push({ id: `${machine} ${about}`, machine, about, walk });
  if (view?.work) add("workflow", "", view.work.workflow);
  if (view) add("session", "", begin(view.status));
  for (const run of Object.values(view?.work?.tasks ?? {})) add("task", run.task.title, run.walk);
  for (const [id, walk] of Object.entries(view?.work?.slots ?? {})) add("agent", slotName(/** @type {View} */ (view), id), walk);
  for (const name of /** @type {const} */ (["input_routing", "interrupt"])) {
    if (view?.flow !== "chat" && inside[name]) add(name, "", begin(inside[name]));
  }
  add("connection", "", begin(connection.state));
  return lit;
}
