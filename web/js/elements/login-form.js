// Asks for a token where the address had none.

import { find, h } from "../dom.js";
import { Part } from "../part.js";

export class LoginForm extends Part {
  /** @param {Translate} t */
  build(t) {
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      const input = find(this, "input");
      void this.app.start(input.value.trim());
      input.value = "";
    };
    this.append(h("main", {}, h("h1", { text: "Moot" }), h("p", {}, ...t("login.intro").split("`").map((words, at) => (at % 2 ? h("code", { text: words }) : words))), h("form", { onsubmit: submit },
      h("label", { for: "token", text: t("login.token") }),
      h("input", { id: "token", type: "password", autocomplete: "off", required: true, spellcheck: "false" }),
      h("button", { class: "primary", text: t("login.open") })),
    h("p", { class: "problem", role: "alert" })));
  }

  /** @param {App} app */
  render(app) {
    this.hidden = !app.isReady || app.me !== null;
    find(this, ".problem").textContent = app.loginProblem && app.t(app.loginProblem);
  }
}
