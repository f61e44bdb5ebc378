// The machines of a session, drawn from their tables, lit where they stand; and the same as text.

import { find, h, keyed, set } from "../dom.js";
import { layOut } from "../machine/layout.js";
import { word } from "../i18n.js";
import { Part } from "../part.js";
import { walks } from "../machine/walks.js";

const SVG = "http://www.w3.org/2000/svg";

/** @param {string} tag @param {Record<string, any>} props @param {...Node} children */
function s(tag, props, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

/** What a state is called: the drawing shows its code. @param {Translate} t @param {Machine} machine @param {string} state */
const toldOf = (t, machine, state) => word(t, machine.name === "task" ? "state" : "phase", state);

export class StateMap extends Part {
  #picked = "";
  #drawn = "";

  /** @param {Translate} t */
  build(t) {
    this.append(
      h("select", { "aria-label": t("machine"), onchange: (event) => { this.#picked = event.target.value; this.app.changed(); } }),
      h("p", { class: "now", role: "status" }),
      h("div", { class: "picture" }),
      h("details", {}, h("summary", { text: t("as_text") }), h("ul", { class: "rows" })));
    this.#drawn = "";
  }

  /** @param {App} app */
  render(app) {
    const { t } = app, lit = walks(app);
    const picker = find(this, "select");
    keyed(picker, lit, (each) => each.id, (each) => h("option", { value: each.id }));
    lit.forEach((each, at) => set(picker.children[at], { text: `${t(`machine.${each.machine}`)}${each.about ? ` · ${each.about}` : ""}` }));
    const shown = lit.find((each) => each.id === this.#picked) ?? lit[0];
    void app.lookUpMachines();
    const machine = app.machines.find((each) => each.name === shown?.machine);
    if (!shown || !machine) return;
    set(picker, { value: shown.id });
    const { walk } = shown;
    const came = walk.trigger ? ` ← ${walk.from && walk.from !== walk.state ? `${walk.from} · ` : ""}${walk.trigger}` : "";
    const told = toldOf(t, machine, walk.state);
    set(find(this, ".now"), { text: `${t("current")}: ${told === walk.state ? "" : `${told} · `}${walk.state}${came}` });
    const key = `${machine.name} ${this.clientWidth}`;
    if (key !== this.#drawn) {
      this.#drawn = key;
      this.#draw(machine);
    }
    this.#light(walk);
  }

  /** @param {Machine} machine */
  #draw(machine) {
    const { boxes, edges, width, height } = layOut(machine, Math.max(300, this.clientWidth - 24));
    const arrow = s("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse" }, s("path", { d: "M0 0L8 4L0 8z" }));
    const lines = edges.map((edge) => {
      const title = s("title", {});
      title.textContent = `${edge.from} → ${edge.to}: ${edge.triggers.join(", ")}`;
      return s("path", { class: `edge${edge.isExtension ? " extension" : ""}`, d: edge.path, "data-edge": `${edge.from} ${edge.to}`, "marker-end": "url(#arrow)" }, title);
    });
    const nodes = boxes.map((box) => {
      const text = s("text", { x: box.x + box.w / 2, y: box.y + box.h / 2 });
      text.textContent = box.state;
      const title = s("title", {});
      title.textContent = toldOf(this.app.t, machine, box.state);
      return s("g", { class: `node${box.isFinal ? " final" : ""}`, "data-state": box.state }, title, s("rect", { x: box.x, y: box.y, width: box.w, height: box.h, rx: 6 }), text);
    });
    const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": this.app.t(`machine.${machine.name}`) }, s("defs", {}, arrow), ...lines, ...nodes);
    find(this, ".picture").replaceChildren(svg);
    keyed(find(this, ".rows"), machine.transitions, (row) => `${row.from} ${row.trigger} ${row.to}`, (row) => h("li", { "data-row": `${row.from} ${row.trigger} ${row.to}`, text: `${row.from} — ${row.trigger} → ${row.to}` }));
  }

  /** @param {Walk} walk */
  #light(walk) {
    for (const node of this.querySelectorAll(".node")) {
      const state = node.getAttribute("data-state") ?? "";
      node.classList.toggle("current", state === walk.state);
      node.classList.toggle("seen", state !== walk.state && walk.seen.includes(state));
    }
    for (const edge of this.querySelectorAll(".edge")) edge.classList.toggle("last", edge.getAttribute("data-edge") === `${walk.from} ${walk.state}`);
    for (const row of this.querySelectorAll("[data-row]")) row.classList.toggle("last", row.getAttribute("data-row") === `${walk.from} ${walk.trigger} ${walk.state}`);
  }
}
