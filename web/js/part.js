// What the page's elements have in common: built once (and again in another language), then kept up to date.

export class Part extends HTMLElement {
  /** @type {App} */
  app = /** @type {any} */ (null);
  #language = "";

  /** @param {App} app */
  update(app) {
    this.app = app;
    if (this.#language !== app.language) {
      this.#language = app.language;
      this.replaceChildren();
      this.build(app.t);
    }
    this.render(app, app.view);
  }

  /** @param {Translate} t */
  build(t) { void t; }

  /** @param {App} app @param {View | null} view */
  render(app, view) { void app; void view; }

  /** Once a second: what counts time. */
  tick() {}
}
