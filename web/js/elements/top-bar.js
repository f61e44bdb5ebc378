// The line above a session: its name, who is in it, what it does, how far it is and what it cost; and what one can do with it.

import { find, h, keyed, set, tell } from "../dom.js";
import { icon } from "../icons.js";
import { openMenu } from "../menu.ts";
import { Part } from "../part.js";
import { connectionText } from "../view/connection-text.js";
import { isFinished, nameOf, runsOf } from "../view/names.js";
import { avatar } from "./avatar.ts";

const FACES = 6;

export class TopBar extends Part {
  /** @param {Translate} t */
  build(t) {
    const button = (/** @type {string} */ name, /** @type {string} */ symbol, /** @type {(event: Event) => void} */ onclick) =>
      h("button", { class: `icon ${name}`, title: t(name), "aria-label": t(name), onclick }, icon(symbol));
    this.append(
      button("home", "left", () => this.app.goHome()),
      h("h1", { class: "title" }),
      button("rename", "edit", () => find(document, "session-list").rename()),
      h("span", { class: "faces" }),
      h("span", { class: "status pill" }),
      h("span", { class: "done" }, h("progress", { max: 1, "aria-label": t("progress") }), h("span", {})),
      h("span", { class: "space" }),
      h("span", { class: "link", role: "group" }, h("span", { class: "dot", "aria-hidden": "true" }), h("span", { class: "words" }),
        h("button", { class: "retry", text: t("retry"), onclick: () => this.app.socket.connect() })),
      h("span", { class: "meter hops" }), h("span", { class: "meter spent" }),
      h("span", { class: "buttons" },
        button("share", "share", () => tell("share")),
        button("replay", "history", () => (this.app.replay ? this.app.endReplay() : this.app.startReplay())),
        button("export", "download", () => void this.app.export()),
        button("palette", "command", () => tell("palette")),
        button("inspector_toggle", "panel", () => tell("inspector")),
        button("more_actions", "more", (event) => this.#more(/** @type {HTMLElement} */ (event.currentTarget)))));
  }

  /** What small screens have no room for. @param {HTMLElement} anchor */
  #more(anchor) {
    const { app } = this, { t } = app;
    const session = !app.tape || app.tape.ended ? [] : [
      ...(app.mayWrite ? [{ label: t("deed.rename"), icon: "edit", key: "F2", run: () => find(document, "session-list").rename() }] : []),
      { label: t("replay"), icon: "history", run: () => (app.replay ? app.endReplay() : app.startReplay()) },
      { label: t("export"), icon: "download", run: () => void app.export() },
    ];
    openMenu(anchor, [
      ...session,
      { label: t("palette"), icon: "command", key: "Ctrl K", run: () => tell("palette") },
      { label: t("settings"), icon: "gear", run: () => tell("settings") },
      ...(app.mayWrite && app.view?.status !== "completed" ? [{ label: t("end_session"), icon: "stop", isBad: true, run: () => app.askToEnd() }] : []),
    ], t("more_actions"));
  }

  /** @param {App} app @param {View | null} view */
  render(app, view) {
    const { t, tape } = app, isOpen = tape !== null;
    const entry = app.sessions.find((each) => each.session_id === tape?.id);
    set(this, { class: isOpen ? "" : "home" });
    set(find(this, ".title"), { text: isOpen ? view?.title || entry?.title || view?.team || "Moot" : "Moot" });
    const { text, state } = isOpen && app.seq && view ? statusOf(app, view) : { text: "", state: "" };
    set(find(this, ".status"), { text, "data-status": state, hidden: !text });
    const members = isOpen ? view?.members ?? [] : [];
    keyed(find(this, ".faces"), members.slice(0, FACES), (each) => `${tape?.id} ${each.id} ${each.display_name}`, (each) => avatar(view, each.id, "small"));
    set(find(this, ".faces"), { title: members.map((each) => each.display_name).join(", ") });
    const runs = isOpen ? runsOf(view) : [], done = runs.filter(isFinished).length;
    set(find(this, ".done"), { hidden: !runs.length });
    set(find(this, ".done progress"), { value: runs.length ? done / runs.length : 0 });
    set(find(this, ".done span"), { text: `${done}/${runs.length}` });
    this.tick();
    const hops = isOpen && view?.max_hops ? t("hops", { hops: view.hops, max: view.max_hops }) : "";
    set(find(this, ".hops"), { text: hops, title: t("hops.hint"), hidden: !hops });
    const { tokens = 0, cost_usd = 0 } = (isOpen && view?.counters) || {};
    const cost = cost_usd ? ` · ${new Intl.NumberFormat(app.language, { style: "currency", currency: "USD", maximumFractionDigits: 4 }).format(cost_usd)}` : "";
    set(find(this, ".spent"), { text: `${t("tokens", { count: tokens, n: new Intl.NumberFormat(app.language).format(tokens) })}${cost}`, hidden: !tokens });
    set(find(this, ".replay"), { disabled: !tape?.view, "aria-pressed": String(app.replay !== null) });
    const isGone = !isOpen || tape.ended !== null;
    for (const name of ["replay", "export", "rename", "share", "inspector_toggle"]) set(find(this, `.${name}`), { hidden: isGone });
    set(find(this, ".rename"), { hidden: isGone || app.me?.role === "viewer" });
    set(find(this, ".share"), { hidden: isGone || !app.mayCreate });
    set(find(this, ".home"), { hidden: !isOpen || app.me?.session_id !== null });
  }

  tick() {
    const { words, state } = connectionText(this.app);
    set(find(this, ".link"), { "data-state": state, title: words });
    set(find(this, ".words"), { text: words });
    set(find(this, ".retry"), { hidden: state !== "offline" && state !== "reconnecting" });
  }
}

/** What it does now, in a word or two, and which colour that has. @param {App} app @param {View} view */
export function statusOf({ t, speaksAs }, view) {
  if (view.status === "completed") return { text: t("status.completed"), state: "completed" };
  if (view.questions.length) return { text: t("card.title"), state: "needs" };
  if (view.interrupt === "PAUSING") return { text: t("status.pausing"), state: "halted" };
  if (view.status === "active") return { text: t("status.active"), state: "active" };
  if (!view.waiting_for) return { text: t("status.new"), state: "" };
  if (view.interrupt === "PAUSED" || ["user_pause", "stopped", "budget", "hop_limit"].includes(view.pause_reason ?? "")) return { text: t("status.paused"), state: "halted" };
  if (view.pause_reason?.startsWith("agent_")) return { text: t("status.failed"), state: "failed" };
  if (view.pause_reason === "finished") return { text: t("status.finished"), state: "completed" };
  return view.waiting_for === speaksAs ? { text: t("status.you"), state: "paused" } : { text: t("status.waiting", { name: nameOf(view, view.waiting_for) }), state: "paused" };
}
