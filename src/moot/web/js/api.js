// The REST side: what is asked once, not followed.

import { recall, remember } from "./prefs.js";

export class ApiError extends Error {
  /** @param {number} status @param {string} sentence */
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

// The page's half of its login. The other half is a cookie, which scripts cannot read and which browsers send to every
// port of this host; this half stays in the storage of this origin. The server wants both.
let secret = recall("login");

/** @param {string | null} value */
function keep(value) {
  secret = value;
  remember("login", value);
}

/** What a WebSocket has instead of headers. */
export const subprotocols = () => (secret ? ["moot", `moot.login.${secret}`] : ["moot"]);

/** @param {string} path @param {RequestInit} [options] */
const request = (path, options = {}) =>
  fetch(path, { ...options, headers: { ...options.headers, ...(secret ? { "moot-login": secret } : {}) } });

/** @param {string} path @param {RequestInit & {json?: unknown}} [options] @returns {Promise<any>} */
async function ask(path, { json, ...options } = {}) {
  const body = json === undefined ? {} : { body: JSON.stringify(json), headers: { "content-type": "application/json" } };
  const answer = await request(path, { ...options, ...body });
  if (answer.status === 204) return null;
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new ApiError(answer.status, said.content ?? said.error ?? answer.statusText);
  return said;
}

export const api = {
  me: () => ask("/api/me"),
  /** @param {string} token */
  login: async (token) => {
    const login = await ask("/api/login", { method: "POST", json: { token } });
    keep(login.secret);
    return login;
  },
  logout: async () => {
    await ask("/api/logout", { method: "POST", json: {} });
    keep(null);
  },
  /** A picture or a file as a `blob:` address: an element's own request could not carry the secret. Revoke it after use.
   * @param {string} path */
  blob: async (path) => {
    const answer = await request(path);
    if (!answer.ok) throw new ApiError(answer.status, (await answer.json().catch(() => ({}))).content ?? answer.statusText);
    return URL.createObjectURL(await answer.blob());
  },
  teams: () => ask("/api/teams"),
  /** The first pages of the list, and whether there are more. @param {number} pages */
  sessions: async (pages) => {
    const entries = [];
    let before = "";
    for (let page = 0; page < pages && (before || !page); page++) {
      const answer = await request(`/api/sessions${before ? `?before=${encodeURIComponent(before)}` : ""}`);
      if (!answer.ok) throw new ApiError(answer.status, answer.statusText);
      entries.push(...await answer.json());
      before = answer.headers.get("moot-next") ?? "";
    }
    return { entries, hasMore: before !== "" };
  },
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
