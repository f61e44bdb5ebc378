// Frames as they were written: hashes are over bytes, and JSON.parse forgets those.

/**
 * The top-level values of the text of a JSON array or object.
 * @param {string} text
 * @returns {Generator<{key: string, value: string}>}
 */
export function* parts(text) {
  const isObject = text[0] === "{";
  let depth = 0, start = 1, colon = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: at = endOfString(text, at); break;
      case 0x7b: case 0x5b: depth++; break;
      case 0x3a: if (depth === 1 && isObject && !colon) colon = at; break;
      case 0x7d: case 0x5d: depth--; if (depth > 0) break; // falls through: the last value ends here
      case 0x2c:
        if (depth > 1) break;
        if (start < at) yield part(text, start, colon, at);
        start = at + 1;
        colon = 0;
    }
  }
}

/** @param {string} text @param {number} start @param {number} colon @param {number} end */
function part(text, start, colon, end) {
  if (!colon) return { key: "", value: text.slice(start, end) };
  return { key: text.slice(start, colon).trim().slice(1, -1), value: text.slice(colon + 1, end) };
}

/** @param {string} text @param {number} at */
function endOfString(text, at) {
  for (let end = at + 1; ; end++) {
    end = text.indexOf('"', end);
    if (end < 0) return text.length;
    let slashes = 0;
    while (text[end - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return end;
  }
}

/**
 * The stored bytes of a frame: without what the server's encoder added at its end; null when it does not end so.
 * @param {string} text @param {Frame} frame
 */
export function storedText(text, frame) {
  const tail = `,"hash":"${frame.hash ?? ""}"}`;
  if (!text.endsWith(tail) || tail.length !== 75) return null;
  let body = text.slice(0, -tail.length);
  if (frame.show_content != null) {
    const shown = body.lastIndexOf(',"show_content":"'); // quotes inside of strings are escaped: never part of one
    if (shown < 0) return null;
    body = body.slice(0, shown);
  }
  if (frame.content !== undefined && typeof frame.content !== "string") {
    for (const { key, value } of parts(text)) {
      const added = `,"content":${value}`;
      if (key === "content" && body.endsWith(added)) body = body.slice(0, -added.length);
    }
  }
  return `${body}}`;
}
