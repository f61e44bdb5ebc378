// Where a machine stands, how it came there, and where it has been: what a lit diagram shows.

/** @param {string} state @returns {Walk} */
export const begin = (state) => ({ state, from: "", trigger: "", seen: [state] });

/** @param {Walk} walk @param {string} trigger @param {string} state @returns {Walk} */
export function move(walk, trigger, state) {
  const seen = walk.seen.includes(state) ? walk.seen : [...walk.seen, state];
  return { state, from: walk.state, trigger, seen };
}
