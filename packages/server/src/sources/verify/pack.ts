/**
 * Reads one pack to its end and hashes every content that its index names. What is in memory at once: one
 * range, and two frames of it.
 */
import { ObjectNotFoundError } from '../../storage/object-store.ts';
import { unpackFrame } from '../blobs.ts';
import { sha256Of } from '../../trees/manifest.ts';
import { decodeIndex } from '../../trees/pack.ts';
import type { Frame, PackIndex, Placement } from '../../trees/pack.ts';
import { inspect, readRange } from './run.ts';
import type { Verification } from './run.ts';
import type { DamageKind } from './findings.ts';

export interface PackRow {
  id: string;
  object_key: string;
  byte_size: number;
  index: Buffer;
}

interface PackFaults {
  faults: { kind: DamageKind; message: string }[];
  /** Damaged contents: what is wrong with each. */
  contents: Map<string, string>;
}

type Placed = [sha256: string, placement: Placement];

const RANGE_BYTES = 4 * 1024 * 1024;
/** No frame is longer: it holds one file, of a repository maybe, or files up to its usual length. */
const MAX_FRAME_BYTES = 512 * 1024 * 1024;

/** Throws `StorageUnavailableError` where the store is away. */
export async function verifyPack(run: Verification, pack: PackRow): Promise<PackFaults> {
  const result: PackFaults = { faults: [], contents: new Map() };
  const index = checkedIndex(pack, result);
  if (!index) return result;
  const { info, fault } = await inspect(run, pack.object_key, pack.byte_size);
  if (fault) result.faults.push(fault);
  if (info)
    await readPack(run, pack, index, result).catch((error: unknown) => {
      // It was deleted in between: the caller sees whether it is still needed.
      if (!(error instanceof ObjectNotFoundError)) throw error;
      result.faults.push({ kind: 'object_missing', message: 'The object is not in the store.' });
      loseAll(index, 'Its pack is not in the store.', result);
    });
  else loseAll(index, 'Its pack is not in the store.', result);
  return result;
}

const loseAll = ({ blobs }: PackIndex, message: string, { contents }: PackFaults) => {
  for (const sha256 of blobs.keys()) contents.set(sha256, message);
};

function checkedIndex({ index, byte_size: byteSize }: PackRow, { faults }: PackFaults): PackIndex | null {
  try {
    const decoded = decodeIndex(index);
    const message = faultOf(decoded, byteSize);
    if (message === null) return decoded;
    faults.push({ kind: 'pack_index', message });
  } catch (error) {
    faults.push({
      kind: 'pack_index',
      message: `The pack's index cannot be read: ${(error as Error).message}.`,
    });
  }
  return null;
}

function faultOf({ frames, blobs }: PackIndex, byteSize: number): string | null {
  const end = frames.reduce((sum, frame) => sum + frame.length, 0);
  if (end !== byteSize) return `The pack's index describes ${end} bytes; ${byteSize} were stored.`;
  if (frames.some((frame) => frame.rawLength > MAX_FRAME_BYTES))
    return "The pack's index describes a frame that is too long.";
  for (const { frame, offset, length } of blobs.values()) {
    if (offset + length > (frames[frame]?.rawLength ?? -1))
      return "The pack's index places a content outside of its frame.";
  }
  return null;
}

async function readPack(
  run: Verification,
  pack: PackRow,
  { frames, blobs }: PackIndex,
  result: PackFaults,
): Promise<void> {
  const placed = Map.groupBy(blobs, ([, placement]) => placement.frame);
  let damaged = 0;
  for (const group of ranges(frames)) {
    for await (const { number, raw } of unpacked(run, pack.object_key, frames, group)) {
      if (raw === null) damaged++;
      for (const one of placed.get(number) ?? []) check(run, one, raw, result);
    }
  }
  if (damaged > 0)
    result.faults.push({
      kind: 'pack_damaged',
      message: `${damaged} of the pack's ${frames.length} parts cannot be read or decompressed.`,
    });
}

function check(
  { tally }: Verification,
  [sha256, { offset, length }]: Placed,
  raw: Buffer | null,
  { contents }: PackFaults,
): void {
  if (raw === null) {
    contents.set(sha256, 'The part of its pack that holds it cannot be read or decompressed.');
    return;
  }
  tally.contents++;
  tally.hashedBytes += length;
  if (sha256Of(raw.subarray(offset, offset + length)) !== sha256)
    contents.set(sha256, 'The bytes at its place have another hash.');
}

/** Frames that one reading fetches: numbers from `first` to `last`. */
interface Group {
  first: number;
  last: number;
}

function* ranges(frames: readonly Frame[]): Generator<Group> {
  for (let first = 0; first < frames.length;) {
    let last = first;
    while (last + 1 < frames.length && endOf(frames[last + 1]!) - frames[first]!.offset <= RANGE_BYTES)
      last++;
    yield { first, last };
    first = last + 1;
  }
}

const endOf = (frame: Frame) => frame.offset + frame.length;

/**
 * Each frame's bytes, null where they are damaged. The next one is decompressed on another core while the
 * consumer hashes this one.
 */
async function* unpacked(
  run: Verification,
  key: string,
  frames: readonly Frame[],
  { first, last }: Group,
): AsyncGenerator<{ number: number; raw: Buffer | null }> {
  const start = frames[first]!.offset;
  const range = await readRange(run, key, start, endOf(frames[last]!));
  if (range === null && last > first) {
    // One bad sector does not cost its neighbours.
    for (let number = first; number <= last; number++)
      yield* unpacked(run, key, frames, { first: number, last: number });
    return;
  }
  const unpack = async (number: number) =>
    range === null
      ? null
      : unpackFrame(
          frames[number]!,
          range.subarray(frames[number]!.offset - start, endOf(frames[number]!) - start),
        ).catch(() => null);
  let next = unpack(first);
  for (let number = first; number <= last; number++) {
    const raw = await next;
    if (number < last) next = unpack(number + 1);
    yield { number, raw };
  }
}
