import { createHash } from 'node:crypto';
import { constants, crc32, deflateSync } from 'node:zlib';

export interface GitObject {
  oid: string;
  type: 'blob' | 'tree' | 'commit';
  body: Buffer;
}

/** Where the deflated body of an object lies in its pack. */
export interface PackPlace {
  offset: number;
  length: number;
}

const TYPE_BITS = { commit: 1, tree: 2, blob: 3 };

/**
 * A git pack of version 2 with its index of version 2, without deltas or compression: one that lives for
 * minutes.
 */
export function encodePack(objects: GitObject[]): {
  name: string;
  pack: Buffer;
  index: Buffer;
  places: Map<string, PackPlace>;
} {
  const sorted = objects.toSorted((a, b) => (a.oid < b.oid ? -1 : 1));
  const parts: Buffer[] = [Buffer.from('PACK'), uint32(2), uint32(sorted.length)];
  const crcs: Buffer[] = [];
  const offsets: Buffer[] = [];
  let offset = 12;
  const places = new Map<string, PackPlace>();
  for (const { oid, type, body } of sorted) {
    const header = entryHeader(TYPE_BITS[type], body.length);
    const entry = Buffer.concat([header, deflateSync(body, { level: constants.Z_NO_COMPRESSION })]);
    places.set(oid, { offset: offset + header.length, length: entry.length - header.length });
    crcs.push(uint32(crc32(entry)));
    offsets.push(uint32(offset));
    parts.push(entry);
    offset += entry.length;
  }
  const pack = withHash(parts);
  const oids = sorted.map((o) => Buffer.from(o.oid, 'hex'));
  const index = withHash([
    Buffer.from([0xff, 0x74, 0x4f, 0x63]),
    uint32(2),
    fanOut(oids),
    ...oids,
    ...crcs,
    ...offsets,
    pack.subarray(-20),
  ]);
  return { name: pack.toString('hex', pack.length - 20), pack, index, places };
}

/** Type and size: four bits of the size in the first byte, seven in each further one. */
function entryHeader(type: number, size: number): Buffer {
  const bytes: number[] = [];
  let byte = (type << 4) | (size & 15);
  for (let rest = size >>> 4; ; rest >>>= 7) {
    bytes.push(rest > 0 ? byte | 0x80 : byte);
    if (rest === 0) return Buffer.from(bytes);
    byte = rest & 0x7f;
  }
}

/** For each first byte, how many ids have it or a smaller one. */
function fanOut(oids: Buffer[]): Buffer {
  const counts = new Uint32Array(256);
  for (const oid of oids) counts[oid[0]!]!++;
  const table = Buffer.alloc(1024);
  let sum = 0;
  counts.forEach((count, i) => table.writeUInt32BE((sum += count), i * 4));
  return table;
}

function withHash(parts: Buffer[]): Buffer {
  const digest = createHash('sha1');
  for (const part of parts) digest.update(part);
  return Buffer.concat([...parts, digest.digest()]);
}

function uint32(n: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(n);
  return bytes;
}
