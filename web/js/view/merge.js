// The view of a session, as the server projects it: kept up to date by JSON merge patches (RFC 7386).

/** @param {any} target @param {any} patch @returns {any} neither is changed */
export function merge(target, patch) {
  if (!isObject(patch)) return patch;
  const merged = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = merge(merged[name], value);
  }
  return merged;
}

/** @param {any} value */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
