// Words for people, one JSON file per language: `t(key, {count: 3})`. Plural forms stand beside each other as
// `key.one` and `key.other`; Intl knows which language has which.

/** @param {Record<string, string>} words @param {string} language @returns {Translate} */
export function translator(words, language) {
  const plural = new Intl.PluralRules(language);
  return (key, params = {}) => {
    const form = typeof params.count === "number" ? words[`${key}.${plural.select(params.count)}`] : undefined;
    const text = form ?? words[`${key}.other`] ?? words[key] ?? key;
    return text.replace(/\{(\w+)\}/g, (whole, name) => (name in params ? String(params[name]) : whole));
  };
}

/** What a code of the protocol is called; one without a name stands for itself.
 * @param {Translate} t @param {string} family @param {string} code */
export function word(t, family, code) {
  const key = `${family}.${code}`, found = t(key);
  return found === key ? code : found;
}

/** Why something failed; what Moot itself ended has no message. @param {Translate} t @param {string} type @param {string} [message] */
export const failure = (t, type, message) => [word(t, "error", type), message].filter(Boolean).join(": ");

/** Moot's own choices are told in the reader's language, others as they were written.
 * @param {App} app @param {string | undefined} code of the question, when Moot asks @param {Option} option */
export function optionLabel({ t, view }, code, { id, label }) {
  if (!code) return label;
  const name = id.toLowerCase(), own = word(t, "option", name);
  return own === name ? view?.members.find((each) => each.role === id)?.display_name ?? label : own;
}

/** The first tag that is in one of our languages.
 * @param {readonly Language[]} languages @param {Language} otherwise @param {readonly (string | null)[]} tags @returns {Language} */
export function pickLanguage(languages, otherwise, tags) {
  for (const tag of tags) {
    const language = languages.find((code) => tag?.toLowerCase().startsWith(code));
    if (language) return language;
  }
  return otherwise;
}
