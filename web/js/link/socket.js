// The shell around the pure half: one WebSocket, one clock. It does what the half says and knows nothing else.

import { ClientHalf } from "./half.js";

const TICK_MS = 250;

export class Socket {
  /** @param {() => string} url @param {() => string[]} subprotocols @param {(happened: Happening[]) => void} tell */
  constructor(url, subprotocols, tell) {
    this.url = url;
    this.subprotocols = subprotocols;
    this.tell = tell;
    this.half = new ClientHalf();
    /** @type {WebSocket | null} */
    this.ws = null;
    setInterval(() => this.#tick(), TICK_MS);
    // a laptop that wakes up, a network that is back: no reason to wait
    addEventListener("online", () => this.hurry());
    document.addEventListener("visibilitychange", () => document.hidden || this.hurry());
  }

  get now() {
    return performance.now() / 1000;
  }

  connect() {
    if (this.half.state !== "DISCONNECTED") return this.hurry();
    this.#happen(this.half.connect(this.now));
    this.#open();
  }

  /** While it waits for the next attempt: now. */
  hurry() {
    if (this.half.state === "RECONNECTING" && !this.ws) this.#open();
  }

  /** Close the link, as a bad network would. */
  cut() {
    if (this.ws) this.#happen([{ type: "sever" }]);
  }

  /** @param {string} sessionId */
  follow(sessionId) {
    this.half.follow(sessionId, this.now);
    this.#flush();
  }

  /** @param {string} commandId @param {string} event @param {object} fields @param {string | null} sessionId */
  send(commandId, event, fields, sessionId) {
    this.half.send(commandId, event, fields, this.now, sessionId);
    this.#flush();
  }

  #open() {
    const ws = new WebSocket(this.url(), this.subprotocols());
    this.ws = ws;
    ws.onopen = () => this.half.opened(this.now);
    ws.onmessage = (event) => {
      if (ws !== this.ws) return;
      this.#happen(this.half.receive(event.data, this.now));
      this.#flush();
    };
    ws.onclose = (event) => this.#lose(ws, event.code);
  }

  /** @param {WebSocket} ws @param {number} code */
  #lose(ws, code) {
    if (ws !== this.ws) return;
    this.ws = null;
    this.#happen(this.half.lost(this.now, Math.random(), code === 1006 ? null : code));
  }

  #tick() {
    this.#happen(this.half.tick(this.now));
    const isDue = this.half.state === "RECONNECTING" && !this.ws && this.now >= this.half.retryAt;
    if (isDue) this.#open();
    this.#flush();
  }

  #flush() {
    if (this.ws?.readyState !== WebSocket.OPEN) return;
    for (const text of this.half.toSend(this.now)) this.ws.send(text);
  }

  /** @param {Happening[]} happened */
  #happen(happened) {
    if (happened.some((each) => each.type === "sever") && this.ws) {
      const ws = this.ws;
      ws.close();
      this.#lose(ws, 1006);
    }
    if (happened.length) this.tell(happened);
  }
}
