// The machine of a link (seed 004 §8), the same table as core/machines/connection.py.

/** @typedef {"DISCONNECTED" | "CONNECTING" | "CONNECTED" | "RECONNECTING"} State */

/** @type {Record<State, Record<string, State>>} */
export const CONNECTION = {
  DISCONNECTED: { connect: "CONNECTING" },
  CONNECTING: { connect_ok: "CONNECTED", connect_failed: "RECONNECTING" },
  CONNECTED: { link_lost: "RECONNECTING" },
  RECONNECTING: { reconnect_ok: "CONNECTED", reconnect_timeout: "DISCONNECTED" },
};

/** @param {State} state @param {string} trigger @returns {State} */
export function advance(state, trigger) {
  const target = CONNECTION[state][trigger];
  if (!target) throw new Error(`connection: ${state} knows no ${trigger}`);
  return target;
}
