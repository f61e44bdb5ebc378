// Giving a session another name.

import { api } from "../api.js";
import { dialogHead, find, h, hear } from "../dom.js";
import { Part } from "../part.js";

export class RenameDialog extends Part {
  #id = "";

  connectedCallback() {
    hear("rename", (entry) => this.#open(entry));
  }

  /** @param {Translate} t */
  build(t) {
    this.append(h("dialog", { "aria-labelledby": "rename-title" }, h("form", { method: "dialog", onsubmit: (event) => { event.preventDefault(); void this.#submit(); } },
      dialogHead(t, "rename-title", t("deed.rename")),
      h("label", {}, h("span", { text: t("session_title") }), h("input", { class: "name", maxlength: 200 })),
      h("p", { class: "problem", role: "alert" }),
      h("footer", {}, h("span", { class: "space" }), h("button", { class: "primary", text: t("deed.rename") })))));
  }

  /** @param {Entry} entry */
  #open({ session_id: id, title, team }) {
    const name = find(this, ".name");
    this.#id = id;
    find(this, ".problem").textContent = "";
    name.value = title || team;
    find(this, "dialog").showModal();
    name.select();
  }

  async #submit() {
    const { app } = this, renamed = api.rename(this.#id, find(this, ".name").value.trim(), app.language);
    const problem = await renamed.then(() => "", (/** @type {Error} */ error) => error.message);
    find(this, ".problem").textContent = problem;
    if (problem) return;
    find(this, "dialog").close();
    await app.listing.read();
  }
}
