// The sessions there are, and what waits for the reader in them.

import { api } from "./api.js";

const LISTED = 200; // sessions on a page of the list

export class Listing {
  /** @type {Entry[]} */
  entries = [];
  /** @type {Wire.InboxItem[]} */
  inbox = [];
  hasMore = false;
  isKnown = false; // it has come
  #pages = 1;
  #isInboxOld = false;
  #isLooking = false;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
  }

  async read() {
    try {
      ({ entries: this.entries, hasMore: this.hasMore } = await api.sessions(this.#pages));
      this.isKnown = true;
    } catch {
      return; // the connection line says what is wrong
    }
    this.app.changed();
  }

  /** Older sessions too. */
  async readMore() {
    this.#pages += 1;
    await this.read();
  }

  /** What the server tells of the list. @param {Wire.SessionsChanged} change */
  take({ full, sessions, removed = [] }) {
    const changed = /** @type {Entry[]} */ (sessions ?? []), ids = new Set(changed.map((each) => each.session_id)), isWhole = full && this.#pages === 1;
    const kept = this.entries.filter((each) => !ids.has(each.session_id) && !removed.includes(each.session_id) && !isWhole);
    this.entries = [...changed, ...kept].filter((each) => !each.removed_at).sort((a, b) => b.updated_at.localeCompare(a.updated_at));
    this.isKnown ||= Boolean(full);
    if (isWhole) this.hasMore = changed.length === LISTED;
  }

  /** A list that came before it was known who reads it. */
  get isInboxOld() {
    return this.#isInboxOld;
  }

  /** One request at a time; whoever wants it meanwhile gets the newest. */
  async lookIntoInbox() {
    this.#isInboxOld = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      while (this.#isInboxOld && this.app.me?.session_id === null) {
        this.#isInboxOld = false;
        this.inbox = (await api.inbox(this.app.language)).items;
        this.app.changed();
      }
    } catch { // the connection line says what is wrong
    } finally {
      this.#isLooking = false;
    }
  }

  /** Answer a question in its place in the inbox. @param {Wire.InboxItem} item @param {object} response */
  async respond(item, response) {
    this.inbox = this.inbox.filter((each) => each !== item);
    await this.app.attempt(api.respond(item.session_id, { step_id: item.step_id, ...response }, this.app.language));
    await this.lookIntoInbox();
  }
}
