/**
 * The thread of one repacking: it hashes, orders and compresses at most some hundred MiB, then ends and frees
 * its memory.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { zstdDecompressSync } from 'node:zlib';
import { decodeManifest, sha256Of } from '../../trees/manifest.ts';
import { buildPack, decodeIndex, encodeIndex } from '../../trees/pack.ts';
import type { Blob, PackForm, PackIndex, Placement } from '../../trees/pack.ts';
import { comparePaths } from '../../trees/paths.ts';
import type { FromThread, Manifests, OldPack, RepackWork } from './protocol.ts';

/**
 * Versions of one file share a frame, which is where the gain is. Of 500 versions of a real history, 5.08
 * MB: 128 KiB frames 690 kB at level 3 and 650 at 9; 512 KiB 546 and 511; 1 MiB 510 and 475. To read one
 * file a whole frame is read. Levels above 9 gain 2% for 10 times the time, a window for long distances
 * nothing.
 */
const REPACKED: PackForm = { frameBytes: 512 * 1024, level: 9 };
/** Decompressed frames kept: one of each pack, as long as paths and packs are in the same order. */
const FRAMES_BYTES = 64 * 1024 * 1024;
const SHA_BYTES = 32;

class Damage extends Error {}

interface Held extends Placement {
  sha256: string;
  pack: Reader;
  /** Null: no manifest that was looked at has it. */
  path: string | null;
  /** Of versions of one path the newest comes first; without a path, the order in the packs. */
  rank: number;
}

/** The frames of one pack, decompressed when they are needed. */
class Reader {
  readonly index: PackIndex;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, index: Uint8Array) {
    this.#bytes = bytes;
    this.index = decodeIndex(index);
  }

  unpack(number: number): Buffer {
    const { offset, length, rawLength } = this.index.frames[number]!;
    try {
      const raw = zstdDecompressSync(this.#bytes.subarray(offset, offset + length), {
        maxOutputLength: Math.max(rawLength, 1),
      });
      if (raw.length === rawLength) return raw;
    } catch (error) {
      throw new Damage('a frame of a pack is damaged', { cause: error });
    }
    throw new Damage('a frame of a pack is damaged');
  }
}

class Frames {
  readonly #frames = new Map<string, Buffer>();
  #bytes = 0;

  of(readers: Map<Reader, number>, { pack, frame }: Held): Buffer {
    const key = `${readers.get(pack)!} ${frame}`;
    const raw = this.#frames.get(key) ?? pack.unpack(frame);
    if (!this.#frames.delete(key)) this.#bytes += raw.length;
    this.#frames.set(key, raw);
    for (const [oldest, { length }] of this.#frames) {
      if (this.#bytes <= FRAMES_BYTES || oldest === key) break;
      this.#frames.delete(oldest);
      this.#bytes -= length;
    }
    return raw;
  }
}

function* hashesOf(hashes: Uint8Array): Generator<string> {
  const hex = Buffer.from(hashes.buffer, hashes.byteOffset, hashes.length).toString('hex');
  for (let i = 0; i < hex.length; i += 2 * SHA_BYTES) yield hex.slice(i, i + 2 * SHA_BYTES);
}

async function build(packs: readonly OldPack[]): Promise<{ bytes: Buffer; index: Buffer }> {
  const held = packs.flatMap(({ bytes, index, hashes }) => heldBy(new Reader(bytes, index), hashes));
  await findPaths(new Map(held.map((h) => [h.sha256, h])));
  const { bytes, index } = buildPack(contentsOf(held.toSorted(inOrder)), REPACKED);
  return { bytes, index: encodeIndex(index) };
}

function heldBy(pack: Reader, hashes: Uint8Array): Held[] {
  const wanted = new Set(hashesOf(hashes));
  const held = [...pack.index.blobs].filter(([sha256]) => wanted.has(sha256));
  if (held.length < wanted.size)
    throw new Damage(`${wanted.size - held.length} contents are not in the pack that they are said to be in`);
  return held.map(([sha256, placement], rank) => ({ sha256, pack, path: null, rank, ...placement }));
}

/** Asks for manifests until each content has a path, or there are no more. */
async function findPaths(missing: Map<string, Held>): Promise<void> {
  for (let rank = 0; missing.size > 0;) {
    const { manifests } = await ask();
    if (manifests.length === 0) return;
    for (const manifest of manifests) {
      for (const [path, { sha256 }] of decodeManifest(manifest)) {
        const held = missing.get(sha256);
        if (held) Object.assign(held, { path, rank: rank++ });
        missing.delete(sha256);
      }
    }
  }
}

function ask(): Promise<Manifests> {
  return new Promise((resolve) => {
    parentPort!.once('message', resolve);
    say({ more: true });
  });
}

function inOrder(a: Held, b: Held): number {
  if (a.path === null || b.path === null) return Number(a.path === null) - Number(b.path === null);
  return comparePaths(a.path, b.path) || a.rank - b.rank;
}

function* contentsOf(held: readonly Held[]): Generator<Blob> {
  const frames = new Frames();
  const readers = new Map([...new Set(held.map((h) => h.pack))].map((pack, i) => [pack, i]));
  for (const blob of held) {
    const bytes = frames.of(readers, blob).subarray(blob.offset, blob.offset + blob.length);
    if (sha256Of(bytes) !== blob.sha256) throw new Damage(`a stored content is damaged: ${blob.sha256}`);
    yield { sha256: blob.sha256, bytes };
  }
}

function check(bytes: Uint8Array, index: Uint8Array, hashes: Uint8Array): void {
  const pack = new Reader(bytes, index);
  const held = heldBy(pack, hashes);
  if (held.length < pack.index.blobs.size)
    throw new Damage('the new pack holds contents that it was not to hold');
  // Each is hashed on its way.
  for (const _ of contentsOf(held));
}

const say = (message: FromThread, transfer: ArrayBuffer[] = []) => parentPort!.postMessage(message, transfer);

try {
  const work = workerData as RepackWork;
  if (work.operation === 'build') {
    const { bytes, index } = await build(work.packs);
    say(
      { packed: { bytes, index } },
      bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer as ArrayBuffer] : [],
    );
  } else {
    check(work.bytes, work.index, work.hashes);
    say({ packed: null });
  }
} catch (error) {
  say({ error: String(error), isDamage: error instanceof Damage });
}
parentPort!.close();
