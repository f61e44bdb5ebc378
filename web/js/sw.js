// Keeps the page itself: without a network it opens, and says that there is none. Nothing of any session is kept.
// Its address has the version of the page, so each version has a cache of its own.

const scope = /** @type {any} */ (self), NAME = `moot${scope.location.pathname}`;

scope.addEventListener("install", (/** @type {any} */ event) => {
  event.waitUntil(caches.open(NAME).then((cache) => cache.add("/")).then(() => scope.skipWaiting()));
});

scope.addEventListener("activate", (/** @type {any} */ event) => {
  const isOld = (/** @type {string} */ name) => name.startsWith("moot/") && name !== NAME;
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter(isOld).map((name) => caches.delete(name)))).then(() => scope.clients.claim()));
});

scope.addEventListener("fetch", (/** @type {any} */ event) => {
  const { request } = event, { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== scope.location.origin) return;
  if (request.mode === "navigate" && (pathname === "/" || pathname.startsWith("/s/"))) event.respondWith(fetch(request).catch(() => caches.match("/")));
  else if (pathname.startsWith("/static/")) event.respondWith(keep(request));
});

scope.addEventListener("notificationclick", (/** @type {any} */ event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data));
});

/** The session of a notification: where the page is open, else in a window of its own. @param {string} path */
async function show(path) {
  const [page] = await scope.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (!page) return scope.clients.openWindow(path);
  page.postMessage(path);
  await page.focus();
}

/** A file of the page never changes under its address. @param {Request} request */
async function keep(request) {
  const kept = await caches.match(request);
  if (kept) return kept;
  const answer = await fetch(request);
  if (answer.ok) await (await caches.open(NAME)).put(request, answer.clone());
  return answer;
}
