// What a session used so far.

/** @param {Counters} counters @param {any} [usage] @returns {Counters} */
export function spend(counters, usage = {}) {
  const tokens = Math.trunc(usage.input_tokens ?? 0) + Math.trunc(usage.output_tokens ?? 0);
  return { ...counters, tokens: counters.tokens + tokens, cost_usd: counters.cost_usd + (usage.cost_usd ?? 0) };
}
