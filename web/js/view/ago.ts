// How long ago, in a word.

const UNITS = [["minute", 1], ["hour", 60], ["day", 1440]] as const;
const formats = new Map<string, Intl.RelativeTimeFormat>();

export function ago(at: string, { language, t }: App): string {
  const minutes = Math.max(0, (Date.now() - Date.parse(at)) / 60_000), [unit, size] = UNITS.findLast((each) => minutes >= each[1]) ?? UNITS[0];
  if (minutes < 1) return t("now");
  let format = formats.get(language);
  if (!format) formats.set(language, format = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "narrow" }));
  return format.format(-Math.round(minutes / size), unit);
}
