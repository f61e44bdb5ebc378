// Where people write: Enter sends and Shift+Enter breaks the line, or Ctrl+Enter sends. Who it is for stands above the text;
// members and commands are completed. One button: it sends, and stops what runs while there is nothing to send.

import { api } from "../api.js";
import { find, h, hear, keyed, set } from "../dom.js";
import { icon } from "../icons.js";
import { openMenu } from "../menu.ts";
import { Part } from "../part.js";
import { recall, remember } from "../prefs.js";
import { accept, complete } from "../text/complete.js";
import { escapeOf, isAtWork, nameOf, runsOf } from "../view/names.js";
import { avatar } from "./avatar.ts";

const MESSAGES = 12; // that # offers

/** A file that comes with the message: while it is uploaded it has no hash. */
type Attached = { key: number; name: string; sha256: string };

export class ChatComposer extends Part {
  #completion: Completion | null = null;
  #active = 0;
  #session = "";
  #problem = "";
  #members: Member[] | undefined;
  #isInviting = false;
  #to: string[] = [];
  #files: Attached[] = [];

  connectedCallback() {
    hear("quote", (text: string) => this.#quote(text));
    hear("address", (member: string) => this.#address(member));
  }

  build(t: Translate) {
    this.append(
      h("p", { class: "problem", role: "alert" }),
      h("ul", { class: "offers", role: "listbox", id: "offers", "aria-label": t("offers"), hidden: true }),
      h("form", { onsubmit: (event) => { event.preventDefault(); this.#submit(); } },
        h("div", { class: "to" }, h("span", { class: "label", text: t("to") }), h("span", { class: "chips" }),
          h("button", { class: "ghost add", "aria-haspopup": "menu", "aria-expanded": "false", title: t("to.add"), "aria-label": t("to.add"), onclick: (event) => this.#pick(event.currentTarget as HTMLElement) }, icon("plus")),
          h("span", { class: "space" }),
          h("select", { class: "speaker", "aria-label": t("speak_as"), onchange: (event) => this.app.speakAs(event.target.value) })),
        h("div", { class: "line" },
          h("textarea", {
            id: "composer", rows: 1, "aria-label": t("composer.label"), "aria-autocomplete": "list", "aria-controls": "offers",
            oninput: () => this.#typed(), onkeydown: (event) => this.#key(event), onblur: () => setTimeout(() => this.#offer(null), 150),
          }),
          h("label", { class: "icon clip", title: t("attach") }, icon("clip"), h("input", { type: "file", multiple: true, class: "unseen", "aria-label": t("attach"), onchange: (event) => this.#attach(event.target) })),
          h("button", { class: "primary send" })),
        h("ul", { class: "attached" })),
      h("p", { class: "foot" }, h("span", { class: "hint" })));
    this.#session = "";
    const form = find(this, "form");
    form.addEventListener("dragover", (event: DragEvent) => event.dataTransfer?.types.includes("Files") && event.preventDefault());
    form.addEventListener("drop", (event: DragEvent) => { event.preventDefault(); this.#upload([...event.dataTransfer?.files ?? []]); });
    form.addEventListener("paste", (event: ClipboardEvent) => {
      const files = [...event.clipboardData?.files ?? []];
      if (!files.length) return;
      event.preventDefault();
      this.#upload(files);
    });
  }

  #attach(input: HTMLInputElement) {
    this.#upload([...input.files ?? []]);
    input.value = "";
  }

  #upload(files: File[]) {
    const { app } = this, id = app.tape?.id ?? "";
    for (const file of files) {
      const attached = { key: Math.random(), name: file.name || "image.png", sha256: "" };
      this.#files = [...this.#files, attached];
      api.upload(id, file).then(({ sha256 }) => { attached.sha256 = sha256; }, (error: Error) => {
        this.#files = this.#files.filter((each) => each !== attached);
        this.#problem = error.message;
      }).finally(() => { this.#showFiles(); app.changed(); });
    }
    this.#showFiles();
    this.#box.focus();
  }

  #showFiles() {
    const { t } = this.app, remove = (key: number) => { this.#files = this.#files.filter((each) => each.key !== key); this.#showFiles(); };
    keyed(find(this, ".attached"), this.#files, (each) => `${each.key} ${each.sha256}`, ({ key, name, sha256 }) => h("li", { class: sha256 ? "chip" : "chip busy" }, icon("file"), h("span", { text: name }),
      h("button", { class: "ghost", "aria-label": t("attach.remove", { name }), onclick: () => remove(key) }, icon("x"))));
    this.#showButton();
  }

  get #box(): HTMLTextAreaElement {
    return find(this, "textarea");
  }

  render(app: App, view: View | null) {
    const { t } = app;
    const session = app.tape?.id ?? "";
    if (session !== this.#session) {
      this.#session = session;
      this.#box.value = recall(`draft.${session}`) ?? "";
      this.#problem = "";
      this.#to = [];
      this.#files = [];
      this.#showFiles();
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
    this.#showSpeaker(app);
    this.#showAddressees(app, view);
    this.#showButton();
    const acting = view?.running[0] && nameOf(view, view.running[0].member), does = view ? escapeOf(view) : "";
    const hint = app.me?.role === "viewer" ? t("viewer") : isOver ? t("session_over") : acting ? `${t("composer.busy", { name: acting })} · ${t(`composer.esc.${does}`)}` : t(recall("enter") === "breaks" ? "composer.hint.ctrl" : "composer.hint");
    set(find(this, ".hint"), { text: hint });
    set(this.#box, { placeholder: t(innerWidth <= 720 ? "composer.short" : view?.is_steered ? "composer.steered" : "composer") });
    set(find(this, ".problem"), { text: this.#problem, hidden: !this.#problem });
    if (this.#isInviting && may) this.#box.focus();
    if (may) this.#isInviting = false;
  }

  /** The next message is typed here, once the session is there. */
  invite() {
    this.#isInviting = true;
    this.app.changed();
  }

  #showSpeaker(app: App) {
    const speaker = find(this, ".speaker"), isOpen = !app.me?.member && app.humans.length > 1;
    speaker.hidden = !isOpen;
    if (!isOpen) return;
    keyed(speaker, app.humans, (each) => each.id, (each) => h("option", { value: each.id, text: app.t("speak_as.name", { name: each.display_name }) }));
    set(speaker, { value: app.speaksAs ?? app.humans[0].id });
  }

  /** Whom it is for: those who were picked, else who gets what names nobody. */
  #showAddressees(app: App, view: View | null) {
    const { t } = app, usual = app.tape?.conversation.addressee ?? "";
    const picked = this.#to.filter((id) => view?.members.some((each) => each.id === id));
    const shown = picked.length ? picked : view?.is_steered ? ["*"] : usual ? [usual] : [];
    const remove = (id: string) => { this.#to = this.#to.filter((each) => each !== id); app.changed(); };
    keyed(find(this, ".chips"), shown, (id) => `${app.tape?.id} ${id} ${picked.length}`, (id) => h("span", { class: `chip${picked.length ? " picked" : ""}` },
      id === "*" ? icon("users") : avatar(view, id, "small"), h("span", { text: id === "*" ? t("to.team") : nameOf(view, id) }),
      picked.length ? h("button", { class: "ghost", "aria-label": t("to.remove", { name: nameOf(view, id) }), onclick: () => remove(id) }, icon("x")) : null));
    const hasOthers = view?.members.some((each) => each.kind === "ai" && !picked.includes(each.id));
    set(find(this, ".to"), { hidden: !view || (!shown.length && !hasOthers) });
    set(find(this, ".label"), { hidden: !shown.length && !hasOthers });
    set(find(this, ".add"), { hidden: !hasOthers || view?.is_steered });
  }

  #pick(anchor: HTMLElement) {
    const { view, t } = this.app;
    const others = view?.members.filter((each) => !this.#to.includes(each.id) && each.id !== this.app.speaksAs) ?? [];
    openMenu(anchor, others.map((each) => ({ label: each.display_name, icon: each.kind === "ai" ? "plus" : "users", run: () => this.#address(each.id) })), t("to.add"));
  }

  #address(member: string) {
    if (!this.#to.includes(member)) this.#to = [...this.#to, member];
    this.app.changed();
    this.#box.focus();
  }

  #showButton() {
    const { t } = this.app, button = find(this, ".send"), stops = isAtWork(this.app.view) && !this.#box.value.trim() && !this.#files.length;
    if (button.dataset.does === String(stops)) return;
    button.dataset.does = String(stops);
    set(button, { "aria-label": t(stops ? "queue.cancel" : "send"), title: t(stops ? "queue.cancel.hint" : "send"), class: stops ? "primary send stop" : "primary send" });
    button.replaceChildren(icon(stops ? "stop" : "send"));
  }

  focus() {
    this.#box.focus();
  }

  #quote(text: string) {
    const quoted = text.split("\n").map((line) => `> ${line}`).join("\n");
    this.#box.value = `${quoted}\n\n${this.#box.value}`;
    this.#typed(false);
    this.#box.focus();
    this.#box.setSelectionRange(this.#box.value.length, this.#box.value.length);
  }

  /** The server did not take it: its sentence stands here, the text comes back. */
  refuse(text: string, sentence: string) {
    this.#problem = sentence;
    if (!this.#box.value.trim()) this.#box.value = text;
    this.#typed(false);
    this.app.changed();
  }

  #submit() {
    if (this.#box.value.trim() || this.#files.length) this.#send();
    else if (isAtWork(this.app.view)) void this.app.send("user.stop");
  }

  #send() {
    const text = this.#box.value;
    if (this.#files.some((each) => !each.sha256)) return; // still on their way
    const attachments = this.#files.map(({ sha256, name }) => ({ sha256, name }));
    if ((!text.trim() && !attachments.length) || !this.app.say(text, this.#to, attachments)) return;
    this.#box.value = "";
    this.#files = [];
    this.#showFiles();
    this.#problem = "";
    this.#to = [];
    this.#typed(false);
    this.app.changed();
  }

  #typed(offers = true) {
    remember(`draft.${this.#session}`, this.#box.value || null);
    this.#grow();
    this.#showButton();
    const { value, selectionStart } = this.#box;
    this.#offer(offers ? complete(value, selectionStart, this.app.view?.members ?? [], this.app.languages, this.app.t, this.#things) : null);
  }

  /** Tasks, and what was said last, by its number. */
  get #things() {
    const { tape, view } = this.app, said = tape?.conversation.items.filter((each) => each.kind === "message").slice(-MESSAGES).reverse() ?? [];
    return [...runsOf(view).map(({ task }) => ({ id: task.id, text: task.title })),
      ...said.map(({ seq, item }) => ({ id: String(seq), text: `${nameOf(view, item.metadata.member)}: ${item.text.trim().split("\n")[0].slice(0, 80)}` }))];
  }

  #grow() {
    this.#box.style.height = "auto";
    this.#box.style.height = `${Math.min(this.#box.scrollHeight + 2, innerHeight * 0.4)}px`;
  }

  #key(event: KeyboardEvent) {
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
      if (event.key === "Escape") { // it closes the list, and nothing else
        event.preventDefault();
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

  #take(offer: Offer) {
    if (!this.#completion) return;
    const { text, caret } = accept(this.#box.value, this.#completion, offer);
    this.#box.value = text;
    this.#box.setSelectionRange(caret, caret);
    this.#typed(false);
    this.#box.focus();
  }

  #offer(completion: Completion | null) {
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
