import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { base32, idTime, isId, newId, NO_ID, setIdClock } from './ids.ts';

/** The 16 bytes of an id, by the alphabet alone. */
function bytesOf(id: string): Buffer {
  let value = 0n;
  for (const character of id.split('_')[1]!)
    value = (value << 5n) | BigInt('0123456789abcdefghjkmnpqrstvwxyz'.indexOf(character));
  return Buffer.from(value.toString(16).padStart(32, '0'), 'hex');
}

test('an id is its prefix and a UUIDv7 of now', () => {
  // Ids never go back: a test of the same process may have had a later clock.
  const before = Math.max(Math.floor(idTime()), bytesOf(newId('thr')).readUIntBE(0, 6));
  const id = newId('thr');
  expect(id).toMatch(/^thr_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  expect(isId('thr', id)).toBe(true);
  const bytes = bytesOf(id);
  expect(bytes.readUIntBE(0, 6)).toBeGreaterThanOrEqual(before);
  expect(bytes.readUIntBE(0, 6)).toBeLessThan(before + 10_000);
  expect(bytes[6]! >> 4).toBe(7);
  expect(bytes[8]! >> 6).toBe(0b10);
});

test('ids rise strictly, more of them than one millisecond has room for, and when the clock goes back', () => {
  const ids = Array.from({ length: 20_000 }, () => newId('evt'));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
  vi.useFakeTimers({ now: Date.now() - 3_600_000, toFake: ['Date'] });
  try {
    expect(newId('evt') > ids.at(-1)!).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test('ids have the time of the clock that is set, also where the one before was a minute ahead', () => {
  const now = Date.now();
  const former = setIdClock(() => now + 60_000);
  try {
    const ahead = newId('run');
    expect(bytesOf(ahead).readUIntBE(0, 6)).toBe(now + 60_000);
    setIdClock(() => now);
    expect(bytesOf(newId('run')).readUIntBE(0, 6)).toBeLessThan(now + 1_000);
    // A clock that is a little behind breaks no order.
    const last = newId('run');
    setIdClock(() => now - 500);
    expect(newId('run') > last).toBe(true);
  } finally {
    setIdClock(former);
  }
});

test('base32 keeps the order of the bytes', () => {
  const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      expect(base32(a)).toHaveLength(26);
      expect(Math.sign(Buffer.compare(a, b))).toBe(
        base32(a) < base32(b) ? -1 : base32(a) > base32(b) ? 1 : 0,
      );
    }),
  );
  expect(base32(new Uint8Array(16).fill(255))).toBe('7zzzzzzzzzzzzzzzzzzzzzzzzz');
});

test('another prefix, length, alphabet or case is no id', () => {
  const id = newId('run');
  for (const wrong of [
    id.replace('run', 'thr'),
    id.slice(0, -1),
    `${id}0`,
    id.toUpperCase(),
    id.replace(/_./, '_8'),
    id.replace(/.$/, 'u'),
    `${id}\n`,
    ` ${id}`,
    '',
    'run_',
    NO_ID,
  ])
    expect(isId('run', wrong), wrong).toBe(false);
});
