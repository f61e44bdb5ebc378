// Starting a session: which team, and a name if one is wanted; or giving one another name.

import { api } from "../api.js";
import { dialogHead, find, h, hear, keyed, set } from "../dom.js";
import { Part } from "../part.js";
import { showPane } from "./pane-tabs.js";

export class NewSession extends Part {
  /** @type {Entry | null} to be renamed */
  #entry = null;
  #isStarted = false;

  connectedCallback() {
    hear("new", (entry) => this.#open(entry));
  }

  /** @param {Translate} t */
  build(t) {
    this.append(h("dialog", { "aria-labelledby": "new-title" }, h("form", { method: "dialog", onsubmit: (event) => { event.preventDefault(); void this.#submit(); } },
      dialogHead(t, "new-title", ""),
      h("fieldset", { class: "teams" }, h("legend", { text: t("team") }), h("div", { class: "list" })),
      h("label", {}, h("span", { text: t("session_title") }), h("input", { class: "name", maxlength: 200 })),
      h("p", { class: "problem", role: "alert" }),
      h("footer", {}, h("span", { class: "space" }), h("button", { class: "primary" })))));
  }

  get #dialog() {
    return find(this, "dialog");
  }

  /** @param {Entry | null} entry */
  #open(entry) {
    const { t, mayCreate } = this.app, name = find(this, ".name");
    if (!(entry || mayCreate) || this.#dialog.open) return;
    this.#entry = entry;
    find(this, ".problem").textContent = "";
    set(find(this, "h2"), { text: t(entry ? "deed.rename" : "new_session") });
    set(find(this, ".primary"), { text: t(entry ? "deed.rename" : "start") });
    set(find(this, ".teams"), { hidden: !!entry });
    set(name, { value: entry ? entry.title || entry.team : "", placeholder: entry ? "" : t("optional") });
    this.#dialog.showModal();
    if (entry) name.select();
    this.render();
  }

  /** The teams may come after the dialog, the message box after the session. */
  render() {
    if (this.#isStarted && find(document, "#composer").checkVisibility()) {
      this.#isStarted = false;
      find(document, "#composer").focus();
    }
    if (!this.#dialog.open) return;
    const { t, teams } = this.app;
    keyed(find(this, ".list"), teams, (team) => team.name, (team) => h("label", { class: "team" },
      h("input", { type: "radio", name: "team", value: team.name }),
      h("span", {}, h("b", { text: team.name }), h("small", { text: `${t(`flow.${team.flow}`)} · ${team.members.map((/** @type {any} */ each) => each.display_name).join(", ")}` }),
        team.scripted && h("small", { class: "scripted", text: t("scripted") }))));
    const first = find(this, "input[type=radio]");
    if (first && !find(this, "input:checked")) first.checked = true;
  }

  async #submit() {
    const { app } = this, entry = this.#entry, title = find(this, ".name").value.trim();
    const done = entry ? api.rename(entry.session_id, title, app.language) : app.create(find(this, "input:checked")?.value, title);
    const problem = await done.then(() => "", (/** @type {Error} */ error) => error.message);
    find(this, ".problem").textContent = problem;
    if (problem) return;
    this.#dialog.close();
    if (entry) return app.list();
    showPane("talk");
    this.#isStarted = true;
    app.changed();
  }
}
