// What the composer offers while somebody types: members after @ or in [NEXT:], commands after a slash at the start, tasks
// and messages after #.

const COMMANDS = ["/help", "/status", "/queue", "/queue skip", "/queue clear", "/retry", "/pause", "/resume", "/rename", "/lang", "/end"];

const SHOWN = 12;

/**
 * @param {string} text @param {number} caret
 * @param {Member[]} members @param {Spoken[]} languages @param {Translate} t
 * @param {{id: string, text: string}[]} [things] what # can point at
 * @returns {Completion | null}
 */
export function complete(text, caret, members, languages, t, things = []) {
  const before = text.slice(0, caret);
  const slash = /^\/[a-z ]*$/i.exec(before);
  if (slash) {
    const typed = COMMANDS.flatMap((each) => each === "/lang" ? languages.map(({ code }) => `/lang ${code}`) : [each]);
    const offers = typed.filter((each) => each.startsWith(before.toLowerCase()) && each !== before)
      .map((each) => ({ insert: each, label: each, hint: explain(each, languages, t) }));
    return offers.length ? { from: 0, to: caret, offers } : null;
  }
  const hash = /(?:^|[\s(（])#([^\s#]*)$/u.exec(before);
  if (hash) {
    const words = hash[1].toLowerCase(), found = things.filter((each) => `${each.id} ${each.text}`.toLowerCase().includes(words)).slice(0, SHOWN);
    return found.length ? { from: caret - hash[1].length - 1, to: caret, offers: found.map((each) => ({ insert: `#${each.id} `, label: `#${each.id}`, hint: each.text })) } : null;
  }
  const next = /\[NEXT:\s*(?:[^\]\n]*[,，]\s*)?([^\],，\n]*)$/i.exec(before);
  const at = /(?:^|[\s,，(（])@([^\s@\]]*)$/u.exec(before);
  const typed = next?.[1] ?? at?.[1];
  if (typed === undefined) return null;
  const wanted = typed.replace(/^@/, "").toLowerCase();
  const offers = members
    .filter((each) => [each.id, each.name, each.display_name].some((name) => name.toLowerCase().startsWith(wanted)))
    .map((each) => ({
      insert: next ? each.display_name : `@${each.display_name} `,
      label: each.display_name,
      hint: [t(`kind.${each.kind}`), each.role].filter(Boolean).join(" · "),
    }))
    .slice(0, SHOWN);
  if (!offers.length) return null;
  return { from: caret - typed.length - (next ? 0 : 1), to: caret, offers };
}

/** @param {string} command @param {Spoken[]} languages @param {Translate} t */
function explain(command, languages, t) {
  const language = languages.find(({ code }) => command === `/lang ${code}`);
  return language ? t("slash.lang", { name: language.name }) : t(`slash.${command.slice(1).replace(" ", "_")}`);
}

/** @param {string} text @param {Completion} completion @param {Offer} offer @returns {{text: string, caret: number}} */
export function accept(text, { from, to }, { insert }) {
  return { text: text.slice(0, from) + insert + text.slice(to), caret: from + insert.length };
}
