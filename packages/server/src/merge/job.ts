import { deltaTo, packTree } from './packed-tree.ts';
import type { Answer, FileOutput, MergeOutput, Question, Work } from './protocol.ts';
import type { DiffFile, ReadBlobs } from './types.ts';
import type { Tree } from '../trees/tree.ts';

/** A tree that never changes under its id (a source). `load` is called only where the thread lacks the tree. */
export interface TreeRef {
  id: string;
  load: () => Promise<Tree> | Tree;
}

export type Output = MergeOutput | DiffFile[] | FileOutput;

/** One request of the engine, with what the thread may ask for it. */
export class MergeJob {
  readonly work: Work;
  readonly output: Promise<Output>;
  /** How often it was given to a thread. */
  attempts = 0;
  timer: NodeJS.Timeout | undefined;
  readonly #trees: ReadonlyMap<string, TreeRef['load']>;
  readonly #readBlobs: ReadBlobs;
  readonly #settlers: PromiseWithResolvers<Output>;
  #error: unknown;

  constructor(work: Work, trees: readonly TreeRef[], readBlobs: ReadBlobs) {
    this.work = work;
    this.#trees = new Map(trees.map((ref) => [ref.id, ref.load]));
    this.#readBlobs = readBlobs;
    this.#settlers = Promise.withResolvers();
    this.output = this.#settlers.promise;
  }

  resolve(output: Output): void {
    this.#settlers.resolve(output);
  }

  /** Rejects with what `load` or `readBlobs` threw, whatever the thread made of it, else with `error`. */
  fail(error: unknown): void {
    this.#settlers.reject(this.#error ?? error);
  }

  /** Rejects with `error`. */
  refuse(error: unknown): void {
    this.#settlers.reject(error);
  }

  /** Null where `load` or `readBlobs` threw. */
  async answer(question: Question): Promise<Answer | null> {
    try {
      return question.about === 'tree'
        ? await this.#packTree(question.id, question.near)
        : joinBlobs(question.shas, await this.#readBlobs(question.shas));
    } catch (error) {
      this.#error = error;
      return null;
    }
  }

  async #packTree(id: string, near: string | null): Promise<Answer> {
    const tree = await this.#trees.get(id)!();
    return (near !== null && deltaTo(tree, await this.#trees.get(near)!())) || packTree(tree);
  }
}

/**
 * Contents in one fresh buffer, which is moved instead of copied; a slice of a pool would drag the whole
 * pool along.
 */
function joinBlobs(shas: string[], blobs: Map<string, Buffer>): Answer {
  const found = shas.map((sha) => blobs.get(sha)!);
  const bytes = new Uint8Array(found.reduce((sum, blob) => sum + blob.length, 0));
  let at = 0;
  for (const blob of found) {
    bytes.set(blob, at);
    at += blob.length;
  }
  return { sizes: found.map((blob) => blob.length), bytes };
}
