import { inflateRawSync } from 'node:zlib';

const END = 0x0605_4b50;
const END_BYTES = 22;
const MOST_COMMENT = 0xffff;
const DEFLATED = 8;

/** One file of a zip archive without extensions for archives above 4 GiB. Throws if it is not there. */
export function readEntry(archive: Buffer, name: string): Buffer {
  let end = archive.length - END_BYTES;
  while (archive.readUInt32LE(end) !== END)
    if (--end < archive.length - END_BYTES - MOST_COMMENT) throw new Error('not a zip archive');
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const nameBytes = archive.readUInt16LE(at + 28);
    if (archive.toString('utf8', at + 46, at + 46 + nameBytes) === name) {
      const local = archive.readUInt32LE(at + 42);
      const from = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
      const bytes = archive.subarray(from, from + archive.readUInt32LE(at + 20));
      return archive.readUInt16LE(at + 10) === DEFLATED ? inflateRawSync(bytes) : bytes;
    }
    at += 46 + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  throw new Error(`the archive has no ${name}`);
}
