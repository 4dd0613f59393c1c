/**
 * An import as tar.gz: inflated as it is read, contents never further than the limits allow. An archive
 * that is over them is read on for names alone, so that one answer names every wrong file.
 */
import { hash } from 'node:crypto';
import { createGunzip } from 'node:zlib';
import type { Bundle } from './bundle.ts';
import {
  BundleFaults,
  MAX_FILES,
  MAX_FILE_BYTES,
  MAX_NAMED,
  MAX_TOTAL_BYTES,
  RULES,
  invalidBundle,
  type Refusal,
} from './bundle-rules.ts';
import { sha256Of } from '../../trees/manifest.ts';
import { readTar, TarError, type TarEntry } from '../../trees/tar-reader.ts';
import type { ArchiveEntry } from './link-tree.ts';
import { filesOf, type Links } from './tar-links.ts';

const MIB = 1024 * 1024;
/** Contents, and room for headers of 10,000 long names and many folders. */
const MAX_INFLATED_BYTES = 128 * MIB;
/** Of an archive that is over its limits already. */
const MAX_INFLATED_FOR_NAMES = 64 * MIB;
const STORED_CHUNK = 256 * 1024;

export async function parseTarGz(bytes: Uint8Array, links: Links): Promise<Bundle | Refusal> {
  const reading = new TarImport(links);
  try {
    for await (const entry of readTar(inflate(bytes, () => reading.maxInflated))) {
      await reading.entry(entry);
      if (reading.isEnough) break;
    }
  } catch (error) {
    reading.damaged(error);
  }
  return reading.finish(hash('sha256', bytes, 'buffer'));
}

class TarImport {
  readonly #faults = new BundleFaults('/files');
  readonly #links: Links;
  readonly #entries: ArchiveEntry[] = [];
  #index = -1;
  #files = 0;
  #symlinks = 0;
  #total = 0;
  /** Set once a limit of the whole is exceeded: no content is kept from then on. */
  #isOver = false;
  /** Whether every entry was seen. */
  #isWhole = true;

  constructor(links: Links) {
    this.#links = links;
  }

  get maxInflated(): number {
    return this.#isOver ? MAX_INFLATED_FOR_NAMES : MAX_INFLATED_BYTES;
  }

  get isEnough(): boolean {
    return !this.#isWhole;
  }

  async entry(entry: TarEntry): Promise<void> {
    this.#index++;
    if (this.#isOver && this.#index >= MAX_NAMED) {
      this.#isWhole = false;
      return;
    }
    const place = { index: this.#index, path: pathOf(entry) };
    if (entry.kind === 'other')
      return this.#faults.at(
        place,
        'path',
        'must be a regular file: devices, pipes and other special files cannot be kept',
      );
    if (entry.kind === 'folder' && this.#links !== 'follow') return;
    if (entry.path === null && entry.kind !== 'folder' && entry.kind !== 'symlink')
      this.#faults.at(place, 'path', 'must be UTF-8');
    this.#count(entry);
    this.#entries.push({
      index: place.index,
      path: place.path,
      kind: entry.kind,
      isUtf8: entry.path !== null,
      target: entry.target,
      byteSize: entry.byteSize,
      executable: entry.executable,
      content: await this.#content(entry),
    });
  }

  damaged(error: unknown): void {
    this.#isWhole = false;
    // What is over its limits is cut off here or there: that is no further fault.
    if (error instanceof InflationLimit)
      this.#over(`The archive inflates to more than ${MAX_INFLATED_BYTES / MIB} MiB.`);
    else if (error instanceof TarError) this.#over(`The archive is not a readable tar: ${error.message}.`);
    else if (isZlibError(error)) this.#over('The body is not readable gzip data: it is damaged or cut off.');
    else throw error;
  }

  finish(fingerprint: Buffer): Bundle | Refusal {
    const { files, warnings } = filesOf(
      { entries: this.#entries, isWhole: this.#isWhole },
      this.#links,
      this.#faults,
    );
    this.#faults.paths(files.filter((file) => file.isUtf8));
    let total = 0;
    for (const file of files) {
      if (file.byteSize > MAX_FILE_BYTES) this.#faults.at(file, 'content', RULES.fileSize);
      total += file.byteSize;
    }
    if (files.length > MAX_FILES) this.#over(RULES.count);
    if (total > MAX_TOTAL_BYTES) this.#over(RULES.total);
    if (!this.#faults.isEmpty) return invalidBundle(this.#faults.list());
    return {
      ok: true,
      files: files.map(({ path, content, executable }) => ({
        path,
        bytes: content!.bytes,
        sha256: content!.sha256,
        executable,
      })),
      warnings,
      parentSourceId: null,
      message: null,
      fingerprint,
    };
  }

  #count({ kind, byteSize }: TarEntry): void {
    if (kind === 'symlink' && ++this.#symlinks > MAX_FILES)
      this.#over(`An archive holds at most ${MAX_FILES} symbolic links.`);
    if (kind !== 'file' && kind !== 'hardlink') return;
    if (++this.#files > MAX_FILES) this.#over(RULES.count);
    this.#total += byteSize;
    if (this.#total > MAX_TOTAL_BYTES) this.#over(RULES.total);
  }

  async #content(entry: TarEntry): Promise<ArchiveEntry['content']> {
    if (entry.kind !== 'file' || this.#isOver || entry.byteSize > MAX_FILE_BYTES) return null;
    const bytes = await entry.read();
    return { bytes, sha256: sha256Of(bytes) };
  }

  /** Names the first fault of the whole. */
  #over(rule: string): void {
    if (!this.#isOver) this.#faults.all(rule);
    this.#isOver = true;
  }
}

/** As a source names it, or as well as it can be shown. */
function pathOf(entry: TarEntry): string {
  const path = entry.path ?? entry.name.toString('utf8');
  return path.startsWith('./') ? path.slice(2) : path;
}

class InflationLimit extends Error {}

async function* inflate(bytes: Uint8Array, maxBytes: () => number): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: STORED_CHUNK });
  gunzip.end(bytes);
  let inflated = 0;
  for await (const chunk of gunzip as AsyncIterable<Buffer>) {
    inflated += chunk.length;
    if (inflated > maxBytes()) throw new InflationLimit();
    yield chunk;
  }
}

function isZlibError(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && code.startsWith('Z_');
}
