// SHA-256, synchronous: a frame counts or does not count before the next one is looked at, and crypto.subtle is absent
// where a server is reached without TLS.

const K = constants();

/** @param {string} text @returns {string} lower-case hex of the text's UTF-8 */
export function sha256(text) {
  const bytes = pad(new TextEncoder().encode(text));
  const state = Uint32Array.of(
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
  );
  const words = new Uint32Array(64);
  const view = new DataView(bytes.buffer);
  for (let offset = 0; offset < bytes.length; offset += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getUint32(offset + 4 * i);
    compress(state, words);
  }
  return [...state].map((word) => word.toString(16).padStart(8, "0")).join("");
}

/** @param {Uint8Array} message */
function pad(message) {
  const bytes = new Uint8Array((message.length + 9 + 63) & ~63);
  bytes.set(message);
  bytes[message.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setUint32(bytes.length - 8, Math.floor(message.length / 0x20000000));
  view.setUint32(bytes.length - 4, message.length << 3);
  return bytes;
}

/** @param {Uint32Array} state @param {Uint32Array} w */
function compress(state, w) {
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15], y = w[i - 2];
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g; g = f; f = e; e = (d + t1) | 0;
    d = c; c = b; b = a; a = (t1 + t2) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((value, i) => { state[i] += value; });
}

/** The first 32 bits of the fractions of the cube roots of the first 64 primes. */
function constants() {
  const found = new Uint32Array(64);
  let count = 0;
  for (let n = 2; count < 64; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false;
    if (prime) found[count++] = Math.floor((Math.cbrt(n) % 1) * 0x100000000);
  }
  return found;
}
