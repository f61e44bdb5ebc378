// Short messages in a corner: what was refused, what can be undone.

import { h, keyed } from "../dom.js";
import { icon } from "../icons.js";
import { Part } from "../part.js";

export class ToastStack extends Part {
  /** @param {App} app */
  render(app) {
    this.setAttribute("role", "status");
    keyed(this, app.toasts, (toast) => String(toast.id), ({ id, text, kind, action }) => h("div", { class: `toast ${kind}` },
      h("span", { text }),
      action && h("button", { text: action.label, onclick: () => { action.run(); app.drop(id); } }),
      h("button", { class: "ghost", "aria-label": app.t("close"), onclick: () => app.drop(id) }, icon("x"))));
  }
}
