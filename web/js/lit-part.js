// A part of the page that is a template of what the model says.

import { render } from "lit/html.js";
import { Part } from "./part.js";

export class LitPart extends Part {
  /** @param {App} app */
  update(app) {
    this.app = app;
    this.draw();
  }

  /** Again, when only this part has changed. */
  draw() {
    if (this.app) render(this.template(this.app, this.app.view), this);
    if (this.app) this.drawn(this.app);
  }

  /** @param {App} app @param {View | null} view @returns {unknown} */
  template(app, view) { void app; void view; return null; }

  /** What can be done only once the template is in the document. @param {App} app */
  drawn(app) { void app; }
}
