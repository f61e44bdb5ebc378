// Parts that come when one of them is first shown: the first load stays small.

import { hear, tell } from "../dom.js";

/** Dialogs, by what is told to open them. @type {Record<string, string>} */
const DIALOGS = { help: "help-dialog", palette: "command-palette", plan: "plan-editor", rename: "rename-dialog", settings: "settings-dialog", share: "share-dialog", "team-file": "team-editor" };
const OTHERS = ["demo-bar"]; // in the document from the start, too

/** @type {Promise<void> | null} */
let loading = null;

/** @param {string} name of an element @param {App} app */
export async function load(name, app) {
  if (customElements.get(name)) return;
  loading ??= Promise.all([import("./lazy.js"), dress(app)]).then(([{ LAZY }]) => {
    for (const [each, element] of Object.entries(LAZY)) customElements.define(each, element);
    for (const each of [...Object.values(DIALOGS), ...OTHERS]) tell("loaded", document.querySelector(each));
    app.changed();
  }, () => { loading = null; }); // offline: the next look tries again
  await loading;
}

/** Their styles. @param {App} app @returns {Promise<unknown>} */
const dress = (app) => new Promise((onload, onerror) => {
  document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: app.asset("css/lazy.css"), onload, onerror }));
});

/** A dialog that is not here yet is fetched, and then told what it missed. @param {App} app */
export function bindDialogs(app) {
  for (const [topic, name] of Object.entries(DIALOGS)) {
    hear(topic, (given) => {
      if (!customElements.get(name)) void load(name, app).then(() => customElements.get(name) && tell(topic, given));
    });
  }
}
