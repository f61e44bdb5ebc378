// Wires the page: words, model, elements, keys. Everything else knows only its own part.

import { api } from "./api.js";
import { App } from "./app.js";
import { hear } from "./dom.js";
import "./elements/all.js";
import { pickLanguage } from "./i18n.js";
import { bindKeys } from "./keys.js";
import { Part } from "./part.js";
import { recall, remember } from "./prefs.js";

const links = /** @type {NodeListOf<HTMLLinkElement>} */ (document.querySelectorAll("link[hreflang]")); // written by the server
const languages = [...links].map((link) => ({ code: /** @type {Language} */ (link.hreflang), name: link.title, short: link.dataset.short ?? link.hreflang }));
const asked = [new URLSearchParams(location.search).get("lang"), recall("language"), ...navigator.languages];
const language = pickLanguage(languages.map((each) => each.code), /** @type {Language} */ (document.documentElement.lang), asked);
const words = await api.words(language);
const parts = [...document.querySelectorAll("*")].filter((each) => each instanceof Part);
let isScheduled = false, isLate = false;

function render() {
  isScheduled = isLate = false;
  const { t, view } = app;
  const shell = /** @type {HTMLElement} */ (document.getElementById("shell"));
  shell.hidden = app.isReady && !app.me;
  document.documentElement.lang = t("language_tag");
  for (const part of app.isBehind ? parts.filter((each) => each.localName === "top-bar") : parts) {
    try {
      part.update(app);
    } catch (error) { // one that fails must not take the others with it
      reportError(error);
    }
  }
  if (app.isBehind) schedule();
  const waits = view?.questions.length ?? 0;
  const title = view?.title || view?.team || "";
  document.title = `${waits ? `(${waits}) ` : ""}${title ? `${title} · ` : ""}Moot`;
  shell.querySelector(".skip")?.replaceChildren(t("skip_link"));
  document.getElementById("sessions")?.setAttribute("aria-label", t("sessions"));
  document.getElementById("inspector")?.setAttribute("aria-label", t("inspector"));
}

/** With the next frame; later while nobody looks, or while history comes, until all of it is there. */
function schedule() {
  const waits = document.hidden || app.isBehind;
  if (isScheduled && (!isLate || waits)) return;
  isScheduled = true;
  isLate = waits;
  if (waits) setTimeout(() => isLate && render(), 100);
  else requestAnimationFrame(render);
}

const app = new App({ words, language, languages, changed: schedule });

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
addEventListener("popstate", () => {
  const id = /^\/s\/([a-z0-9_-]+)/.exec(location.pathname)?.[1];
  if (id) app.open(id, { isKept: true });
});
addEventListener("hashchange", () => readToken() && location.reload()); // a link with a token, pasted into this tab
setInterval(() => document.hidden || parts.forEach((part) => part.app && part.tick()), 1000); // those that are drawn
bindKeys(app);

const readToken = () => new URLSearchParams(location.hash.slice(1)).get("token");
const token = readToken();
if (token) history.replaceState(null, "", location.pathname + location.search); // it leaves the address bar at once
await app.start(token);
