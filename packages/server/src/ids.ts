/**
 * TypeIDs: `<prefix>_<26 characters>`, a UUIDv7 in Crockford's lower-case base32. Sortable by time, and
 * within this process strictly rising also inside one millisecond: lists page by id. The time is the database's, as this
 * process has measured it: the clocks of the machines may be a minute apart.
 */
import { randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

export type IdPrefix =
  | 'org'
  | 'usr'
  | 'prj'
  | 'thr'
  | 'msg'
  | 'run'
  | 'src'
  | 'apl'
  | 'bld'
  | 'chk'
  | 'evt'
  | 'op'
  | 'sa'
  | 'cred'
  | 'apr'
  | 'prv'
  | 'exe'
  | 'tool'
  | 'wsr'
  | 'inv'
  | 'ses'
  | 'aud'
  | 'pack'
  | 'wrk'
  | 'mcp'
  | 'ins'
  | 'repo'
  | 'cst'
  | 'cmt'
  | 'pr'
  | 'rvl'
  | 'task'
  | 'pass'
  | 'wh'
  | 'whd'
  | 'aut'
  | 'env'
  | 'set'
  | 'skl'
  | 'hst'
  | 'bnd';

const random = Buffer.alloc(8 * 1024);
let used = random.length;
let lastMs = 0;
let counter = 0;
/** Further ahead than this, ids of before are of a machine whose clock is wrong: to wait for it would put all order off. */
const AHEAD_MS = 1_000;
let clock = () => Date.now();

/** The time that ids have, in ms. */
export const idTime = (): number => clock();

/** From now on, ids have this clock's time (ms): also where the one before was ahead. Returns that. */
export function setIdClock(next: () => number): () => number {
  const former = clock;
  clock = next;
  if (lastMs > next() + AHEAD_MS) lastMs = 0;
  return former;
}

function randomBytes(count: number): Buffer {
  if (used + count > random.length) {
    randomFillSync(random);
    used = 0;
  }
  used += count;
  return random.subarray(used - count, used);
}

/**
 * A new id. The 12 bits behind the time count within a millisecond; where they run out the id borrows the
 * next millisecond.
 */
export function newId<P extends IdPrefix>(prefix: P): `${P}_${string}` {
  const now = Math.floor(idTime());
  if (now > lastMs) {
    lastMs = now;
    counter = randomBytes(1)[0]! & 0x7f;
  } else if (++counter > 0xfff) {
    lastMs++;
    counter = 0;
  }
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(lastMs, 0, 6);
  bytes.writeUInt16BE(0x7000 | counter, 6);
  randomBytes(8).copy(bytes, 8);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  return `${prefix}_${base32(bytes)}`;
}

/** 16 bytes as 26 base32 characters (130 bits, the two highest zero). */
export function base32(bytes: Uint8Array): string {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  let text = '';
  for (let i = 0; i < 26; i++) {
    text = ALPHABET[Number(value & 31n)] + text;
    value >>= 5n;
  }
  return text;
}

const FORM = /^([a-z]+)_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** Whether `text` has the form of an id with this prefix. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return FORM.exec(text)?.[1] === prefix;
}

/** Stands in for a path id of wrong form: looked up like any other, never found. */
export const NO_ID = 'none';
