// Going through a session again: a slider over its events, and play.

import { find, h, set } from "../dom.js";
import { icon } from "../icons.js";
import { Part } from "../part.js";

export class ReplayBar extends Part {
  /** @param {Translate} t */
  build(t) {
    const button = (/** @type {string} */ name, /** @type {string} */ symbol, /** @type {() => void} */ onclick) =>
      h("button", { class: name, title: t(`replay.${name}`), "aria-label": t(`replay.${name}`), onclick }, symbol.startsWith("×") ? symbol : icon(symbol));
    this.append(
      h("b", { class: "banner", text: t("replay.banner") }),
      button("back", "left", () => this.app.replay?.go(this.app.replay.seq - 1)),
      button("play", "play", () => this.app.replay?.play()),
      button("on", "right", () => this.app.replay?.go(this.app.replay.seq + 1)),
      h("input", { type: "range", min: 1, step: 1, "aria-label": t("replay.slider"), oninput: (event) => this.app.replay?.go(Number(event.target.value)) }),
      h("output", {}),
      button("speed", "×1", () => this.app.replay?.faster()),
      button("leave", "x", () => this.app.endReplay()));
  }

  /** @param {App} app */
  render({ replay, t }) {
    this.hidden = !replay;
    if (!replay) return;
    set(find(this, "input"), { max: String(replay.last), value: String(replay.seq) });
    set(find(this, "output"), { text: `${replay.seq} / ${replay.last}` });
    find(this, ".play").replaceChildren(icon(replay.isPlaying ? "pause" : "play"));
    set(find(this, ".play"), { "aria-label": t(replay.isPlaying ? "replay.stop" : "replay.play") });
    set(find(this, ".speed"), { text: `×${replay.speed}`, "aria-label": `${t("replay.speed")} ×${replay.speed}` });
  }
}
