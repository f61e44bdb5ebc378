// What this browser remembers: choices and drafts. A browser that forbids it forgets, nothing else happens.

/** @param {string} key @returns {string | null} */
export function recall(key) {
  try {
    return localStorage.getItem(`moot.${key}`);
  } catch {
    return null;
  }
}

/** @param {string} key @param {string | null} value null forgets it */
export function remember(key, value) {
  try {
    if (value === null) localStorage.removeItem(`moot.${key}`);
    else localStorage.setItem(`moot.${key}`, value);
  } catch {
    // no room, or not allowed
  }
}

/** @template T @param {string} key @param {T} otherwise @returns {T} */
export function recallJson(key, otherwise) {
  try {
    return JSON.parse(recall(key) ?? "null") ?? otherwise;
  } catch {
    return otherwise;
  }
}
