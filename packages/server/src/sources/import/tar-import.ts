/** An import as tar.gz: inflated as it is read, never further than the limits allow. */
import { hash } from 'node:crypto';
import { createGunzip } from 'node:zlib';
import type { Bundle, BundleFile } from './bundle.ts';
import {
  BundleFaults,
  MAX_FILES,
  MAX_FILE_BYTES,
  MAX_TOTAL_BYTES,
  RULES,
  invalidBundle,
  type Refusal,
} from './bundle-rules.ts';
import { sha256Of } from '../../trees/manifest.ts';
import { readTar, TarError, type TarEntry } from '../../trees/tar-reader.ts';

/** Contents, and room for headers of 10,000 long names and many folders. */
const MAX_INFLATED_BYTES = 128 * 1024 * 1024;
const STORED_CHUNK = 256 * 1024;

export async function parseTarGz(bytes: Uint8Array): Promise<Bundle | Refusal> {
  const reading = new TarImport();
  try {
    for await (const entry of readTar(inflate(bytes))) {
      await reading.entry(entry);
      if (reading.isOver) break;
    }
  } catch (error) {
    reading.damaged(error);
  }
  return reading.finish(hash('sha256', bytes, 'buffer'));
}

class TarImport {
  readonly #faults = new BundleFaults('/files');
  readonly #files: BundleFile[] = [];
  readonly #named: { index: number; path: string }[] = [];
  #index = -1;
  #total = 0;
  /** Set once a limit of the whole is exceeded: reading on would change nothing. */
  isOver = false;

  async entry(entry: TarEntry): Promise<void> {
    this.#index++;
    if (entry.kind === 'folder') return;
    if (entry.kind === 'other')
      return this.#faults.at(
        this.#index,
        'path',
        'must be a regular file: links and special files cannot be kept',
      );
    if (this.#named.length >= MAX_FILES) return this.#over(RULES.count);
    const path = this.#name(entry);
    this.#total += entry.byteSize;
    if (entry.byteSize > MAX_FILE_BYTES) this.#faults.at(this.#index, 'content', RULES.fileSize);
    if (this.#total > MAX_TOTAL_BYTES) return this.#over(RULES.total);
    if (entry.byteSize > MAX_FILE_BYTES) return;
    const bytes = await entry.read();
    this.#files.push({ path, bytes, sha256: sha256Of(bytes), executable: entry.executable });
  }

  damaged(error: unknown): void {
    if (error instanceof InflationLimit)
      this.#faults.all(`The archive inflates to more than ${MAX_INFLATED_BYTES / 1024 / 1024} MiB.`);
    else if (error instanceof TarError)
      this.#faults.all(`The archive is not a readable tar: ${error.message}.`);
    else if (isZlibError(error))
      this.#faults.all('The body is not readable gzip data: it is damaged or cut off.');
    else throw error;
  }

  finish(fingerprint: Buffer): Bundle | Refusal {
    this.#faults.paths(this.#named);
    if (!this.#faults.isEmpty) return invalidBundle(this.#faults.list());
    return { ok: true, files: this.#files, parentSourceId: null, message: null, fingerprint };
  }

  #name(entry: TarEntry): string {
    if (entry.path === null) {
      this.#faults.at(this.#index, 'path', 'must be UTF-8');
      return '';
    }
    const path = entry.path.startsWith('./') ? entry.path.slice(2) : entry.path;
    this.#named.push({ index: this.#index, path });
    return path;
  }

  #over(rule: string): void {
    this.#faults.all(rule);
    this.isOver = true;
  }
}

class InflationLimit extends Error {}

async function* inflate(bytes: Uint8Array): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: STORED_CHUNK });
  gunzip.end(bytes);
  let inflated = 0;
  for await (const chunk of gunzip as AsyncIterable<Buffer>) {
    inflated += chunk.length;
    if (inflated > MAX_INFLATED_BYTES) throw new InflationLimit();
    yield chunk;
  }
}

function isZlibError(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && code.startsWith('Z_');
}
