// When each task ran: a bar for each attempt, on one scale.

import { html, nothing } from "lit/html.js";
import { LitPart } from "../lit-part.js";

const idOf = (row: Row): string => row.frame.metadata.task.id;

export class PlanTime extends LitPart {
  template(app: App) {
    const rows = (app.tape?.rows.list ?? []).filter((row) => row.event === "solver.start" && row.seq <= app.seq);
    if (!rows.length) return nothing;
    const now = app.replay?.at ? Date.parse(app.replay.at) : Date.now();
    const begin = Date.parse(rows[0].at), ends = rows.map((row) => (row.endedAt ? Date.parse(row.endedAt) : now));
    const whole = Math.max(1, Math.max(...ends) - begin);
    const tasks = new Map(rows.map((row) => [idOf(row), row.title])); // two may have one title
    return [...tasks].map(([id, title]) => html`<span class="label" title=${title}>${title}</span><span class="track">${rows.map((row, at) => idOf(row) === id
      ? html`<span class="bar ${row.outcome ?? ""}" title="${Math.round((ends[at] - Date.parse(row.at)) / 1000)} s" .style=${`left: ${(100 * (Date.parse(row.at) - begin)) / whole}%; width: ${(100 * (ends[at] - Date.parse(row.at))) / whole}%`}></span>` : nothing)}</span>`);
  }

  tick() {
    this.draw();
  }
}
