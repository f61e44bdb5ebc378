// The tasks of a plan as a graph: what waits for what, and how far each is. The layout comes when it is first shown.

import { html, nothing, svg } from "lit/html.js";
import { LitPart } from "../lit-part.js";
import { nameOf, runsOf } from "../view/names.js";
import { columnOf } from "../view/columns.js";

const USUAL = { wide: 156, high: 58, letters: 20, lines: 2 }; // a node, and the text in it
const NARROW = { wide: 100, high: 74, letters: 12, lines: 3 }; // where many stand side by side
const PANEL = 392, MARGIN = 32;
const READABLE = 0.9, SMALLEST = 0.75; // how much smaller it may be drawn: before nodes are made narrow, before it is scrolled
type Layers = typeof import("../plan/layers.ts");
let layers: Layers | null = null;

export class PlanGraph extends LitPart {
  tasks: Task[] | null = null; // those of a draft, instead of the work's
  #key = "";
  #drawn: ReturnType<Layers["layOut"]> | null = null;
  #size = USUAL;

  template(app: App, view: View | null) {
    const known = runsOf(view), { t } = app;
    const runs = known.length && !this.tasks ? known : (this.tasks ?? view?.work?.proposed ?? []).map((task) => ({ task, state: "CREATED", member: "" }) as unknown as TaskRun); // a plan that waits for a yes
    if (!runs.length) return nothing;
    if (!layers) {
      void import("../plan/layers.ts").then((loaded) => { layers = loaded; app.changed(); }, () => undefined);
      return nothing;
    }
    const room = (this.clientWidth || PANEL) - MARGIN, tasks = runs.map((run) => run.task);
    const key = `${room} ${tasks.map((task) => `${task.id}<${task.depends_on ?? ""}`).join()}`;
    if (key !== this.#key) {
      this.#key = key;
      for (this.#size of [USUAL, NARROW]) {
        this.#drawn = layers.layOut(tasks, this.#size.wide, this.#size.high);
        if (this.#drawn.width * READABLE <= room) break;
      }
    }
    const { width, height, nodes, edges } = this.#drawn as ReturnType<Layers["layOut"]>;
    return html`<svg class=${width * SMALLEST > room ? "wide" : ""} width=${width} height=${height} viewBox="0 0 ${width} ${height}" role="group" aria-label=${t("work.graph")}>
      ${edges.map((path) => svg`<path class="edge" d=${path} />`)}
      ${nodes.map(({ id, x, y }) => this.#node(app, runs.find((run) => run.task.id === id) as TaskRun, x, y))}</svg>`;
  }

  #node({ t, view }: App, run: TaskRun, x: number, y: number) {
    const { wide, high, letters, lines } = this.#size, { task, state } = run, column = columnOf(run), who = nameOf(view, run.member || task.member) || task.role || t("any_executor");
    const mark = run.is_skipped ? "– " : { done: "✓ ", failed: "✗ ", running: "● " }[column] ?? "";
    const choose = () => this.dispatchEvent(new CustomEvent("choose", { detail: task.id, bubbles: true }));
    const press = (event: KeyboardEvent) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); } };
    return svg`<g class="node ${run.is_skipped ? "skipped" : column}" transform="translate(${x} ${y})" tabindex=${this.tasks ? nothing : "0"} role=${this.tasks ? "img" : "button"} @click=${choose} @keydown=${press}>
      <title>${`${task.title}: ${t(run.is_skipped ? "task.skipped" : `state.${state}`)}`}</title><rect width=${wide} height=${high} rx="8" />
      ${fold(mark + task.title, letters, lines).map((line, at) => svg`<text x="10" y=${19 + 15 * at}>${line}</text>`)}<text class="sub" x="10" y=${high - 10}>${fold(who, letters, 1)[0]}</text></g>`;
  }
}

const widthOf = (text: string) => [...text].reduce((sum, letter) => sum + (letter.charCodeAt(0) > 0x2e7f ? 2 : 1), 0);

/** At most so many lines; wide letters count twice. */
function fold(text: string, letters: number, most: number): string[] {
  const lines = [""];
  for (const word of text.match(/[\u2e80-\uffff]|[^\s\u2e80-\uffff]+\s*|\s+/gu) ?? []) {
    if (widthOf(lines[lines.length - 1] + word.trimEnd()) > letters && lines[lines.length - 1]) lines.push("");
    lines[lines.length - 1] += word;
  }
  return lines.slice(0, most).map((line, at) => {
    const isCut = at === most - 1 && lines.length > most;
    return isCut || widthOf(line.trimEnd()) > letters ? cut(line, letters - (isCut ? 1 : 0), isCut) : line;
  });
}

function cut(text: string, most: number, hasMore: boolean): string {
  let room = most, kept = "";
  for (const letter of text.trimEnd()) {
    room -= widthOf(letter);
    if (room < 0) return `${kept}…`;
    kept += letter;
  }
  return hasMore ? `${kept}…` : kept;
}
