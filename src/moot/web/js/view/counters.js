// What a session used so far.

/** @typedef {{messages: number, turns: number, failed_turns: number, tokens: number, cost_usd: number}} Counters */

/** @param {Counters} counters @param {any} [usage] @returns {Counters} */
export function spend(counters, usage = {}) {
  const tokens = Math.trunc(usage.input_tokens ?? 0) + Math.trunc(usage.output_tokens ?? 0);
  return { ...counters, tokens: counters.tokens + tokens, cost_usd: counters.cost_usd + (usage.cost_usd ?? 0) };
}
