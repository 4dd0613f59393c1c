import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sourcesKey } from './bundle.ts';

const NODE_MODULES = fileURLToPath(new URL('../../../../node_modules', import.meta.url));
const UNUSED_MS = 24 * 60 * 60 * 1000;

/**
 * Where programs are stored: near their sources, for all runners of this installation; in the runner's own
 * folder where that is not writable. Each kind has its own place: a store removes what it does not know.
 */
export function storeFolder(own: string, kind: 'guest' | 'runner' = 'guest'): string {
  try {
    accessSync(NODE_MODULES, constants.W_OK);
    return join(NODE_MODULES, `.cache/headrace-${kind}`);
  } catch {
    return join(own, kind);
  }
}

/**
 * Files made from exactly these sources, each whole or absent; several runners may use the store at once.
 * Where nothing can be stored (no room, no right), the files are made on every start.
 */
export class GuestStore {
  readonly #folder: string;
  #isUsable = true;

  constructor(folder: string, key = sourcesKey()) {
    this.#folder = join(folder, key);
    try {
      this.#open(folder, key);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  /** Removes what belongs to other sources and was not used for a day. */
  #open(folder: string, key: string): void {
    mkdirSync(this.#folder, { recursive: true });
    utimesSync(this.#folder, new Date(), new Date());
    for (const name of readdirSync(folder)) {
      const other = join(folder, name);
      if (name !== key && Date.now() - (statSync(other, { throwIfNoEntry: false })?.mtimeMs ?? 0) > UNUSED_MS)
        rmSync(other, { recursive: true, force: true });
    }
  }

  has(name: string): boolean {
    return existsSync(this.pathOf(name));
  }

  pathOf(name: string): string {
    return join(this.#folder, name);
  }

  /** Copies a file or folder out of the store. */
  copy(name: string, to: string): void {
    cpSync(this.pathOf(name), to, { recursive: true });
  }

  keep(name: string, text: string): void {
    // Without the flush, a power cut can leave an empty file under the final name.
    this.#place(name, (part) => writeFileSync(part, text, { flush: true }));
  }

  keepFolder(name: string, from: string): void {
    this.#place(name, (part) => cpSync(from, part, { recursive: true }));
  }

  #place(name: string, make: (part: string) => void): void {
    if (!this.#isUsable) return;
    const part = join(this.#folder, `${name}.${process.pid}.part`),
      whole = this.pathOf(name);
    try {
      make(part);
      renameSync(part, whole);
    } catch (error) {
      rmSync(part, { recursive: true, force: true });
      if (!existsSync(whole)) this.#giveUp(error); // else another runner was first: it is the same
    }
  }

  #giveUp(error: unknown): void {
    this.#isUsable = false;
    process.stderr.write(`Programs cannot be kept for the next start: ${(error as Error).message}\n`);
  }
}
