// How the list is arranged, kept in this browser: what is pinned, put away, read.

import { recallJson, remember } from "./prefs.js";

/** @type {Record<string, Kept>} */
let kept = recallJson("shelf", {});

/** @param {string} id @returns {Kept} */
export const keptOf = (id) => kept[id] ?? {};

/** @param {string} id @param {Kept} change */
export function keep(id, change) {
  kept = recallJson("shelf", kept); // of other tabs too
  kept[id] = { ...kept[id], ...change };
  remember("shelf", JSON.stringify(kept));
}

/** Put away, until it waits for somebody again. @param {Entry} entry */
export function isAway({ session_id, seq, status }) {
  const { away } = keptOf(session_id);
  return away != null && !(seq > away && status === "paused");
}
