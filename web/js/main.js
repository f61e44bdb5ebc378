// Wires the page: words, model, elements, keys. Everything else knows only its own part.

import { api } from "./api.js";
import { App } from "./app.js";
import { hear } from "./dom.js";
import "./elements/all.js";
import { bindDialogs } from "./elements/later.js";
import { showPane } from "./elements/pane-tabs.js";
import { pickLanguage } from "./i18n.js";
import { bindKeys } from "./keys.js";
import { notify, onNotificationClick } from "./notify.ts";
import { Part } from "./part.js";
import { recall, remember } from "./prefs.js";
import { countNeeds } from "./view/needs.ts";

const links = /** @type {NodeListOf<HTMLLinkElement>} */ (document.querySelectorAll("link[hreflang]")); // written by the server
const languages = [...links].map((link) => ({ code: /** @type {Language} */ (link.hreflang), name: link.title, short: link.dataset.short ?? link.hreflang }));
const asked = [new URLSearchParams(location.search).get("lang"), recall("language"), ...navigator.languages];
const language = pickLanguage(languages.map((each) => each.code), /** @type {Language} */ (document.documentElement.lang), asked);
const parts = [...document.querySelectorAll("*")].filter((each) => each instanceof Part);
let badged = 0;
let isScheduled = true, isLate = false; // until there are words

function render() {
  isScheduled = isLate = false;
  const { t, view } = app;
  const shell = /** @type {HTMLElement} */ (document.getElementById("shell"));
  shell.hidden = app.isReady && !app.me;
  if (document.documentElement.lang !== t("language_tag")) document.documentElement.lang = t("language_tag"); // it has everything styled anew
  for (const part of app.isBehind ? parts.filter((each) => each.localName === "top-bar") : parts) {
    try {
      part.update(app);
    } catch (error) { // one that fails must not take the others with it
      reportError(error);
    }
  }
  if (app.isBehind) schedule();
  const waits = Math.max(countNeeds(app.sessions, app.me?.member ?? null), view?.questions.length ?? 0);
  const title = app.tape ? view?.title || view?.team || "" : "";
  document.title = `${waits ? `(${waits}) ` : ""}${title ? `${title} · ` : ""}Moot`;
  badge(waits);
  if (app.sessions.length) notify(app);
  document.documentElement.toggleAttribute("data-home", !app.tape || (app.tape.ended !== null && !app.tape.view)); // nothing to stand beside
  shell.querySelector(".skip")?.replaceChildren(t("skip_link"));
  document.getElementById("sessions")?.setAttribute("aria-label", t("sessions"));
  document.getElementById("inspector")?.setAttribute("aria-label", t("inspector"));
}

/** The icon of the page says whether something needs you. @param {number} count */
function badge(count) {
  const link = /** @type {HTMLLinkElement} */ (document.querySelector("link[rel=icon]")), name = count ? "favicon-needs.svg" : "favicon.svg";
  if (!link.href.endsWith(`/${name}`)) link.href = app.asset(name);
  if (count === badged) return;
  badged = count;
  if ("setAppBadge" in navigator) void (count ? navigator.setAppBadge(count) : navigator.clearAppBadge()).catch(() => undefined);
}

/** With the next frame; later while nobody looks, or while history comes, until all of it is there. */
function schedule() {
  const waits = document.hidden || app.isBehind;
  if (isScheduled && (isLate ? waits : !document.hidden)) return; // no frame comes to who is hidden
  isScheduled = true;
  isLate = waits;
  if (waits) setTimeout(() => isLate && render(), 100);
  else requestAnimationFrame(render);
}

const app = new App({ language, languages, changed: schedule });

/** @param {Language} wanted */
async function speak(wanted) {
  remember("language", wanted);
  app.setLanguage(wanted, await api.words(wanted));
}

/** @param {string} theme system, light or dark */
function paint(theme) {
  remember("theme", theme === "system" ? null : theme);
  document.documentElement.dataset.theme = theme;
  app.changed();
}

document.documentElement.dataset.theme = recall("theme") ?? "system";
document.documentElement.dataset.inspector = recall("inspector") ?? "open";
hear("language", (wanted) => void speak(wanted));
hear("theme", paint);
hear("loaded", (part) => {
  part.update(app);
  parts.push(part);
});
addEventListener("popstate", () => {
  const id = /^\/s\/([a-z0-9_-]+)/.exec(location.pathname)?.[1];
  if (id) app.open(id, { isKept: true });
  else if (location.pathname === "/") app.goHome();
});
addEventListener("hashchange", () => readToken() && location.reload()); // a link with a token, pasted into this tab
setInterval(() => document.hidden || parts.forEach((part) => part.app && part.tick()), 1000); // those that are drawn
bindKeys(app);
bindDialogs(app);
onNotificationClick((id) => { showPane("talk"); app.open(id); });

/** So that the page opens without a network. Browsers offer this on https and on this machine only. */
function keepShell() {
  const policy = /** @type {any} */ (window).trustedTypes?.createPolicy("moot", { createScriptURL: (/** @type {string} */ path) => path });
  const path = app.asset("js/sw.js");
  void navigator.serviceWorker?.register(policy?.createScriptURL(path) ?? path, { scope: "/" }).catch(() => undefined);
}

const readToken = () => new URLSearchParams(location.hash.slice(1)).get("token");
if (innerWidth <= 720 && location.pathname === "/") document.documentElement.dataset.pane = "sessions"; // a phone opens on what needs you
const started = app.start(readToken()); // before the words are here: the way to the server is long
app.learn(language, await api.words(language));
render();
await started;
setTimeout(keepShell, 2_000); // not while there is something to load
const demo = new URLSearchParams(location.search).get("demo");
if (demo !== null && app.mayCreate) {
  history.replaceState(null, "", "/");
  await /** @type {any} */ (document.querySelector("start-page")).watch(demo);
}
