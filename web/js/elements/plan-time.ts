// When each task ran: a bar for each attempt, on one scale.

import { html, nothing } from "lit/html.js";
import { LitPart } from "../lit-part.js";

export class PlanTime extends LitPart {
  template(app: App) {
    const rows = (app.tape?.rows.list ?? []).filter((row) => row.event === "solver.start" && row.seq <= app.seq);
    if (!rows.length) return nothing;
    const now = app.replay?.at ? Date.parse(app.replay.at) : Date.now();
    const begin = Date.parse(rows[0].at), ends = rows.map((row) => (row.endedAt ? Date.parse(row.endedAt) : now));
    const whole = Math.max(1, Math.max(...ends) - begin);
    const titles = [...new Set(rows.map((row) => row.title))];
    return titles.map((title) => html`<span class="label" title=${title}>${title}</span><span class="track">${rows.map((row, at) => row.title === title
      ? html`<span class="bar ${row.outcome ?? ""}" title="${Math.round((ends[at] - Date.parse(row.at)) / 1000)} s" .style=${`left: ${(100 * (Date.parse(row.at) - begin)) / whole}%; width: ${(100 * (ends[at] - Date.parse(row.at))) / whole}%`}></span>` : nothing)}</span>`);
  }

  tick() {
    this.draw();
  }
}
