/**
 * A pack: the blobs that one version brought to its project, as zstd frames of about 128 KiB in order of
 * their paths, and the index that says which frame holds which blob. Frames are independent: one blob is
 * one range read of one frame, neighbours in the tree share it. One object per version instead of one per
 * blob: 2 PUTs instead of 10,000 for an import. Many small packs become one with larger frames; see
 * repack.job.ts.
 */
import { constants, zstdCompressSync } from 'node:zlib';
import { VarintReader, VarintWriter } from './varint.ts';

export interface Blob {
  sha256: string;
  bytes: Uint8Array;
}

export interface Frame {
  /** Place in the pack. */
  offset: number;
  length: number;
  /** Bytes after decompression. */
  rawLength: number;
}

export interface Placement {
  /** Number of the frame. */
  frame: number;
  /** Place in the decompressed frame. */
  offset: number;
  length: number;
}

export interface PackIndex {
  frames: Frame[];
  blobs: ReadonlyMap<string, Placement>;
}

export interface PackForm {
  /** Before compression; only a blob that is larger has a larger frame. */
  frameBytes: number;
  /** Of zstd. */
  level: number;
}

/** A version's pack is made while a caller waits for it. */
const VERSION_FORM: PackForm = { frameBytes: 128 * 1024, level: 3 };
const VERSION = 1;
const SHA_BYTES = 32;

/**
 * Packs blobs in the order given (path order packs best); a blob given twice is stored once. Blocks its
 * thread: 32 MiB take 100-200 ms. A blob is taken when the one before is done with.
 */
export function buildPack(
  blobs: Iterable<Blob>,
  form: PackForm = VERSION_FORM,
): { bytes: Buffer; index: PackIndex } {
  const pack = new PackBuilder(form);
  for (const blob of blobs) pack.add(blob);
  return pack.finish();
}

class PackBuilder {
  readonly #form: PackForm;
  readonly #chunks: Buffer[] = [];
  readonly #frames: Frame[] = [];
  readonly #placements = new Map<string, Placement>();
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #offset = 0;

  constructor(form: PackForm) {
    this.#form = form;
  }

  add({ sha256, bytes }: Blob): void {
    if (this.#placements.has(sha256)) return;
    if (this.#pendingBytes > 0 && this.#pendingBytes + bytes.length > this.#form.frameBytes)
      this.#closeFrame();
    this.#placements.set(sha256, {
      frame: this.#frames.length,
      offset: this.#pendingBytes,
      length: bytes.length,
    });
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
  }

  finish(): { bytes: Buffer; index: PackIndex } {
    if (this.#pending.length > 0) this.#closeFrame();
    return { bytes: Buffer.concat(this.#chunks), index: { frames: this.#frames, blobs: this.#placements } };
  }

  #closeFrame(): void {
    const compressed = zstdCompressSync(Buffer.concat(this.#pending), {
      params: { [constants.ZSTD_c_compressionLevel]: this.#form.level, [constants.ZSTD_c_checksumFlag]: 1 },
    });
    this.#chunks.push(compressed);
    this.#frames.push({ offset: this.#offset, length: compressed.length, rawLength: this.#pendingBytes });
    this.#offset += compressed.length;
    this.#pending = [];
    this.#pendingBytes = 0;
  }
}

/** Binary form for `bytea`: about 35 bytes a blob. */
export function encodeIndex(index: PackIndex): Buffer {
  const out = new VarintWriter().write(VERSION).write(index.frames.length).write(index.blobs.size);
  for (const { length, rawLength } of index.frames) out.write(length).write(rawLength);
  for (const { frame, length } of index.blobs.values()) out.write(frame).write(length);
  return Buffer.concat([out.finish(), Buffer.from([...index.blobs.keys()].join(''), 'hex')]);
}

/** Throws when the bytes are damaged or of a newer version. */
export function decodeIndex(bytes: Uint8Array): PackIndex {
  const { reader, frameCount, blobCount } = readHeader(bytes);
  const frames = readFrames(reader, frameCount);
  const placements: Placement[] = [];
  for (let i = 0; i < blobCount; i++) placements.push(readPlacement(reader, placements.at(-1)));
  if (bytes.length !== reader.offset + blobCount * SHA_BYTES) throw new Error('damaged pack index');
  const hashes = Buffer.from(bytes.buffer, bytes.byteOffset + reader.offset, blobCount * SHA_BYTES).toString(
    'hex',
  );
  return { frames, blobs: new Map(placements.map((p, i) => [hashes.slice(i * 64, i * 64 + 64), p])) };
}

/**
 * The hashes of a pack's blobs, 32 bytes each, and its bytes after decompression: without the rest of its
 * index, in no time. Throws as `decodeIndex`.
 */
export function summarizeIndex(bytes: Uint8Array): { hashes: Buffer; rawBytes: number } {
  const { reader, frameCount, blobCount } = readHeader(bytes);
  const rawBytes = readFrames(reader, frameCount).reduce((sum, frame) => sum + frame.rawLength, 0);
  if (bytes.length < reader.offset + blobCount * SHA_BYTES) throw new Error('damaged pack index');
  return {
    hashes: Buffer.from(
      bytes.buffer,
      bytes.byteOffset + bytes.length - blobCount * SHA_BYTES,
      blobCount * SHA_BYTES,
    ),
    rawBytes,
  };
}

function readHeader(bytes: Uint8Array): { reader: VarintReader; frameCount: number; blobCount: number } {
  const reader = new VarintReader(bytes);
  const version = reader.read();
  if (version !== VERSION) throw new Error(`pack index of version ${version}`);
  return { reader, frameCount: reader.read(), blobCount: reader.read() };
}

function readFrames(reader: VarintReader, count: number): Frame[] {
  const frames: Frame[] = [];
  let offset = 0;
  for (let i = 0; i < count; i++) {
    const [length, rawLength] = [reader.read(), reader.read()];
    frames.push({ offset, length, rawLength });
    offset += length;
  }
  return frames;
}

/** Blobs follow each other in their frame, so that an offset is the end of the one before. */
function readPlacement(reader: VarintReader, before: Placement | undefined): Placement {
  const [frame, length] = [reader.read(), reader.read()];
  return { frame, offset: before?.frame === frame ? before.offset + before.length : 0, length };
}
