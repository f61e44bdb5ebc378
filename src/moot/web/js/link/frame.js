// The envelope of the event protocol, as far as every module relies on it.

/**
 * @typedef {object} Frame
 * @property {string} event
 * @property {string} timestamp
 * @property {string} [session_id]
 * @property {number} [seq]
 * @property {string} [event_id]
 * @property {string} [step_id]
 * @property {any} [content]
 * @property {any} [metadata]
 * @property {string} [show_content]
 * @property {string} [timeline]
 * @property {{loop_id?: string, role?: string, member?: string}} [source]
 * @property {string} [hash]
 */

/** @typedef {Frame & {session_id: string, seq: number, hash: string}} Logged */

export {};
