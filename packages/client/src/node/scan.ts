/** A folder as the files of a source: what ignore files and the rules for sources allow, with sizes and hashes. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { isUtf8 } from 'node:buffer';
import { join } from 'node:path';
import {
  BundleFaults,
  MAX_BYTES,
  MAX_FILE_BYTES,
  MAX_FILES,
  MAX_NAMED,
  RULES,
} from '../files/bundle-rules.ts';
import { DEPENDENCY_FOLDERS, IGNORE_FILES, IgnoreRules } from '../files/ignore.ts';
import { isReserved } from '../files/paths.ts';
import { codeOf, Pace, withFile } from './open-file.ts';
import { sortByPath, sourceSha256 } from './source-hash.ts';
import type { HashedFile } from './source-hash.ts';

/** What a push skips although no ignore file says so. For a folder, only the folder is named. */
export interface Skipped {
  path: string;
  reason: 'symlink' | 'not a regular file' | 'reserved name' | 'dependency folder';
}

export interface Scan {
  /** The folder itself. */
  folder: string;
  /** Sorted by path. */
  files: HashedFile[];
  /** Those that are part of it, also without files: empty for the folder itself, others end with a slash. */
  folders: string[];
  /** At most 1,000. */
  skipped: Skipped[];
  byteSize: number;
  /** `source.sha256` of the files. */
  sha256: string;
}

export interface ScanOptions {
  signal?: AbortSignal;
  /** Called after each file that was read. */
  onFile?: (files: number, bytes: number) => void;
}

const MAX_SKIPPED = 1_000;

/**
 * Throws HeadraceError `invalid_bundle` that names every file that a source cannot hold or that cannot be read, and
 * the file system's error if the folder itself cannot be read.
 */
export async function scanFolder(folder: string, options: ScanOptions = {}): Promise<Scan> {
  return new FolderScan(folder, options).run();
}

interface Found {
  path: string;
  /** Why it cannot be in a source, if its name cannot be read. */
  fault?: string;
}

class FolderScan {
  readonly #folder: string;
  readonly #options: ScanOptions;
  readonly #pace: Pace;
  readonly #faults = new BundleFaults();
  readonly #found: Found[] = [];
  readonly #folders: string[] = [];
  readonly #skipped: Skipped[] = [];

  constructor(folder: string, options: ScanOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#pace = new Pace(options.signal);
  }

  async run(): Promise<Scan> {
    await this.#walk();
    sortByPath(this.#found);
    if (this.#found.length > MAX_FILES) this.#faults.all(RULES.count);
    this.#found.forEach(({ path, fault }, index) => {
      if (fault !== undefined) this.#faults.at(index, path, 'path', fault);
    });
    this.#faults.paths(this.#found);
    const { files, byteSize } = await this.#read();
    this.#faults.throwIfAny();
    const skipped = sortByPath(this.#skipped).slice(0, MAX_SKIPPED);
    return {
      folder: this.#folder,
      files,
      folders: this.#folders,
      skipped,
      byteSize,
      sha256: sourceSha256(files),
    };
  }

  async #walk(): Promise<void> {
    const open: { prefix: string; above: IgnoreRules }[] = [{ prefix: '', above: IgnoreRules.none }];
    for (let next = open.pop(); next && this.#found.length <= MAX_NAMED; next = open.pop()) {
      await this.#pace.due();
      const { prefix, above } = next;
      this.#folders.push(prefix);
      const entries = this.#entries(prefix);
      const rules = above.within(prefix, this.#ignoreFiles(prefix, entries));
      for (const entry of entries) {
        const path = prefix + entry.name;
        if (!this.#isTaken(entry, path, rules)) continue;
        const isUnreadable = entry.name.includes('\ufffd') && !this.#isNamed(prefix, entry.name);
        if (isUnreadable) this.#found.push({ path, fault: RULES.utf8 });
        else if (entry.isDirectory()) open.push({ prefix: `${path}/`, above: rules });
        else this.#found.push({ path });
      }
    }
  }

  #entries(prefix: string): Dirent[] {
    try {
      return readdirSync(join(this.#folder, prefix), { withFileTypes: true });
    } catch (error) {
      if (prefix === '') throw error;
      if (codeOf(error) !== 'ENOENT') this.#faults.all(`"${prefix}" cannot be read: ${codeOf(error)}`);
      return [];
    }
  }

  #ignoreFiles(prefix: string, entries: readonly Dirent[]): Buffer[] {
    const present = new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));
    return IGNORE_FILES.filter((name) => present.has(name)).flatMap((name) => {
      try {
        return [readFileSync(join(this.#folder, prefix, name))];
      } catch {
        // It is one of the files that are read later, and is named there.
        return [];
      }
    });
  }

  /** Whether an entry is part of the source, or a folder that may hold such entries. */
  #isTaken(entry: Dirent, path: string, rules: IgnoreRules): boolean {
    const verdict = rules.verdict(path, entry.isDirectory());
    if (verdict === 'ignored') return false;
    const reason = reasonToSkip(entry);
    if (reason === null || (reason === 'dependency folder' && verdict === 'included')) return true;
    this.#skip(path, reason);
    return false;
  }

  #skip(path: string, reason: Skipped['reason']): void {
    if (this.#skipped.length < MAX_SKIPPED) this.#skipped.push({ path, reason });
  }

  /** Whether a name really has U+FFFD on disk; invalid bytes may be shown that way. */
  #isNamed(prefix: string, name: string): boolean {
    return readdirSync(join(this.#folder, prefix), { encoding: 'buffer' }).some(
      (bytes) => isUtf8(bytes) && bytes.toString() === name,
    );
  }

  async #read(): Promise<{ files: HashedFile[]; byteSize: number }> {
    const files: HashedFile[] = [];
    let total = 0;
    for (const [index, { path, fault }] of this.#found.entries()) {
      if (fault !== undefined) continue;
      const waiting = this.#pace.due();
      if (waiting) await waiting;
      const file = this.#readFile(path, index, total);
      if (file === null) continue;
      total += file.byteSize;
      if (total <= MAX_BYTES) files.push(file);
      this.#options.onFile?.(files.length, total);
    }
    if (total > MAX_BYTES) this.#faults.all(RULES.total);
    return { files, byteSize: total };
  }

  /** Null if nothing is to be sent. Contents beyond the total limit are not read. */
  #readFile(path: string, index: number, total: number): HashedFile | null {
    try {
      const file = withFile(join(this.#folder, path), (open) => {
        const { byteSize, executable } = open;
        const isTooLarge = byteSize > MAX_FILE_BYTES;
        if (isTooLarge) this.#faults.at(index, path, 'content', RULES.fileSize);
        if (isTooLarge || total > MAX_BYTES) return { path, byteSize, executable, sha256: '' };
        const hash = createHash('sha256');
        const read = open.read((piece) => hash.update(piece));
        return { path, byteSize: read, executable, sha256: hash.digest('hex') };
      });
      if (file === null) this.#skip(path, 'not a regular file');
      return file;
    } catch (error) {
      const code = codeOf(error);
      // Both happened after the folder was listed.
      if (code === 'ELOOP') this.#skip(path, 'symlink');
      else if (code !== 'ENOENT') this.#faults.at(index, path, 'content', `cannot be read: ${code}`);
      return null;
    }
  }
}

function reasonToSkip(entry: Dirent): Skipped['reason'] | null {
  if (isReserved(entry.name)) return 'reserved name';
  if (entry.isSymbolicLink()) return 'symlink';
  if (entry.isDirectory()) return DEPENDENCY_FOLDERS.has(entry.name) ? 'dependency folder' : null;
  return entry.isFile() ? null : 'not a regular file';
}
