// A demo that plays: what to look at, what will be said next, and the ways on, to a halt and out.

import { html, nothing } from "lit/html.js";
import { Demo } from "../demo.ts";
import { icon } from "../icons.js";
import { LitPart } from "../lit-part.js";

export class DemoBar extends LitPart {
  play(app: App, flow: string) {
    return Demo.play(app, flow);
  }

  template(app: App) {
    const { demo, t } = app;
    this.hidden = !demo?.isHere;
    if (!demo?.isHere) return nothing;
    demo.look();
    const { at, of } = demo.progress, name = demo.isPaused ? "demo.play" : "demo.pause";
    return html`<p class="caption" role="status">${demo.caption || t("demo.begins")}</p>
      ${demo.words ? html`<p class="words"><span>${t("demo.you_say")}</span> ${demo.words}</p>` : nothing}
      <div class="foot"><span class="label">${t("demo.title")}</span><progress max=${of} value=${at} aria-label=${t("demo.title")}></progress><span class="space"></span>
        ${demo.isOver ? html`<button class="ghost over" @click=${() => { demo.end(); app.goHome(); }}>${t("demo.over")}</button>` : html`
        <button class="ghost pause" title=${t(name)} aria-label=${t(name)} @click=${() => demo.togglePause()}>${icon(demo.isPaused ? "play" : "pause")}</button>
        <button class="ghost next" @click=${() => demo.go()}>${t("demo.next")}${icon("skip")}</button>
        <button class="ghost end" @click=${() => demo.end()}>${t("demo.end")}</button>`}</div>`;
  }
}
