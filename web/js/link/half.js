// The client's half of a connection: no sockets, no clock, no randomness (protocol/client.py does the same).

import { advance } from "./connection.js";
import { Following } from "./following.js";
import { Pace, backoff } from "./pace.js";
import { ANSWER_S, RETRY_S, SENDS, Unanswered } from "./unanswered.js";

const GIVE_UP_S = 300;
const RATE_PAUSE_S = 5; // more, after the server said that we were too fast
const STABLE_S = 10; // a link that lived so long was a good one: the next attempts start quickly again
const GREETING_S = 10;
const ACK_S = 1;
const ACKS_A_TICK = 5;
/** @type {Record<number, string>} */
const FATAL = { 4401: "unauthenticated", 4403: "forbidden" };
const RATE = 4429;

export class ClientHalf {
  constructor() {
    /** @type {LinkState} */
    this.state = "DISCONNECTED";
    this.attempt = 0;
    this.retryAt = 0;
    /** @type {any} */
    this.greeting = {};
    /** @type {Map<string, Following>} */
    this.following = new Map();
    this.commands = new Unanswered();
    /** @type {string[]} */
    this.outbox = [];
    this.pace = new Pace({}, 0);
    this.isOpen = false;
    /** @type {number | null} */
    this.downSince = null;
    this.greetedAt = this.heardAt = this.ackedAt = 0;
  }

  // what the user wants

  /** @param {number} now @returns {Happening[]} */
  connect(now) {
    this.attempt = 0;
    this.retryAt = this.downSince = now;
    return this.#move("connect");
  }

  /** @param {string} sessionId @param {number} now @param {Head} [head] */
  follow(sessionId, now, head) {
    const following = new Following(sessionId, head);
    this.following.set(sessionId, following);
    if (this.state === "CONNECTED") this.#post(following.ask(now));
  }

  /** @param {string} sessionId */
  leave(sessionId) {
    this.following.delete(sessionId);
  }

  /** Sent now or as soon as there is a link, and again until it is answered.
   * @param {string} commandId @param {string} event @param {object} fields @param {number} now @param {string | null} [sessionId] */
  send(commandId, event, fields, now, sessionId = null) {
    const waiting = this.commands.add(commandId, event, sessionId, fields);
    const limit = this.greeting.limits?.frame_bytes ?? 256 * 1024;
    if (new TextEncoder().encode(waiting.text).length > limit) {
      this.commands.remove(commandId);
      throw new RangeError("message_too_long");
    }
    if (this.state === "CONNECTED") this.#postCommands(now);
  }

  // what happens to the link

  /** @param {number} now */
  opened(now) {
    this.isOpen = true;
    this.heardAt = now;
  }

  /** @param {number} now @param {number} random @param {number | null} [code] @returns {Happening[]} */
  lost(now, random, code = null) {
    if (this.state === "DISCONNECTED") return [];
    this.isOpen = false;
    this.outbox = [];
    this.downSince ??= now;
    if (this.state === "CONNECTED" && now - this.greetedAt >= STABLE_S) this.attempt = 0;
    if (this.state !== "RECONNECTING") {
      this.state = advance(this.state, this.state === "CONNECTED" ? "link_lost" : "connect_failed");
    }
    if (code !== null && code in FATAL) return this.#move("reconnect_timeout", FATAL[code]);
    this.attempt += 1;
    const wait = backoff(this.attempt, random) + (code === RATE ? RATE_PAUSE_S : 0);
    this.retryAt = now + wait;
    const reason = code === null ? null : `closed with ${code}`;
    return [{ type: "moved", state: this.state, attempt: this.attempt, retry_in_s: wait, reason }];
  }

  /** One message of the server: a frame, or an array of frames. @param {string} message @param {number} now */
  receive(message, now) {
    this.heardAt = now;
    /** @type {Happening[]} */
    const happened = [];
    try {
      const frames = JSON.parse(message);
      for (const frame of Array.isArray(frames) ? frames : [frames]) happened.push(...this.#read(frame, now));
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
      happened.push({ type: "sever", reason: `the server sent what is no frame: ${error.message}` });
    }
    return happened;
  }

  /** Time has passed: acknowledge, ask again, notice silence, give up. @param {number} now @returns {Happening[]} */
  tick(now) {
    if (!this.isOpen) {
      const isTooLong = this.downSince !== null && now - this.downSince >= GIVE_UP_S;
      return this.state === "RECONNECTING" && isTooLong ? this.#move("reconnect_timeout", "gave_up") : [];
    }
    const silence = this.state === "CONNECTED" ? 2 * (this.greeting.heartbeat_s ?? 30) + 5 : GREETING_S;
    if (now - this.heardAt > silence) {
      this.heardAt = now;
      return [{ type: "sever", reason: `nothing was heard for ${silence} s` }];
    }
    if (this.state !== "CONNECTED") return [];
    for (const each of this.following.values()) {
      if (each.askedAt !== null && now - each.askedAt >= ANSWER_S) this.#post(each.ask(now));
    }
    const happened = this.#postCommands(now);
    if (now - this.ackedAt >= ACK_S && !this.outbox.length) this.#acknowledge(now);
    return happened;
  }

  /** The texts to send now; the rest waits so that the server does not call us too fast. @param {number} now */
  toSend(now) {
    const texts = [];
    while (this.outbox.length && this.pace.take(now)) texts.push(/** @type {string} */ (this.outbox.shift()));
    return texts;
  }

  // what the server says

  /** @param {Frame} frame @param {number} now @returns {Happening[]} */
  #read(frame, now) {
    if (typeof frame?.event !== "string") throw new TypeError("a frame has an event");
    if (frame.seq != null) return this.#readLogged(frame, now);
    const said = frame.metadata ?? {};
    switch (frame.event) {
      case "system.connected":
        return frame.session_id == null && !("session_id" in said)
          ? this.#readGreeting(said, now)
          : this.#readResumption(said);
      case "system.accepted": return this.#readAcceptance(frame, said);
      case "system.error":
      case "agent.error": return this.#readProblem(frame, said, now);
      case "system.heartbeat": return [];
      default: return [{ type: "passing", frame }];
    }
  }

  /** @param {any} said @param {number} now */
  #readGreeting(said, now) {
    if (this.state === "CONNECTED") return [];
    this.greeting = said;
    this.pace = new Pace(said.limits ?? {}, now);
    this.greetedAt = this.ackedAt = now;
    this.downSince = null;
    const happened = this.#move(this.state === "CONNECTING" ? "connect_ok" : "reconnect_ok");
    for (const each of this.following.values()) this.#post(each.ask(now));
    this.commands.linkIsNew();
    return [...happened, ...this.#postCommands(now)];
  }

  /** @param {any} said */
  #readResumption(said) {
    const following = this.following.get(said.session_id);
    if (!following) return [];
    following.askedAt = null;
    if (said.resumed || !following.head.seq) return [{ type: "resumed", session_id: said.session_id, from: said.from }];
    following.forget();
    return [{ type: "reset", session_id: said.session_id, reason: said.reason ?? "" }];
  }

  /** @param {Frame} frame @param {number} now @returns {Happening[]} */
  #readLogged(frame, now) {
    const { session_id = "", seq } = frame, following = this.following.get(session_id);
    switch (following?.judge(frame)) {
      case "next": return [{ type: "logged", session_id, seq, frame }];
      case "hole": return this.#askAgain(following, now);
      default: return [];
    }
  }

  /** An event is missing: ask for it, but not for ever. @param {Following} following @param {number} now @returns {Happening[]} */
  #askAgain(following, now) {
    const session_id = following.sessionId;
    if (!following.mayRestart()) {
      this.following.delete(session_id);
      return [{ type: "ended", session_id, code: "diverged", sentence: "" }];
    }
    this.#post(following.ask(now));
    return [];
  }

  /** @param {Frame} frame @param {any} said */
  #readAcceptance(frame, said) {
    const waiting = this.commands.find(said.command_id);
    if (!waiting) return []; // a repetition
    this.commands.remove(said.command_id);
    return [{ type: "done", command_id: said.command_id, session_id: frame.session_id ?? waiting.sessionId, seq: said.seq }];
  }

  /** @param {Frame} frame @param {any} said @param {number} now @returns {Happening[]} */
  #readProblem(frame, said, now) {
    const session_id = frame.session_id ?? null;
    const sentence = typeof frame.content === "string" ? frame.content : said.code;
    const following = this.following.get(session_id ?? "");
    if (said.command_id != null) {
      const waiting = this.commands.find(said.command_id);
      if (!waiting || (said.retryable && this.commands.putOff(now, waiting))) return [];
      this.commands.remove(said.command_id);
    } else if (said.code === "rate_limited") { // it does not say what was dropped
      this.commands.putAllOff(now);
      for (const each of this.following.values()) this.#askSoon(each, now);
      return [];
    } else if (following && said.retryable) {
      this.#askSoon(following, now);
    } else if (following && (said.code === "not_found" || following.askedAt !== null)) {
      this.following.delete(following.sessionId);
      return [{ type: "ended", session_id, code: said.code, sentence }];
    }
    const { command_id = null, code, by, problems } = said;
    return [{ type: "denied", command_id, session_id, code, sentence, by, problems }];
  }

  // what is sent

  /** @param {string} trigger @param {string | null} [reason] @returns {Happening[]} */
  #move(trigger, reason = null) {
    this.state = advance(this.state, trigger);
    return [{ type: "moved", state: this.state, attempt: 0, retry_in_s: 0, reason }];
  }

  /** @param {object} frame */
  #post(frame) {
    this.outbox.push(JSON.stringify(frame));
  }

  /** @param {number} now @returns {Happening[]} */
  #postCommands(now) {
    /** @type {Happening[]} */
    const givenUp = [];
    for (const { commandId, sessionId, sends, text } of this.commands.due(now)) {
      if (sends <= SENDS) {
        this.outbox.push(text);
        continue;
      }
      this.commands.remove(commandId);
      const sentence = `the command was sent ${SENDS} times and never answered: it may or may not have been done`;
      givenUp.push({ type: "denied", command_id: commandId, session_id: sessionId, code: "unanswered", sentence });
    }
    return givenUp;
  }

  /** At a tick in a second, if it is unanswered then. @param {Following} following @param {number} now */
  #askSoon(following, now) {
    if (following.askedAt !== null) following.askedAt = now - ANSWER_S + RETRY_S;
  }

  /** What is had; not often, and never in the way of anything else. @param {number} now */
  #acknowledge(now) {
    const behind = [...this.following.values()].filter((each) => each.askedAt === null && each.unacked);
    for (const each of behind.sort((a, b) => b.unacked - a.unacked).slice(0, ACKS_A_TICK)) {
      each.ackedSeq = each.head.seq;
      this.#post({ event: "user.ack", session_id: each.sessionId, last_seq: each.ackedSeq });
      this.ackedAt = now;
    }
  }
}
