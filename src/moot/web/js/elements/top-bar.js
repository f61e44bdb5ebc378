// The line at the top: which session, how the link is, what it does, what it cost; and the page's own switches.

import { find, h, set, tell } from "../dom.js";
import { Part } from "../part.js";
import { connectionText } from "../view/connection-text.js";
import { nameOf } from "../view/names.js";

const THEMES = ["system", "light", "dark"];
const ICONS = { system: "◐", light: "☀", dark: "☾" };

export class TopBar extends Part {
  /** @param {Translate} t */
  build(t) {
    const button = (/** @type {string} */ name, /** @type {string} */ icon, /** @type {() => void} */ onclick) =>
      h("button", { class: `icon ${name}`, title: t(name), "aria-label": t(name), text: icon, onclick });
    this.append(
      h("h1", { class: "title" }),
      h("span", { class: "status" }),
      h("span", { class: "link", role: "group" }, h("span", { class: "dot", "aria-hidden": "true" }), h("span", { class: "words" }),
        h("button", { class: "retry", text: t("retry"), onclick: () => this.app.socket.connect() })),
      h("span", { class: "space" }),
      h("span", { class: "meter hops" }), h("span", { class: "meter spent" }),
      h("span", { class: "buttons" },
        button("replay", "↺", () => (this.app.replay ? this.app.endReplay() : this.app.startReplay())),
        button("export", "⤓", () => void this.app.export()),
        button("palette", "⌘", () => tell("palette")),
        button("theme", "◐", () => tell("theme", THEMES[(THEMES.indexOf(this.#theme) + 1) % 3])),
        h("button", { class: "icon language", lang: "", onclick: () => tell("language", this.#nextLanguage.code) }),
        button("inspector_toggle", "◨", () => tell("inspector"))));
  }

  get #theme() {
    return document.documentElement.dataset.theme ?? "system";
  }

  get #nextLanguage() {
    const { language, languages } = this.app;
    return languages[(languages.findIndex((each) => each.code === language) + 1) % languages.length];
  }

  /** @param {App} app @param {View | null} view */
  render(app, view) {
    const { t } = app;
    set(find(this, ".title"), { text: view?.title || view?.team || "Moot" });
    set(find(this, ".status"), { text: app.seq && view ? statusText(app, view) : "", "data-status": view?.questions.length ? "paused" : view?.status ?? "" });
    this.tick();
    const hops = view?.max_hops && view.flow === "chat" ? t("hops", { hops: view.hops, max: view.max_hops }) : "";
    set(find(this, ".hops"), { text: hops, title: t("hops.hint"), hidden: !hops });
    const { tokens = 0, cost_usd = 0 } = view?.counters ?? {};
    const cost = cost_usd ? ` · ${new Intl.NumberFormat(app.language, { style: "currency", currency: "USD", maximumFractionDigits: 4 }).format(cost_usd)}` : "";
    set(find(this, ".spent"), { text: `${t("tokens", { count: tokens, n: new Intl.NumberFormat(app.language).format(tokens) })}${cost}`, hidden: !tokens });
    const theme = /** @type {keyof typeof ICONS} */ (this.#theme);
    set(find(this, ".theme"), { text: ICONS[theme], title: t(`theme.${theme}`), "aria-label": t(`theme.${theme}`) });
    const { code, name, short } = this.#nextLanguage;
    set(find(this, ".language"), { text: short, lang: code, title: name });
    set(find(this, ".replay"), { disabled: !app.tape?.view, "aria-pressed": String(app.replay !== null) });
    set(find(this, ".export"), { hidden: !app.tape });
  }

  tick() {
    const { words, state } = connectionText(this.app);
    set(find(this, ".link"), { "data-state": state });
    set(find(this, ".words"), { text: words });
    set(find(this, ".retry"), { hidden: state !== "offline" && state !== "reconnecting" });
  }
}

/** @param {App} app @param {View} view */
export function statusText({ t, speaksAs }, view) {
  if (view.status === "completed") return t("status.completed");
  if (view.status === "active") return t(view.questions.length ? "card.title" : "status.active");
  if (!view.waiting_for) return t("status.new");
  if (view.pause_reason === "user_pause" || view.pause_reason === "stopped") return t("status.paused");
  return view.waiting_for === speaksAs ? t("status.you") : t("status.waiting", { name: nameOf(view, view.waiting_for) });
}
