// Browser notifications, for those who asked for them: when a session begins to need somebody and the page is not looked at.

import { recall } from "./prefs.js";
import { standingOf } from "./view/needs.ts";

const known = new Map<string, string>();

export const mayNotify = () => "Notification" in window && Notification.permission === "granted" && recall("notify") === "on";

/** Called with every change of the list; the first one only teaches what is there already. */
export function notify(app: App): void {
  const isFirst = known.size === 0;
  for (const entry of app.sessions) {
    const standing = standingOf(entry, app.me?.member ?? null), need = ["asks", "failed"].includes(standing) ? `${entry.needs ?? standing}` : "";
    const isNew = need && known.get(entry.session_id) !== need;
    known.set(entry.session_id, need);
    if (!isNew || isFirst || !document.hidden || !mayNotify()) continue;
    const body = app.t(`need.${entry.needs ?? "failed"}`), tag = entry.session_id;
    void show(entry.title || entry.team, { body, tag, data: `/s/${tag}`, icon: app.asset("favicon.svg") });
  }
}

/** By the service worker, which also hears of the click; phones know no other way. */
async function show(title: string, options: NotificationOptions): Promise<void> {
  const worker = await navigator.serviceWorker?.getRegistration();
  await worker?.showNotification(title, options);
}

/** A notification was clicked: its session is wanted. */
export function onNotificationClick(open: (id: string) => void): void {
  navigator.serviceWorker?.addEventListener("message", ({ data }) => open(String(data).slice("/s/".length)));
}
