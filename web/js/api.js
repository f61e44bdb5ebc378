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

export const isLoggedIn = () => secret !== null;

/** What a WebSocket has instead of headers. */
export const subprotocols = () => (secret ? ["moot", `moot.login.${secret}`] : ["moot"]);

/** @param {string} path @param {RequestInit} [options] */
const request = (path, options = {}) =>
  fetch(path, { ...options, headers: { ...options.headers, ...(secret ? { "moot-login": secret } : {}) } });

/** @typedef {{task?: string, turn?: string, path?: string, offset?: number}} Span a part of the work, and where a page of it starts */

/** @param {Span} span */
const query = (span) => new URLSearchParams(Object.entries(span).map(([name, value]) => [name, String(value)]));

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
  /** Demos of the teams here. @param {string} lang @returns {Promise<Wire.DemoDocument[]>} */
  demos: (lang) => ask(`/api/demos?lang=${lang}`),
  /** The file of a team. @param {string} name @returns {Promise<Wire.TeamSource>} */
  teamSource: (name) => ask(`/api/teams/${encodeURIComponent(name)}/source`),
  /** @param {string} name @param {{text: string, sha256: string}} wanted @param {string} lang @returns {Promise<Wire.TeamSource>} */
  saveTeam: (name, wanted, lang) => ask(`/api/teams/${encodeURIComponent(name)}/source?lang=${lang}`, { method: "PUT", json: wanted }),
  /** @param {string} name @param {string} text @param {string} lang @returns {Promise<Wire.ProblemsDocument>} */
  checkTeam: (name, text, lang) => ask(`/api/teams/${encodeURIComponent(name)}/source/check?lang=${lang}`, { method: "POST", json: { text } }),
  teamSchema: () => ask("/api/team-schema"),
  teams: () => ask("/api/teams"),
  /** The browsers that are logged in. */
  logins: () => ask("/api/logins"),
  /** @param {string} id */
  endLogin: (id) => ask(`/api/logins/${id}`, { method: "DELETE" }),
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
  /** How to go on with members' conversations in their own programs; for owners. @param {string} id @returns {Promise<Wire.Takeover[]>} */
  takeovers: (id) => ask(`/api/sessions/${id}/takeovers`),
  machines: () => ask("/api/machines"),
  /** What was said, in all sessions. @param {string} words @returns {Promise<{found: FoundLine[]}>} */
  search: (words) => ask(`/api/search?q=${encodeURIComponent(words)}&limit=20`),
  /** What the work changed, as a whole or of a task or turn. @param {string} id @param {Span} span @returns {Promise<{files: Wire.FileChange[], commit: string, next_offset?: number | null}>} */
  changes: (id, span) => ask(`/api/sessions/${id}/changes?${query(span)}`),
  /** @param {string} id @param {string} path @param {Span} span @returns {Promise<{text: string, commit: string, next_offset?: number | null}>} */
  diff: (id, path, span) => ask(`/api/sessions/${id}/diff?${query({ ...span, path })}`),
  /** Keep a file with a session, to be named in a message. @param {string} id @param {File} file */
  upload: (id, file) => ask(`/api/sessions/${id}/files?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file, headers: { "content-type": file.type || "application/octet-stream" } }),
  /** What waits for the reader in all sessions. @param {string} lang @returns {Promise<Wire.InboxDocument>} */
  inbox: (lang) => ask(`/api/inbox?lang=${lang}`),
  /** Answer a question of a session that is not open. @param {string} id @param {object} response @param {string} lang */
  respond: (id, response, lang) => ask(`/api/sessions/${id}/commands?lang=${lang}`, { method: "POST", json: { event: "user.response", command_id: `w_${Date.now().toString(36)}_${Math.random().toString(36).slice(2, 10)}`, ...response } }),
  /** @param {{team: string, title: string, command_id: string}} wanted */
  create: (wanted) => ask("/api/sessions", { method: "POST", json: wanted }),
  /** @param {string} id @param {string} title @param {string} lang */
  rename: (id, title, lang) => ask(`/api/sessions/${id}/commands?lang=${lang}`, { method: "POST", json: { event: "user.rename", title } }),
  /** A copy that is the same until an event. @param {string} id @param {number} at @returns {Promise<{session_id: string}>} */
  fork: (id, at) => ask(`/api/sessions/${id}/fork`, { method: "POST", json: { at } }),
  /** The links to a session that were given out. @param {string} id @returns {Promise<Link[]>} */
  links: (id) => ask(`/api/sessions/${id}/links`),
  /** @param {string} id @param {object} wanted @returns {Promise<Link & {token: string}>} */
  makeLink: (id, wanted) => ask(`/api/sessions/${id}/links`, { method: "POST", json: wanted }),
  /** @param {string} id @param {string} token */
  revokeLink: (id, token) => ask(`/api/sessions/${id}/links/${token}`, { method: "DELETE" }),
  /** What is in the trash. @returns {Promise<Entry[]>} */
  trash: () => ask("/api/sessions?removed=1"),
  /** For good. @param {string} id */
  destroy: (id) => ask(`/api/sessions/${id}?forever=1`, { method: "DELETE" }),
  /** @param {string} id */
  remove: (id) => ask(`/api/sessions/${id}`, { method: "DELETE" }),
  /** @param {string} id */
  restore: (id) => ask(`/api/sessions/${id}/restore`, { method: "POST" }),
  /** @param {string} language */
  words: (language) => ask(new URL(`../lang/${language}.json`, import.meta.url).pathname),
};
