// What sessions need of people, in the words and the order of a list. Pure.

import { isAway, keptOf } from "../shelf.js";

/** How a session stands: blocked on the reader, at work, or neither. */
export type Standing = "asks" | "failed" | "running" | "paused" | "finished" | "yours" | "others" | "new" | "completed";

const ASKS = ["question", "plan", "permission"];

export function standingOf(entry: Entry, me: string | null): Standing {
  if (entry.status === "completed") return "completed";
  if (entry.needs && ASKS.includes(entry.needs)) return "asks";
  if (entry.status === "active") return "running";
  if (entry.needs === "failed" || entry.pause_reason?.startsWith("agent_")) return "failed";
  if (entry.needs === "paused" || entry.pause_reason === "user_pause" || entry.pause_reason === "stopped") return "paused";
  if (entry.needs === "finished" || entry.pause_reason === "finished") return "finished";
  if (!entry.messages) return "new";
  return !me || entry.waiting_for === me ? "yours" : "others";
}

export type Group = { name: string; entries: Entry[]; title?: string };

const DAY_MS = 86_400_000;

/** Pinned, needs you, at work, then by day. */
export function groupsOf(entries: Entry[], me: string | null, now = new Date()): Group[] {
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const groups = new Map<string, Entry[]>(["pinned", "needs", "running", "today", "yesterday", "week", "older"].map((name) => [name, []]));
  for (const entry of entries) {
    const standing = standingOf(entry, me), at = Date.parse(entry.updated_at);
    const name = standing === "asks" || standing === "failed" ? "needs" : keptOf(entry.session_id).pinned ? "pinned" : standing === "running" ? "running"
      : at >= today ? "today" : at >= today - DAY_MS ? "yesterday" : at >= today - 6 * DAY_MS ? "week" : "older";
    (groups.get(name) as Entry[]).push(entry);
  }
  return [...groups].filter(([, list]) => list.length).map(([name, list]) => ({ name, entries: list }));
}

/** By the folder of their team file; built-in teams by their name. */
export function projectsOf(entries: Entry[]): Group[] {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) {
    const name = entry.project?.folder || entry.team;
    groups.set(name, [...groups.get(name) ?? [], entry]);
  }
  return [...groups].map(([name, list]) => ({ name: "project", title: name.replace(/[/\\]+$/, "").split(/[/\\]/).at(-1) || name, entries: list }));
}

/** How many sessions are blocked on the reader. */
export const countNeeds = (entries: Entry[], me: string | null) =>
  entries.filter((entry) => !isAway(entry) && ["asks", "failed"].includes(standingOf(entry, me))).length;
