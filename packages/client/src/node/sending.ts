/** Reads the files that a plan has compared again, for the body of an import. */
import { isUtf8 } from 'node:buffer';
import { join } from 'node:path';
import type { ImportSourceInput } from '../generated/types.ts';
import type { FileChange } from './changes.ts';
import { codeOf, Pace, withFile } from './open-file.ts';
import type { Plan, PlanOptions } from './plan.ts';
import { sha256Of } from './source-hash.ts';
import type { HashedFile } from './source-hash.ts';
import { tarGz } from './tar-writer.ts';

type FileInput = Extract<ImportSourceInput, { files: unknown }>['files'][number];
type Change = Extract<ImportSourceInput, { changes: unknown }>['changes'][number];

/** A file has changed since it was compared. Nothing was stored. */
export class FolderChangedError extends Error {
  override readonly name = 'FolderChangedError';
  readonly path: string;

  constructor(path: string, reason: string) {
    super(
      `${JSON.stringify(path)} changed while the folder was sent: ${reason}. Nothing was stored; push again.`,
    );
    this.path = path;
  }
}

export class Sending {
  readonly #plan: Plan;
  readonly #onProgress: PlanOptions['onProgress'];
  readonly #totalFiles: number;
  #files = 0;
  #bytes = 0;

  constructor(plan: Plan, onProgress: PlanOptions['onProgress']) {
    this.#plan = plan;
    this.#onProgress = onProgress;
    this.#totalFiles = plan.send === 'changes' ? plan.changes.length : plan.files.length;
  }

  files(signal: AbortSignal): Promise<FileInput[]> {
    return paced(this.#plan.files, signal, (file) => ({
      path: file.path,
      ...encoded(this.#read(file)),
      executable: file.executable,
    }));
  }

  changes(signal: AbortSignal): Promise<Change[]> {
    return paced(this.#plan.changes, signal, (change) => this.#change(change));
  }

  /** A new stream of the same bytes each time. It fails if a file has changed or cannot be read. */
  archive(onError: (error: unknown) => void): ReadableStream<Uint8Array> {
    this.#files = 0;
    this.#bytes = 0;
    return tarGz(this.#plan.files, (file) => {
      try {
        return this.#read(file);
      } catch (error) {
        onError(error);
        throw error;
      }
    });
  }

  #change(change: FileChange): Change {
    const { path, status } = change;
    if (status === 'deleted') return { path, content: null };
    const { executable } = change.file;
    if (status === 'mode') return { path, executable };
    if (status === 'renamed') return { path, renameFrom: change.oldPath, executable };
    return { path, ...encoded(this.#read(change.file)), executable };
  }

  /** Throws FolderChangedError. */
  #read(file: HashedFile): Buffer {
    const content = readAgain(join(this.#plan.folder, file.path), file);
    this.#onProgress?.({
      phase: 'send',
      files: ++this.#files,
      bytes: (this.#bytes += content.length),
      totalFiles: this.#totalFiles,
      totalBytes: this.#plan.bytesToSend,
    });
    return content;
  }
}

function readAgain(full: string, { path, byteSize, sha256 }: HashedFile): Buffer {
  const content = Buffer.allocUnsafe(byteSize);
  let read: number | null;
  try {
    read = withFile(full, (file) => {
      if (file.byteSize !== byteSize) return null;
      let at = 0;
      return file.read((piece) => {
        content.set(piece, at);
        at += piece.length;
      });
    });
  } catch (error) {
    throw new FolderChangedError(path, codeOf(error));
  }
  if (read !== byteSize || sha256Of(content) !== sha256) throw new FolderChangedError(path, 'other content');
  return content;
}

async function paced<T, R>(items: readonly T[], signal: AbortSignal, map: (item: T) => R): Promise<R[]> {
  const pace = new Pace(signal);
  const results: R[] = [];
  for (const item of items) {
    results.push(map(item));
    const waiting = pace.due();
    if (waiting) await waiting;
  }
  return results;
}

const encoded = (bytes: Buffer): Pick<FileInput, 'content' | 'encoding'> =>
  isUtf8(bytes)
    ? { content: bytes.toString('utf8'), encoding: 'utf8' }
    : { content: bytes.toString('base64'), encoding: 'base64' };
