/**
 * Files to search, in batches as a thread takes them: as many as lie in some MiB of frames, with these frames as
 * they are stored: nothing is decompressed here.
 */
import { owned } from '../../buffers.ts';
import { ObjectNotFoundError } from '../../storage/object-store.ts';
import type { Frame } from '../../trees/pack.ts';
import type { Reading } from '../contents.ts';
import { limitConcurrency } from '../../limit-concurrency.ts';
import { frameOf, placeByDatabase } from './placements.ts';
import type { Placed, SearchedSource } from './placements.ts';
import type { SearchJob } from './protocol.ts';

/** The files of one job, in order. */
export interface Batch {
  files: readonly Placed[];
}

/** Decompressed: the first answers soon, later ones keep a thread busy for some 10 ms. */
const FIRST_BYTES = 512 * 1024;
const BATCH_BYTES = 4 * 1024 * 1024;
const GROWTH = 4;

/** Cuts files whose packs are known into batches. The size of one grows with the number before it. */
export class Cutter {
  #bytes = FIRST_BYTES;

  *cut(files: readonly Placed[]): Generator<Batch> {
    let [batch, frames, bytes]: [Placed[], Set<Frame>, number] = [[], new Set(), 0];
    for (const file of files) {
      const frame = frameOf(file);
      if (!frames.has(frame) && batch.length > 0 && bytes + frame.rawLength > this.#bytes) {
        yield { files: batch };
        [batch, frames, bytes] = [[], new Set(), 0];
        this.#bytes = Math.min(this.#bytes * GROWTH, BATCH_BYTES);
      }
      if (!frames.has(frame)) bytes += frame.rawLength;
      frames.add(frame);
      batch.push(file);
    }
    if (batch.length > 0) yield { files: batch };
  }
}

/** One range read fetches at most this, except a single larger frame. */
const RANGE_BYTES = 2 * 1024 * 1024;
/** What is read rather than asked for separately. */
const GAP_BYTES = 16 * 1024;
const READS_AT_ONCE = 4;

export type Stored = Pick<SearchJob, 'places' | 'frames' | 'ranges'>;

/** Reads the frames of a batch. Looks its files up again where a pack was replaced meanwhile. */
export async function readBatch(ctx: Reading, source: SearchedSource, { files }: Batch): Promise<Stored> {
  try {
    return await readPlaced(ctx, files);
  } catch (error) {
    if (!(error instanceof ObjectNotFoundError)) throw error;
    return readPlaced(ctx, await placeByDatabase(ctx, source, files));
  }
}

interface Range {
  packKey: string;
  start: number;
  end: number;
}

async function readPlaced({ store }: Reading, files: readonly Placed[]): Promise<Stored> {
  const frames = new Map<Frame, { number: number; packKey: string }>();
  for (const file of files) {
    const frame = frameOf(file);
    if (!frames.has(frame)) frames.set(frame, { number: frames.size, packKey: file.pack.packKey });
  }
  const table = new Int32Array(frames.size * 4);
  const ranges: Range[] = [];
  const inOrder = [...frames].toSorted(
    ([a, inA], [b, inB]) =>
      (inA.packKey < inB.packKey ? -1 : Number(inA.packKey > inB.packKey)) || a.offset - b.offset,
  );
  for (const [frame, { number, packKey }] of inOrder) {
    const range = rangeFor(ranges, packKey, frame);
    table.set([ranges.length - 1, frame.offset - range.start, frame.length, frame.rawLength], number * 4);
  }
  const limited = limitConcurrency(READS_AT_ONCE);
  const bytes = await Promise.all(
    ranges.map(({ packKey, start, end }) => limited(() => store.getRange(packKey, start, end))),
  );
  const places = files.flatMap((file) => [frames.get(frameOf(file))!.number, file.offset, file.length]);
  return { places: Int32Array.from(places), frames: table, ranges: bytes.map(owned) };
}

/** The last range with the frame in it, or a new one that begins with it. */
function rangeFor(ranges: Range[], packKey: string, { offset, length }: Frame): Range {
  const last = ranges.at(-1);
  const end = offset + length;
  if (last?.packKey === packKey && offset - last.end <= GAP_BYTES && end - last.start <= RANGE_BYTES) {
    last.end = end;
    return last;
  }
  const range = { packKey, start: offset, end };
  ranges.push(range);
  return range;
}
