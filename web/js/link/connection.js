// The machine of a link, the same table as core/machines/connection.py.

/** @type {Record<LinkState, Record<string, LinkState>>} */
export const CONNECTION = {
  DISCONNECTED: { connect: "CONNECTING" },
  CONNECTING: { connect_ok: "CONNECTED", connect_failed: "RECONNECTING" },
  CONNECTED: { link_lost: "RECONNECTING" },
  RECONNECTING: { reconnect_ok: "CONNECTED", reconnect_timeout: "DISCONNECTED" },
};

/** @param {LinkState} state @param {string} trigger @returns {LinkState} */
export function advance(state, trigger) {
  const target = CONNECTION[state][trigger];
  if (!target) throw new Error(`connection: ${state} knows no ${trigger}`);
  return target;
}
