// The REST side: what is asked once, not followed.

export class ApiError extends Error {
  /** @param {number} status @param {string} sentence */
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

/** @param {string} path @param {RequestInit & {json?: unknown}} [options] @returns {Promise<any>} */
async function ask(path, { json, ...options } = {}) {
  const body = json === undefined ? {} : { body: JSON.stringify(json), headers: { "content-type": "application/json" } };
  const answer = await fetch(path, { ...options, ...body });
  if (answer.status === 204) return null;
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new ApiError(answer.status, said.content ?? said.error ?? answer.statusText);
  return said;
}

export const api = {
  me: () => ask("/api/me"),
  /** @param {string} token */
  login: (token) => ask("/api/login", { method: "POST", json: { token } }),
  logout: () => ask("/api/logout", { method: "POST", json: {} }),
  teams: () => ask("/api/teams"),
  sessions: () => ask("/api/sessions"),
  /** @param {string} id @param {number} at after which event @param {string} lang */
  session: (id, at, lang) => ask(`/api/sessions/${id}?at=${at}&lang=${lang}`),
  machines: () => ask("/api/machines"),
  /** @param {{team: string, title: string, command_id: string}} wanted */
  create: (wanted) => ask("/api/sessions", { method: "POST", json: wanted }),
  /** @param {string} id @param {string} title @param {string} lang */
  rename: (id, title, lang) => ask(`/api/sessions/${id}/commands?lang=${lang}`, { method: "POST", json: { event: "user.rename", title } }),
  /** @param {string} id */
  remove: (id) => ask(`/api/sessions/${id}`, { method: "DELETE" }),
  /** @param {string} id */
  restore: (id) => ask(`/api/sessions/${id}/restore`, { method: "POST" }),
  /** @param {string} language */
  words: (language) => ask(new URL(`../lang/${language}.json`, import.meta.url).pathname),
};
