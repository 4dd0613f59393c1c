import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formsOf } from './forms.ts';
import { Mask } from './mask.ts';
import { MaskingStream } from './masking-stream.ts';
import { Needles } from './needles.ts';
import { needlesOf } from './shared-needles.ts';

/** The oracle: the whole text at once, by the regular expressions of the language. */
function replaced(text: string, needles: readonly string[]): string {
  const longestFirst = needles.toSorted((a, b) => b.length - a.length).map((needle) => RegExp.escape(needle));
  return needles.length === 0 ? text : text.replace(new RegExp(longestFirst.join('|'), 'g'), '***');
}

const masked = (stream: { push(piece: string): string; end(): string }, pieces: string[]) =>
  pieces.map((piece) => stream.push(piece)).join('') + stream.end();

/** A text cut at some of its places, also within a surrogate pair. */
const cutAt = (text: string, places: number[]) => {
  const sorted = [0, ...places.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length];
  return sorted.slice(1).map((place, i) => text.slice(sorted[i], place));
};
const places = fc.array(fc.nat(), { maxLength: 12 });

describe('as if the whole text were masked at once', () => {
  /** Of two characters, so that needles contain, overlap and repeat one another. */
  const ab = (min: number, max: number) =>
    fc.string({ unit: fc.constantFrom('a', 'b'), minLength: min, maxLength: max });

  test('needles of two characters, texts made of their parts, in any pieces', () => {
    fc.assert(
      fc.property(
        fc.array(ab(8, 14), { minLength: 1, maxLength: 6 }),
        fc.array(fc.oneof(ab(0, 12), fc.tuple(fc.nat(), fc.nat(14), fc.nat(14))), { maxLength: 10 }),
        places,
        (needles, parts, cuts) => {
          const text = parts
            .map((part) =>
              typeof part === 'string' ? part : needles[part[0] % needles.length]!.slice(part[1], part[2]),
            )
            .join('');
          const stream = new MaskingStream(new Needles([...new Set(needles)]), '***');
          expect(masked(stream, cutAt(text, cuts))).toBe(replaced(text, needles));
        },
      ),
      { numRuns: 3000 },
    );
  });

  test('a text of repeated secrets, and secrets that contain one another', () => {
    const needles = ['aaaaaaaa', 'aaaaaaaaaaaab', 'baaaaaaaa', 'abaaaaaaaac'];
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'a', 'a', 'b', 'c'), maxLength: 120 }),
        places,
        (text, cuts) => {
          const stream = new MaskingStream(new Needles(needles), '***');
          expect(masked(stream, cutAt(text, cuts))).toBe(replaced(text, needles));
        },
      ),
      { numRuns: 3000 },
    );
  });

  test('many secrets that are endings of one another: nothing that the oracle masks is shown', () => {
    const needles = Array.from({ length: 40 }, (_, i) => 'a'.repeat(8 + i)).concat(`b${'a'.repeat(150)}c`);
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom('b', 'c'), fc.nat(160)), { maxLength: 8 }),
        places,
        (parts, cuts) => {
          const text = parts.map((part) => (typeof part === 'string' ? part : 'a'.repeat(part))).join('');
          const shown = (out: string) => out.replaceAll('***', '');
          const inPieces = masked(new MaskingStream(new Needles(needles), '***'), cutAt(text, cuts));
          expect(inPieces).toBe(masked(new MaskingStream(new Needles(needles), '***'), [text]));
          expect(inPieces).not.toMatch(/a{8}/);
          expect(shown(inPieces).length).toBeLessThanOrEqual(shown(replaced(text, needles)).length);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('secrets of any characters in all their forms', () => {
    const secret = fc.string({
      unit: fc.constantFrom('p', 'q', '"', '\n', '\r', 'ä', '🔑', '/', '%', '~', '>', ' ', '*', '+'),
      minLength: 8,
      maxLength: 24,
    });
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 4 }),
        fc.array(fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.nat()), { maxLength: 12 }),
        places,
        (secrets, parts, cuts) => {
          const forms = formsOf(secrets);
          const text = parts
            .map((part) => (typeof part === 'string' ? part : (forms[part % forms.length] ?? '')))
            .join('');
          expect(masked(new Mask(secrets).stream(), cutAt(text, cuts))).toBe(replaced(text, forms));
        },
      ),
      { numRuns: 500 },
    );
  });

  test('64 KiB of secrets', () => {
    const random = (length: number, seed: number) =>
      Array.from({ length }, (_, i) =>
        String.fromCharCode(33 + ((i * 7919 + seed * 104_729 + ((i * i) % 97)) % 90)),
      ).join('');
    const secrets = Array.from({ length: 64 }, (_, i) => random(1024, i + 1));
    const mask = new Mask(secrets);
    const text = secrets.map((secret, i) => `${i}: ${secret} and ${secret.slice(0, -1)}`).join('\n');
    const out = masked(mask.stream(), cutAt(text, [1, 1000, 1001, 30_000, 64_000, 100_000]));
    expect(out).toBe(replaced(text, formsOf(secrets)));
    expect(out.split('***')).toHaveLength(65);
  });
});

describe('forms', () => {
  const SECRET = 'p@ss "w0rd"/\\+=&?#%ä\t>~?';
  test.each([0, 1, 2, 3, 10])('in base64 with %i bytes before it, in both alphabets', (before) => {
    const mask = new Mask([SECRET]);
    for (const alphabet of ['base64', 'base64url'] as const)
      for (const after of [0, 1, 5]) {
        const out = mask.text(
          Buffer.from('A'.repeat(before) + SECRET + '!'.repeat(after)).toString(alphabet),
        );
        expect(out).toMatch(/^[\w+/-]{0,14}\*\*\*[\w+/=-]{0,10}$/);
      }
  });

  test('JSON-escaped and percent-encoded; each line of 8 characters or more, without its carriage return', () => {
    const mask = new Mask([SECRET, 'first line of a key\r\nshort\r\nlast line\r\n']);
    expect(mask.text(JSON.stringify(`x${SECRET}y`))).toBe('"x***y"');
    expect(mask.text(encodeURIComponent(`x${SECRET}y`))).toBe('x***y');
    expect(mask.text('> first line of a key\n> short\n> last line')).toBe('> ***\n> short\n> ***');
    expect(mask.text('first line of a key\r\nshort\r\nlast line\r\n')).toBe('***');
  });

  const HARD = `it's (a*b)! ü/🔑~\u007f? Nö`;
  const lower = (text: string) => text.replace(/%../g, (code) => code.toLowerCase());
  const rfc3986 = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  test.each([
    ['RFC 3986', 'it%27s%20%28a%2Ab%29%21%20%C3%BC%2F%F0%9F%94%91~%7F%3F%20N%C3%B6'],
    ['RFC 3986, + for a space', rfc3986(HARD).replaceAll('%20', '+')],
    ['JavaScript', encodeURIComponent(HARD)],
    ['JavaScript, + for a space', encodeURIComponent(HARD).replaceAll('%20', '+')],
    ['a form of the language', String(new URLSearchParams({ a: HARD })).slice(2)],
  ])('percent-encoded, in either case: %s', (_, encoded) => {
    const mask = new Mask([HARD]);
    expect(mask.text(`a=${encoded}&b`)).toBe('a=***&b');
    expect(mask.text(`a=${lower(encoded)}&b`)).toBe('a=***&b');
  });

  test.each([
    "it's (a*b)! \\u00fc/\\ud83d\\udd11~\\u007f? N\\u00f6",
    "it's (a*b)! \\u00FC/\\uD83D\\uDD11~\\u007F? N\\u00F6",
    "it's (a*b)! \\u00fc\\/\\ud83d\\udd11~\\u007f? N\\u00f6",
    "it's (a*b)! ü\\/🔑~\u007f? Nö",
  ])('JSON-escaped: %s', (escaped) => {
    expect(JSON.parse(`"${escaped}"`)).toBe(HARD);
    expect(new Mask([HARD]).text(`{"a":"${escaped}"}`)).toBe('{"a":"***"}');
  });

  test('numbers of a JSON value', () => {
    const mask = new Mask(['12345678', '-0.25000001']);
    expect(mask.json([12345678, 1234567, { a: -0.25000001, b: 9123456789 }])).toEqual([
      '***',
      1234567,
      { a: '***', b: '9***9' },
    ]);
  });

  test('a JSON value: its strings and keys, wherever they are', () => {
    const value = { a: ['x secret-1 y', 1, null, { 'secret-1': true }] };
    expect(new Mask(['secret-1']).json(value)).toEqual({ a: ['x *** y', 1, null, { '***': true }] });
  });

  test('what has fewer than 8 characters is not masked', () => {
    expect(new Mask(['1234567', '🔑'.repeat(7)]).text(`1234567${'🔑'.repeat(7)}`)).toBe(
      `1234567${'🔑'.repeat(7)}`,
    );
    expect(new Mask(['🔑'.repeat(8)]).text('🔑'.repeat(8))).toBe('***');
  });
});

test('those who mask the same secrets share the needles, in any order of them', () => {
  const needles = needlesOf(['secret-1', 'secret-2']);
  expect(needles).not.toBeNull();
  expect(needlesOf(['secret-2', 'secret-1', 'secret-2'])).toBe(needles);
  expect(needlesOf(['secret-1secret-2'])).not.toBe(needles);
  expect(needlesOf(['short'])).toBeNull();
});

test('a text that may go on: the beginning of a secret is masked from 8 characters on', () => {
  const mask = new Mask(['secret-1-and-more']);
  expect(mask.beginning('a secret-')).toBe('a secret-');
  expect(mask.beginning('a secret-1-')).toBe('a ***');
  expect(mask.beginning('a secret-1-and-more b')).toBe('a *** b');
});

test('a mask that was released still masks', () => {
  const mask = new Mask(['secret-1']);
  const stream = mask.stream();
  expect(stream.push('secret-')).toBe('');
  mask.release();
  expect(stream.push('1')).toBe('***');
  expect(mask.text('a secret-1')).toBe('a ***');
});

describe('what waits', () => {
  test('a beginning waits for what follows, or for the end; a whole secret does not', () => {
    const stream = new Mask(['secret-1']).stream();
    expect(stream.push('a secr')).toBe('a ');
    expect(stream.push('et-1')).toBe('***');
    expect(stream.push(' secr')).toBe(' ');
    expect(stream.push('ecy')).toBe('secrecy');
    expect(stream.push('secret-')).toBe('');
    expect(stream.end()).toBe('secret-');
    expect(stream.push('secret-1')).toBe('***');
  });

  test('a secret that is the beginning of another waits for the longer one', () => {
    const stream = new Mask(['secret-1', 'secret-1-and-more']).stream();
    expect(stream.push('secret-1-and')).toBe('');
    expect(stream.push('!')).toBe('***-and!');
  });
});

test.each([
  ['near misses of a long secret', 'a'.repeat(32_767) + 'b', 'a'.repeat(1 << 20)],
  ['a short and a long secret of one character', 'a'.repeat(32_000), `${'a'.repeat(31_999)}b`.repeat(32)],
])('the time is linear in the text: %s', (_, secret, text) => {
  const mask = new Mask([secret, 'a'.repeat(8)]);
  const begun = performance.now();
  expect(mask.text(text).length).toBeLessThan(text.length);
  // 30-60 ms; a quadratic search takes minutes.
  expect(performance.now() - begun).toBeLessThan(5000);
});

test('many lines that are endings of one another take the time of few', () => {
  const lines = Array.from({ length: 340 }, (_, i) => 'a'.repeat(8 + i)).join('\n');
  const mask = new Mask([lines, `b${'a'.repeat(30_000)}c`]);
  // Its own CPU time: others may have the processor meanwhile.
  const begun = process.cpuUsage();
  mask.text(`b${'a'.repeat(29_999)}`.repeat(64));
  // 0.6 s; with a look at each, 7 s.
  expect(process.cpuUsage(begun).user / 1000).toBeLessThan(5000);
});
