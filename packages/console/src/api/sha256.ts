/** SHA-256 at once: the browser's own answers later, and not at all in a page that came without TLS. */

const ROUNDS = 64;
const BLOCK = 64;

/** The first 32 bits of the fractional part, as the standard makes its constants from roots of primes. */
const fraction = (value: number): number => ((value - Math.floor(value)) * 2 ** 32) | 0;
const PRIMES = firstPrimes(ROUNDS);
const CONSTANTS = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
const START = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

function firstPrimes(count: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found;
}

/** Of the text as UTF-8, in hexadecimal. */
export function sha256(text: string): string {
  const bytes = padded(new TextEncoder().encode(text));
  const view = new DataView(bytes.buffer);
  const state = Int32Array.from(START);
  const words = new Int32Array(ROUNDS);
  for (let at = 0; at < bytes.length; at += BLOCK) {
    for (let i = 0; i < 16; i++) words[i] = view.getInt32(at + i * 4);
    mix(state, words);
  }
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** The bytes, a one, zeros, and how many bits there were. */
function padded(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(Math.ceil((bytes.length + 9) / BLOCK) * BLOCK);
  whole.set(bytes);
  whole[bytes.length] = 0x80;
  new DataView(whole.buffer).setBigUint64(whole.length - 8, BigInt(bytes.length) * 8n);
  return whole;
}

const rotated = (value: number, by: number): number => (value >>> by) | (value << (32 - by));

function mix(state: Int32Array, words: Int32Array): void {
  for (let i = 16; i < ROUNDS; i++) {
    const [early, late] = [words[i - 15]!, words[i - 2]!];
    const s0 = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
    const s1 = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
    words[i] = (words[i - 16]! + s0 + words[i - 7]! + s1) | 0;
  }
  let [a, b, c, d, e, f, g, h] = [...state] as Eight;
  for (let i = 0; i < ROUNDS; i++) {
    const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + CONSTANTS[i]! + words[i]!) | 0;
    const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) state[i] = (state[i]! + value) | 0;
}

type Eight = [number, number, number, number, number, number, number, number];
