// Starting a session: which team, and a name if one is wanted.

import { dialogHead, find, h, hear, keyed } from "../dom.js";
import { Part } from "../part.js";
import { showPane } from "./pane-tabs.js";

export class NewSession extends Part {
  connectedCallback() {
    hear("new", () => this.#open());
  }

  /** @param {Translate} t */
  build(t) {
    this.append(h("dialog", { "aria-labelledby": "new-title" }, h("form", { method: "dialog", onsubmit: (event) => { event.preventDefault(); void this.#create(); } },
      dialogHead(t, "new-title", t("new_session")),
      h("fieldset", { class: "teams" }, h("legend", { text: t("team") }), h("div", { class: "list" })),
      h("label", {}, h("span", { text: t("session_title") }), h("input", { class: "name", maxlength: 200, placeholder: t("optional") })),
      h("p", { class: "problem", role: "alert" }),
      h("footer", {}, h("span", { class: "space" }), h("button", { class: "primary", text: t("start") })))));
  }

  get #dialog() {
    return find(this, "dialog");
  }

  #open() {
    if (!this.app.mayCreate || this.#dialog.open) return;
    find(this, ".problem").textContent = "";
    this.#dialog.showModal();
    this.render();
  }

  /** The teams may come after the dialog. */
  render() {
    if (!this.#dialog.open) return;
    const { t, teams } = this.app;
    keyed(find(this, ".list"), teams, (team) => team.name, (team) => h("label", { class: "team" },
      h("input", { type: "radio", name: "team", value: team.name }),
      h("span", {}, h("b", { text: team.name }), h("small", { text: `${t(`flow.${team.flow}`)} · ${team.members.map((/** @type {any} */ each) => each.display_name).join(", ")}` }))));
    const first = find(this, "input[type=radio]");
    if (first && !find(this, "input:checked")) first.checked = true;
  }

  async #create() {
    const team = find(this, "input:checked")?.value, name = find(this, ".name");
    try {
      await this.app.create(team, name.value.trim());
    } catch (error) {
      find(this, ".problem").textContent = error instanceof Error ? error.message : String(error);
      return;
    }
    name.value = "";
    this.#dialog.close();
    showPane("talk");
    find(document, "#composer")?.focus();
  }
}
