// SHA-256, synchronous: a frame counts or does not count before the next one is looked at, and crypto.subtle is absent
// where a server is reached without TLS.

const K = constants(64, Math.cbrt), START = constants(8, Math.sqrt);
const words = new Int32Array(64), state = new Int32Array(8), encoder = new TextEncoder();
let buffer = new Uint8Array(1 << 16);

/** @param {string} text @returns {string} lower-case hex of the text's UTF-8 */
export function sha256(text) {
  if (buffer.length < text.length * 3 + 72) buffer = new Uint8Array(text.length * 6 + 72);
  const length = pad(encoder.encodeInto(text, buffer).written);
  state.set(START);
  for (let at = 0; at < length; at += 64) {
    for (let i = 0, byte = at; i < 16; i++, byte += 4) {
      words[i] = (buffer[byte] << 24) | (buffer[byte + 1] << 16) | (buffer[byte + 2] << 8) | buffer[byte + 3];
    }
    compress();
  }
  let hex = "";
  for (let i = 0; i < 8; i++) hex += (state[i] >>> 0).toString(16).padStart(8, "0");
  return hex;
}

/** @param {number} length of the message in the buffer @returns {number} with its padding */
function pad(length) {
  const padded = (length + 9 + 63) & ~63, bits = length * 8;
  buffer.fill(0, length, padded);
  buffer[length] = 0x80;
  for (let i = 1, rest = bits; i <= 6; i++, rest = Math.floor(rest / 256)) buffer[padded - i] = rest % 256;
  return padded;
}

function compress() {
  const w = words;
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15], y = w[i - 2];
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
  }
  let a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g; g = f; f = e; e = (d + t1) | 0;
    d = c; c = b; b = a; a = (t1 + t2) | 0;
  }
  state[0] += a; state[1] += b; state[2] += c; state[3] += d; state[4] += e; state[5] += f; state[6] += g; state[7] += h;
}

/** The first 32 bits of the fractions of the roots of the first primes. @param {number} size @param {(n: number) => number} root */
function constants(size, root) {
  const found = new Int32Array(size);
  let count = 0;
  for (let n = 2; count < size; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false;
    if (prime) found[count++] = Math.floor((root(n) % 1) * 0x100000000);
  }
  return found;
}
