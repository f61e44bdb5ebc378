// One set of icons: lines of 1.75 on a grid of 24, drawn with the colour of the text beside them.

/** @type {Record<string, string>} the `d` of a path each */
const PATHS = {
  plus: "M12 5v14M5 12h14", search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14m9.5 16.5L16 16", more: "M5 12h.01M12 12h.01M19 12h.01",
  send: "M12 19V5m-6 6 6-6 6 6", stop: "M7 7h10v10H7z", pause: "M9 5v14M15 5v14", play: "M7 4.5v15l12-7.5z",
  x: "M6 6l12 12M18 6 6 18", check: "M5 12.5l4.5 4.5L19 7.5", alert: "M12 8v5m0 3.5v.01M10.3 4 2.6 17.5A2 2 0 0 0 4.3 20.5h15.4a2 2 0 0 0 1.7-3L13.7 4a2 2 0 0 0-3.4 0z",
  copy: "M9 9h10v10H9zM5 15V5h10", link: "M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 6 6l1-1",
  retry: "M4 12a8 8 0 1 1 2.5 5.8M4 20v-4.5h4.5", fork: "M7 4v16M7 14c0-5 10-3 10-9M17 3v4", quote: "M5 7h5v6a4 4 0 0 1-4 4M14 7h5v6a4 4 0 0 1-4 4",
  right: "m9 6 6 6-6 6", down: "m6 9 6 6 6-6", up: "m6 15 6-6 6 6", left: "m15 6-6 6 6 6", edit: "M4 20h4L19 9l-4-4L4 16zM13.5 6.5l4 4",
  trash: "M5 7h14M10 7V4.5h4V7m3 0-1 13H8L7 7", pin: "M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v6", archive: "M4 5h16v4H4zM5.5 9v10.5h13V9M10 13h4",
  gear: "M4 7h9m5 0h2M4 17h2m5 0h9M15.500 4.500a2.500 2.500 0 1 0 0 5 2.500 2.500 0 0 0 0-5M8.500 14.500a2.500 2.500 0 1 0 0 5 2.500 2.500 0 0 0 0-5",
  panel: "M4 5h16v14H4zM14.5 5v14", list: "M4 5h16v14H4zM9.5 5v14", history: "M4 12a8 8 0 1 1 2.5 5.8M4 20v-4.5h4.5M12 8v4.5l3 2", download: "M12 4v11m-5-5 5 5 5-5M5 20h14",
  share: "M15 8a3 3 0 1 0-2.8-4M9 12a3 3 0 1 0-6 0 3 3 0 0 0 6 0m12 6a3 3 0 1 0-6 0 3 3 0 0 0 6 0M8.6 10.6l6-3.4m-6 6.2 6.6 3.6",
  inbox: "M4 13l2.5-8h11L20 13v6H4zM4 13h4.5l1 2.5h5l1-2.5H20", chat: "M4 5h16v11H10l-5 4v-4H4z", work: "M5 6h6v5H5zM13 13h6v5h-6zM8 11v4.5h5",
  file: "M7 3h7l4 4v14H7zM14 3v4h4", terminal: "M5 7l5 5-5 5M12 17h7", eye: "M3 12c4-7 14-7 18 0-4 7-14 7-18 0M12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5",
  globe: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M3 12h18M12 3c5 5 5 13 0 18-5-5-5-13 0-18", bulb: "M9 17h6m-5 3.5h4M12 3a6 6 0 0 0-3.5 10.9c.5.4.5 1 .5 1.6h6c0-.6 0-1.2.5-1.6A6 6 0 0 0 12 3",
  tool: "M14.5 6.5a4 4 0 0 0 5 5L12 19a2.5 2.5 0 0 1-3.5-3.5z", clock: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16m0 3.5V12l3 2", clip: "M19 11l-7.5 7.5a4.5 4.5 0 0 1-6.4-6.4L13 4.2a3 3 0 0 1 4.2 4.2l-7.6 7.7a1.5 1.5 0 0 1-2.1-2.1L14 7.500",
  users: "M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M3 20c0-6 12-6 12 0M16 5.5a3.5 3.5 0 0 1 0 6.500M17.500 15c2 .7 3.500 2.500 3.500 5",
  moon: "M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10", sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2m0 16v2M2 12h2m16 0h2M5 5l1.500 1.500M17.500 17.500 19 19M19 5l-1.500 1.500M6.500 17.500 5 19", screen: "M4 5h16v11H4zM9 20h6m-3-4v4",
  skip: "M6 5v14l9-7zM18 5v14", command: "M9 9h6v6H9zM9 9H6.500A2.500 2.500 0 1 1 9 6.500zM15 9V6.500A2.500 2.500 0 1 1 17.500 9zM15 15h2.500A2.500 2.500 0 1 1 15 17.500zM9 15v2.500A2.500 2.500 0 1 1 6.500 15z",
  filter: "M4 6h16M7 12h10M10 18h4",
  star: "m12 4 2.500 5.200 5.500.8-4 4 1 5.700-5-2.700-5 2.700 1-5.700-4-4 5.500-.8z", bell: "M6 16V11a6 6 0 0 1 12 0v5l1.500 2h-15zM10 20.500h4", logout: "M10 4H5v16h5M14 8l4 4-4 4m4-4H9", grip: "M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01",
};

const NS = "http://www.w3.org/2000/svg";

/** @param {string} name @param {string} [extra] a class */
export function icon(name, extra = "") {
  const svg = document.createElementNS(NS, "svg"), path = document.createElementNS(NS, "path");
  svg.setAttribute("class", `i ${extra}`.trim());
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", PATHS[name] ?? PATHS.more);
  svg.append(path);
  return svg;
}
