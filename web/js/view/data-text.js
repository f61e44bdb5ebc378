// What a tool was given or gave, in a line. Pure.

const CHARS = 300;

/** @param {unknown} value @returns {string} */
export function dataText(value) {
  const isObject = value && typeof value === "object";
  const parts = Array.isArray(value) ? value.map(word) : isObject ? Object.entries(value).map(([name, each]) => `${name}: ${word(each)}`) : [word(value)];
  return parts.join(" · ").slice(0, CHARS);
}

/** @param {unknown} value */
const word = (value) => (typeof value === "string" ? value : JSON.stringify(value) ?? "").replace(/data:[\w/+.-]+[;,].*/gs, "data:…");
