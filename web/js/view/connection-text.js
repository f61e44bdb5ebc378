// How the link is, said honestly: state, last confirmed time, how far behind, what is unsent.

/** @param {App} app @returns {{state: string, words: string}} */
export function connectionText({ connection, tape, outbox, heardAt, t, language }) {
  const clock = (/** @type {number} */ at) => new Intl.DateTimeFormat(language, { timeStyle: "medium", hourCycle: "h23" }).format(at);
  const unsent = outbox.unsentOf(tape), waiting = unsent.length ? ` · ${t("unsent", { count: unsent.length })}` : "";
  const seq = tape?.seq ?? 0;
  switch (connection.state) {
    case "CONNECTED":
      if (tape && !tape.ended && seq < connection.target) {
        return { state: "catching", words: t("link.catching", { from: seq, to: connection.target }) + waiting };
      }
      return { state: "connected", words: t(seq ? "link.connected" : "link.idle", { seq, at: clock(heardAt) }) + waiting };
    case "CONNECTING": return { state: "connecting", words: t("link.connecting") + waiting };
    case "RECONNECTING": {
      const seconds = Math.max(0, Math.ceil((connection.retryAt - Date.now()) / 1000));
      return { state: "reconnecting", words: t("link.reconnecting", { attempt: connection.attempt, seconds }) + waiting };
    }
    default: return { state: "offline", words: t("link.offline", { at: clock(connection.since) }) + waiting };
  }
}
