/** The decompressed frames of a job, each as long as files of it are still to come. */
import { zstdDecompressSync } from 'node:zlib';
import type { Finder, OpenFinder } from './literals.ts';
import type { SearchJob } from './protocol.ts';

export interface Frame {
  bytes: Buffer;
  /** Where the next candidate is; null: everywhere. */
  candidate: Finder | null;
  nul: Finder;
}

export class FrameDamage extends Error {}

export class Frames {
  readonly #job: Pick<SearchJob, 'frames' | 'ranges' | 'places'>;
  readonly #openFinder: OpenFinder | null;
  readonly #open = new Map<number, Frame>();
  readonly #lastFile = new Map<number, number>();

  constructor(job: Pick<SearchJob, 'frames' | 'ranges' | 'places'>, openFinder: OpenFinder | null) {
    this.#job = job;
    this.#openFinder = openFinder;
    for (let i = 0; i < job.places.length; i += 3) this.#lastFile.set(job.places[i]!, i / 3);
  }

  /** The frame of a file, for the last time when that is its last file. Throws `FrameDamage`. */
  of(file: number): Frame {
    const number = this.#job.places[file * 3]!;
    const frame = this.#open.get(number) ?? this.#read(number);
    if (this.#lastFile.get(number) === file) this.#open.delete(number);
    else this.#open.set(number, frame);
    return frame;
  }

  #read(number: number): Frame {
    const { frames, ranges } = this.#job;
    const [range, offset, length, rawLength] = quadruple(frames, number);
    const bytes = decompress(ranges[range]!.subarray(offset, offset + length), rawLength);
    return {
      bytes,
      candidate: this.#openFinder ? kept(this.#openFinder(bytes)) : null,
      nul: kept((from) => bytes.indexOf(0, from)),
    };
  }
}

const quadruple = (numbers: Int32Array, at: number) =>
  [...numbers.subarray(at * 4, at * 4 + 4)] as [number, number, number, number];

/** Zlib takes no less. */
const MIN_CHUNK = 64;

/** Its checksum says whether these are the bytes that were stored. */
function decompress(compressed: Uint8Array, rawLength: number): Buffer {
  try {
    const bytes = zstdDecompressSync(compressed, {
      maxOutputLength: Math.max(rawLength, 1),
      chunkSize: Math.max(rawLength + 1, MIN_CHUNK),
    });
    if (bytes.length === rawLength) return bytes;
  } catch (error) {
    throw new FrameDamage('a pack is damaged', { cause: error });
  }
  throw new FrameDamage('a pack is damaged');
}

/** Asks again only behind the last answer: the files of a frame share one pass over it. */
function kept(find: Finder): Finder {
  let [askedFrom, answer] = [Infinity, -1];
  return (from) => {
    if (from < askedFrom || (answer >= 0 && from > answer)) [askedFrom, answer] = [from, find(from)];
    return answer;
  };
}
