/** Shorter lines of a secret are no secrets: `}` or `-----` would be masked wherever they stand. */
export const SHORTEST = 8;

const BASE64_OFFSETS = [0, 1, 2];

/**
 * Every text that gives a secret away, each once: its value, each of its lines of 8 characters or more, and both
 * JSON-escaped, percent-encoded and in base64, as the usual encoders write them. All have at least 8 UTF-16 units.
 */
export function formsOf(secrets: readonly string[]): string[] {
  const parts = secrets
    .flatMap((secret) => [secret, ...secret.split('\n').map((line) => line.replace(/\r$/, ''))])
    .filter((part) => part.length >= SHORTEST && Array.from(part).length >= SHORTEST);
  return [
    ...new Set(
      [...new Set(parts)].flatMap((part) => [
        part,
        ...jsonForms(part),
        ...percentForms(part),
        ...BASE64_OFFSETS.flatMap((offset) => base64Forms(Buffer.from(part), offset)),
      ]),
    ),
  ];
}

const unitOf = (character: string): string => character.charCodeAt(0).toString(16).padStart(4, '0');

/** Also in ASCII, in the case of either encoder, and each with and without escaped slashes. */
function jsonForms(part: string): string[] {
  const plain = JSON.stringify(part).slice(1, -1);
  const ascii = [
    plain.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unitOf(unit)}`),
    plain.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unitOf(unit).toUpperCase()}`),
  ];
  return [plain, ...ascii].flatMap((form) => [form, form.replaceAll('/', '\\/')]);
}

/** As in JavaScript, of RFC 3986, both also with + for a space, and of forms; the digits in either case. */
function percentForms(part: string): string[] {
  const plain = encodeURIComponent(part);
  const strict = plain.replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = new URLSearchParams([['', part]]).toString().slice(1);
  return [plain, strict]
    .flatMap((text) => [text, text.replaceAll('%20', '+')])
    .concat(form)
    .flatMap((text) => [text, text.replace(/%../g, (code) => code.toLowerCase())]);
}

/**
 * The characters that only these bytes decide in the base64 of a longer text, where `offset` bytes of a group of
 * three stand before them.
 */
function base64Forms(bytes: Buffer, offset: number): string[] {
  const whole = Buffer.concat([Buffer.alloc(offset), bytes]);
  const from = Math.ceil((offset * 8) / 6),
    to = Math.floor((whole.length * 8) / 6);
  return (['base64', 'base64url'] as const).map((alphabet) => whole.toString(alphabet).slice(from, to));
}
