// Browser notifications, for those who asked for them: when a session begins to need somebody and the page is not looked at.

import { recall } from "./prefs.js";
import { standingOf } from "./view/needs.ts";

const known = new Map<string, string>();

export const mayNotify = () => "Notification" in window && Notification.permission === "granted" && recall("notify") === "on";

/** Called with every change of the list; the first one only teaches what is there already. */
export function notify(app: App, open: (id: string) => void): void {
  const isFirst = known.size === 0;
  for (const entry of app.sessions) {
    const standing = standingOf(entry, app.me?.member ?? null), need = ["asks", "failed"].includes(standing) ? `${entry.needs ?? standing}` : "";
    const isNew = need && known.get(entry.session_id) !== need;
    known.set(entry.session_id, need);
    if (!isNew || isFirst || !document.hidden || !mayNotify()) continue;
    const shown = new Notification(entry.title || entry.team, { body: app.t(`need.${entry.needs ?? "failed"}`), tag: entry.session_id, icon: app.asset("favicon.svg") });
    shown.onclick = () => { window.focus(); open(entry.session_id); };
  }
}
