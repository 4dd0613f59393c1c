import type { X509Certificate } from 'node:crypto';

/** An element of DER: its tag, its content, and all of it. */
interface Element {
  tag: number;
  content: Buffer;
  whole: Buffer;
}

const INTEGER = 0x02;
const SEQUENCE = 0x30;
const TIMES: readonly number[] = [0x17, 0x18];

/** The elements of a content. Throws where it is no DER. */
function elementsOf(content: Buffer): Element[] {
  const elements: Element[] = [];
  for (let at = 0; at < content.length;) {
    let length = content.readUInt8(at + 1);
    let begin = at + 2;
    if (length > 0x80) {
      const size = length - 0x80;
      length = content.readUIntBE(begin, size);
      begin += size;
    }
    const end = begin + length;
    if (end > content.length) throw new RangeError('an element is cut off');
    elements.push({
      tag: content.readUInt8(at),
      content: content.subarray(begin, end),
      whole: content.subarray(at, end),
    });
    at = end;
  }
  return elements;
}

/** The signed part of a certificate or a list, without the version in front. */
function signedPart(der: Buffer): Element[] {
  const [signed] = elementsOf(elementsOf(der)[0]!.content);
  return elementsOf(signed!.content);
}

/** Names by their bytes: two authorities may give the same serial number. */
const keyOf = (issuer: Element, serial: Element): string =>
  `${issuer.whole.toString('hex')} ${serial.content.toString('hex')}`;

interface Certificate {
  key: string;
  subject: string;
}

function parseCertificate({ raw }: Pick<X509Certificate, 'raw'>): Certificate {
  const parts = signedPart(raw);
  const [serial, , issuer, , subject] = parts[0]!.tag === INTEGER ? parts : parts.slice(1);
  return { key: keyOf(issuer!, serial!), subject: subject!.whole.toString('hex') };
}

/** A time of two or four digits for the year, in UTC. */
function timeOf({ tag, content }: Element): Date {
  const text = content.toString('latin1');
  const [, year, ...rest] = /^(\d\d|\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? [];
  if (year === undefined) throw new RangeError('a time is not readable');
  const [month, day, hour, minute, second] = rest.map(Number) as [number, number, number, number, number];
  const full = tag === TIMES[1] ? Number(year) : Number(year) + (Number(year) < 50 ? 2000 : 1900);
  return new Date(Date.UTC(full, month - 1, day, hour, minute, second));
}

const PEM = /-----BEGIN X509 CRL-----([^-]+)-----END X509 CRL-----/g;

/**
 * Lists of revoked certificates, of which TLS itself checks the signatures in each handshake. What is read here says
 * which open connections end, and for how long the lists count.
 */
export class Revocations {
  /** PEM, one list each. */
  readonly lists: readonly string[];
  /** When the first of them is out of date: from then on TLS refuses everybody. Null where none ever is. */
  readonly goodUntil: Date | null;
  readonly #issuers = new Set<string>();
  readonly #revoked = new Set<string>();

  /** Throws where the text is no list. */
  constructor(pem: string) {
    this.lists = pem.match(PEM) ?? [];
    if (this.lists.length === 0) throw new RangeError('there is no list');
    let goodUntil: Date | null = null;
    for (const list of this.lists) {
      const parts = signedPart(Buffer.from(list.replaceAll(/-----[^-]+-----/g, ''), 'base64'));
      const [, issuer, , ...rest] = parts[0]!.tag === INTEGER ? parts.slice(1) : parts;
      this.#issuers.add(issuer!.whole.toString('hex'));
      const until = rest[0] && TIMES.includes(rest[0].tag) ? timeOf(rest.shift()!) : null;
      if (until && (!goodUntil || until < goodUntil)) goodUntil = until;
      if (rest[0]?.tag === SEQUENCE)
        for (const { content } of elementsOf(rest[0].content))
          this.#revoked.add(keyOf(issuer!, elementsOf(content)[0]!));
    }
    this.goodUntil = goodUntil;
  }

  /** Whether there is a list of that authority. */
  isOf(authority: X509Certificate): boolean {
    return this.#issuers.has(parseCertificate(authority).subject);
  }

  has(certificate: X509Certificate): boolean {
    return this.#revoked.has(parseCertificate(certificate).key);
  }
}
