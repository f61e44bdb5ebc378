// A state machine as a picture: layers by distance from the start, edges as curves. Pure; at most some twenty states.

const HEIGHT = 26, ROW = 58, GAP = 14, CHAR = 5.7, PADDING = 18;

/** @param {Machine} machine @param {number} width @returns {{boxes: Box[], edges: Edge[], width: number, height: number}} */
export function layOut(machine, width) {
  const layers = layer(machine);
  /** @type {Map<string, Box>} */
  const boxes = new Map();
  let y = 8, widest = width;
  for (const states of layers) {
    for (const row of wrap(states, width)) {
      const total = row.reduce((sum, state) => sum + widthOf(state), 0) + GAP * (row.length - 1);
      let x = Math.max(8, (width - total) / 2);
      for (const state of row) {
        boxes.set(state, { state, x, y, w: widthOf(state), h: HEIGHT, isFinal: machine.final.includes(state) });
        x += widthOf(state) + GAP;
      }
      widest = Math.max(widest, x);
      y += ROW;
    }
  }
  return { boxes: [...boxes.values()], edges: connect(machine, boxes, widest), width: widest, height: y - ROW + HEIGHT + 12 };
}

/** @param {string} state */
const widthOf = (state) => state.length * CHAR + PADDING;

/** @param {Machine} machine @returns {string[][]} */
function layer({ initial, states, transitions }) {
  const depth = new Map([[initial, 0]]);
  const queue = [initial];
  for (const state of queue) {
    for (const { from, to } of transitions) {
      if (from === state && !depth.has(to)) {
        depth.set(to, (depth.get(state) ?? 0) + 1);
        queue.push(to);
      }
    }
  }
  /** @type {string[][]} */
  const layers = [];
  for (const state of states) (layers[depth.get(state) ?? 0] ??= []).push(state);
  return layers.filter(Boolean);
}

/** @param {string[]} states @param {number} width */
function wrap(states, width) {
  /** @type {string[][]} */
  const rows = [[]];
  let used = 0;
  for (const state of states) {
    const needed = widthOf(state) + GAP;
    if (used && used + needed > width) {
      rows.push([]);
      used = 0;
    }
    rows[rows.length - 1].push(state);
    used += needed;
  }
  return rows;
}

/** @param {Machine} machine @param {Map<string, Box>} boxes @param {number} width @returns {Edge[]} */
function connect({ transitions }, boxes, width) {
  /** @type {Map<string, Edge>} */
  const edges = new Map();
  for (const { from, trigger, to, extension } of transitions) {
    const a = boxes.get(from), b = boxes.get(to), key = `${from} ${to}`;
    if (!a || !b) continue;
    const known = edges.get(key);
    if (known) {
      known.triggers.push(trigger);
      known.isExtension &&= extension;
    } else edges.set(key, { from, to, triggers: [trigger], path: curve(a, b, width), isExtension: extension });
  }
  return [...edges.values()];
}

/** @param {Box} a @param {Box} b @param {number} width */
function curve(a, b, width) {
  const ax = a.x + a.w / 2, bx = b.x + b.w / 2;
  if (a === b) {
    const right = a.x + a.w, y = a.y + a.h / 2;
    return `M${right} ${y - 5} c16 -12 16 22 0 10`;
  }
  if (b.y > a.y) {
    const from = a.y + a.h, bend = (b.y - from) / 2;
    return `M${ax} ${from} C${ax} ${from + bend} ${bx} ${b.y - bend} ${bx} ${b.y}`;
  }
  if (b.y === a.y) {
    const isRight = bx > ax, y = a.y;
    return `M${ax} ${y} C${ax} ${y - 22} ${bx} ${y - 22} ${bx + (isRight ? -6 : 6)} ${y}`;
  }
  const side = ax + bx > width ? 1 : -1; // back up, around the nearer side
  const edge = side > 0 ? Math.min(width - 2, Math.max(a.x + a.w, b.x + b.w) + 26) : Math.max(2, Math.min(a.x, b.x) - 26);
  const start = side > 0 ? a.x + a.w : a.x, end = side > 0 ? b.x + b.w : b.x;
  return `M${start} ${a.y + a.h / 2} C${edge} ${a.y + a.h / 2} ${edge} ${b.y + b.h / 2} ${end} ${b.y + b.h / 2}`;
}
