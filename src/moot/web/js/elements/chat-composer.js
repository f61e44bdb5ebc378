// Where people write: Enter sends and Shift+Enter breaks the line, or Ctrl+Enter sends; members and commands are completed.

import { find, h, keyed, set } from "../dom.js";
import { Part } from "../part.js";
import { nameOf } from "../view/names.js";
import { recall, remember } from "../prefs.js";
import { accept, complete } from "../text/complete.js";

export class ChatComposer extends Part {
  /** @type {Completion | null} */
  #completion = null;
  #active = 0;
  #session = "";
  #problem = "";
  /** @type {Member[] | undefined} */
  #members;

  /** @param {Translate} t */
  build(t) {
    this.append(
      h("p", { class: "problem", role: "alert" }),
      h("ul", { class: "offers", role: "listbox", id: "offers", "aria-label": t("offers"), hidden: true }),
      h("form", { onsubmit: (event) => { event.preventDefault(); this.#send(); } },
        h("select", { class: "speaker", "aria-label": t("speak_as"), onchange: (event) => this.app.speakAs(event.target.value) }),
        h("textarea", {
          id: "composer", rows: 1, "aria-label": t("composer.label"), "aria-autocomplete": "list", "aria-controls": "offers",
          oninput: () => this.#typed(), onkeydown: (event) => this.#key(event), onblur: () => setTimeout(() => this.#offer(null), 150),
        }),
        h("button", { class: "primary send", text: t("send") })),
      h("p", { class: "foot" }, h("button", { class: "again", text: t("retry_turn"), onclick: () => void this.app.send("user.retry") }), h("span", { class: "hint" })));
    this.#session = "";
  }

  get #box() {
    return find(this, "textarea");
  }

  /** @param {App} app @param {View | null} view */
  render(app, view) {
    const { t } = app;
    const session = app.tape?.id ?? "";
    if (session !== this.#session) {
      this.#session = session;
      this.#box.value = recall(`draft.${session}`) ?? "";
      this.#problem = "";
      this.#grow();
    }
    if (view?.members !== this.#members) { // somebody may type before it is known who is here
      this.#members = view?.members;
      if (document.activeElement === this.#box && this.#box.value) this.#typed();
    }
    const isOver = view?.status === "completed";
    this.hidden = !app.tape || app.tape.ended !== null || app.replay !== null;
    const may = app.mayWrite && !isOver;
    set(find(this, "form"), { hidden: !may });
    const speaker = find(this, ".speaker");
    const isOpen = !app.me?.member && app.humans.length > 1;
    speaker.hidden = !isOpen;
    if (isOpen) {
      const names = [{ id: "", display_name: t("speak_as.auto") }, ...app.humans];
      keyed(speaker, names, (each) => each.id, (each) => h("option", { value: each.id, text: each.display_name }));
      set(speaker, { value: app.speaksAs ?? "" });
    }
    const acting = view?.running[0] && nameOf(view, view.running[0].member);
    const hint = app.me?.role === "viewer" ? t("viewer") : isOver ? t("session_over") : acting ? t("composer.busy", { name: acting }) : t(recall("enter") === "breaks" ? "composer.hint.ctrl" : "composer.hint");
    set(find(this, ".hint"), { text: hint });
    set(this.#box, { placeholder: t(innerWidth > 720 ? "composer" : "composer.short") });
    const hasFailed = view?.status === "paused" && ["agent_error", "agent_timeout"].includes(view.pause_reason ?? "");
    set(find(this, ".again"), { hidden: !may || !hasFailed });
    set(find(this, ".problem"), { text: this.#problem, hidden: !this.#problem });
  }

  focus() {
    this.#box.focus();
  }

  /** The server did not take it: its sentence stands here, the text comes back. @param {string} text @param {string} sentence */
  refuse(text, sentence) {
    this.#problem = sentence;
    if (!this.#box.value.trim()) this.#box.value = text;
    this.#typed(false);
    this.app.changed();
  }

  #send() {
    const text = this.#box.value;
    if (!text.trim() || !this.app.say(text)) return;
    this.#box.value = "";
    this.#problem = "";
    this.#typed(false);
    this.app.changed();
  }

  #typed(offers = true) {
    remember(`draft.${this.#session}`, this.#box.value || null);
    this.#grow();
    const { value, selectionStart } = this.#box;
    this.#offer(offers ? complete(value, selectionStart, this.app.view?.members ?? [], this.app.languages, this.app.t) : null);
  }

  #grow() {
    this.#box.style.height = "auto";
    this.#box.style.height = `${Math.min(this.#box.scrollHeight + 2, innerHeight * 0.4)}px`;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.isComposing || event.keyCode === 229) return; // an input method is at work: its Enter is not ours
    const offers = this.#completion?.offers ?? [];
    if (offers.length) {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        this.#active = (this.#active + (event.key === "ArrowDown" ? 1 : offers.length - 1)) % offers.length;
        return this.#showOffers();
      }
      if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey)) {
        event.preventDefault();
        return this.#take(offers[this.#active]);
      }
      if (event.key === "Escape") {
        event.stopPropagation();
        return this.#offer(null);
      }
    }
    const sends = event.ctrlKey || event.metaKey || recall("enter") !== "breaks";
    if (event.key === "Enter" && sends && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.#send();
    }
  }

  /** @param {Offer} offer */
  #take(offer) {
    if (!this.#completion) return;
    const { text, caret } = accept(this.#box.value, this.#completion, offer);
    this.#box.value = text;
    this.#box.setSelectionRange(caret, caret);
    this.#typed(false);
    this.#box.focus();
  }

  /** @param {Completion | null} completion */
  #offer(completion) {
    this.#completion = completion;
    this.#active = 0;
    this.#showOffers();
  }

  #showOffers() {
    const list = find(this, ".offers"), offers = this.#completion?.offers ?? [];
    list.hidden = !offers.length;
    keyed(list, offers, (offer) => offer.label, (offer) => h("li", { role: "option", onmousedown: (event) => { event.preventDefault(); this.#take(offer); } },
      h("b", { text: offer.label }), h("span", { text: offer.hint })));
    offers.forEach((_, at) => set(list.children[at], { id: `offer-${at}`, "aria-selected": String(at === this.#active) }));
    set(this.#box, { "aria-activedescendant": offers.length ? `offer-${this.#active}` : null });
  }
}
