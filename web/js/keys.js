// Keys that work anywhere on the page. Single letters only outside of inputs, and they can be switched off.

import { find, hear, isTyping, tell } from "./dom.js";
import { showPane } from "./elements/pane-tabs.js";
import { recall, remember } from "./prefs.js";
import { escapeOf } from "./view/names.js";

const PANES = ["#sessions a, #sessions input", "chat-log .log", "confirm-cards:not([hidden]) button", "#composer", "#inspector [role=tab][tabindex='0']"];

/** @param {App} app */
export function bindKeys(app) {
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && key === "k") return stop(event, () => tell("palette"));
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "F2") return stop(event, () => find(document, "session-list").rename());
    if (event.key === "F6") return stop(event, () => nextPane(event.shiftKey ? -1 : 1));
    if (event.key === "Escape") return escape(app, event);
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || recall("letters") === "off") return;
    const deed = LETTERS[event.key];
    if (deed) stop(event, deed);
  });
  hear("inspector", () => toggleInspector(app));
  hear("tab", (name) => {
    find(document, "side-panel").show(name);
    if (!find(document, "#inspector").checkVisibility()) toggleInspector(app);
  });
  app.refused = ({ event, fields }, why) => {
    if (event === "user.message") find(document, "chat-composer").refuse(fields.content, why.sentence);
    else if (event !== "user.response" || !fields.tasks || !find(document, "plan-editor").refuse(why)) app.toast(why.sentence, "error");
  };
}

/** @type {Record<string, () => void>} */
const LETTERS = {
  "/": () => find(document, "#composer")?.focus(),
  "?": () => tell("help"),
  j: () => find(document, "time-line")?.step(1),
  k: () => find(document, "time-line")?.step(-1),
  "[": () => find(document, "session-list").step(-1),
  "]": () => find(document, "session-list").step(1),
};

/** @param {KeyboardEvent} event @param {() => void} deed */
function stop(event, deed) {
  event.preventDefault();
  deed();
}

/** Leave what is open; else stop the running turn of a chat, or pause the work. @param {App} app @param {KeyboardEvent} event */
function escape(app, event) {
  const root = document.documentElement, does = app.mayWrite && app.view ? escapeOf(app.view) : "";
  if (app.replay) return stop(event, () => app.endReplay());
  if (root.hasAttribute("data-drawer")) return stop(event, () => root.removeAttribute("data-drawer"));
  if (does === "pause") return stop(event, () => void app.send("user.pause", { trigger: "esc" }));
  if (does === "stop") return stop(event, () => void app.send("user.stop"));
  if (app.selected !== null) stop(event, () => app.select(null));
}

/** @param {number} by */
function nextPane(by) {
  const stops = PANES.map((selector) => find(document, selector)).filter((each) => each?.checkVisibility());
  const active = document.activeElement;
  const at = stops.findIndex((each) => each === active || each?.closest("nav, chat-log, confirm-cards, chat-composer, aside")?.contains(active));
  stops[(at + by + stops.length) % stops.length]?.focus();
}

/** @param {App} app */
function toggleInspector(app) {
  const root = document.documentElement;
  if (innerWidth <= 720) showPane(root.dataset.pane === "inspector" ? "talk" : "inspector");
  else if (innerWidth <= 1100) root.toggleAttribute("data-drawer");
  else {
    root.dataset.inspector = root.dataset.inspector === "open" ? "closed" : "open";
    remember("inspector", root.dataset.inspector);
  }
  app.changed();
}
