// How fast a client goes: when it tries to connect again, and how much it sends at once.

const SHORTEST_S = 0.5, LONGEST_S = 30; // between two attempts to connect
const HEADROOM = 0.75; // of what the server allows: its clock is not ours

/** How long to wait before the attempt; `random` from 0 to 1 spreads clients that were cut off together.
 * @param {number} attempt @param {number} random */
export function backoff(attempt, random) {
  const ceiling = Math.min(LONGEST_S, SHORTEST_S * 2 ** Math.min(attempt, 10));
  return SHORTEST_S + random * (ceiling - SHORTEST_S);
}

/** Frames that may be sent now: a bucket like the server's, a little smaller. */
export class Pace {
  /** @param {{messages_per_s?: number, message_burst?: number}} limits @param {number} now */
  constructor(limits, now) {
    this.perSecond = (limits.messages_per_s ?? 20) * HEADROOM;
    this.burst = Math.max(1, (limits.message_burst ?? 40) * HEADROOM);
    this.level = this.burst;
    this.filledAt = now;
  }

  /** @param {number} now */
  take(now) {
    this.level = Math.min(this.burst, this.level + (now - this.filledAt) * this.perSecond);
    this.filledAt = now;
    if (this.level < 1) return false;
    this.level -= 1;
    return true;
  }
}
