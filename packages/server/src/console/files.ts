/** What `vite build` has left in packages/console/dist, read into memory. */
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';

/** One of an asset's encodings. */
export interface Representation {
  bytes: Buffer;
  /** Strong: other bytes have another. */
  etag: string;
}

export interface Asset {
  type: string;
  /** By the token of Accept-Encoding; `identity` always. */
  encodings: Map<string, Representation>;
}

export interface BuiltConsole {
  /** The page, cut where a nonce belongs. */
  page: string[];
  /** By name below `assets/`. */
  assets: Map<string, Asset>;
}

/** There is no console to serve; `reason` is what the build of it said, null if none was made. */
export class NotBuilt extends Error {
  readonly reason: string | null;
  constructor(reason: string | null) {
    super(
      reason === null
        ? 'The console is not built. Stop the service and run `npm start`, which builds it.'
        : 'The console could not be built. Mend what the build says, then run `npm start` again.',
    );
    this.name = 'NotBuilt';
    this.reason = reason;
  }
}

/** What `packages/console/vite.config.ts` writes in place of a nonce. */
const NONCE = 'HEADRACE_NONCE';
/** What `scripts/console-build.mjs` leaves instead of the page. */
const FAILURE = 'failure.txt';
const TRIES = 3;

const ENCODINGS: Record<string, string> = { '.br': 'br', '.gz': 'gzip' };
const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
};

/** Reads page and assets of one and the same build. Throws `NotBuilt`. */
export async function readConsole(folder: string): Promise<BuiltConsole> {
  for (let left = TRIES; left > 0; left--) {
    const before = await identity(folder);
    if (before === null) break;
    const built = await readBuild(folder).catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    });
    // A build that ended meanwhile has put another folder in this one's place.
    if ((await identity(folder)) !== before) continue;
    if (built) return built;
    break;
  }
  throw new NotBuilt(await readFile(join(folder, FAILURE), 'utf8').catch(() => null));
}

async function readBuild(folder: string): Promise<BuiltConsole> {
  const page = (await readFile(join(folder, 'index.html'), 'utf8')).split(NONCE);
  const files = await readdir(join(folder, 'assets'), { withFileTypes: true });
  const assets = new Map<string, Asset>();
  await Promise.all(
    files
      .filter((file) => file.isFile() && !(extname(file.name) in ENCODINGS))
      .map(async ({ name }) => {
        const kept = Object.entries(ENCODINGS).filter(([ending]) =>
          files.some((file) => file.name === name + ending),
        );
        assets.set(name, {
          type: TYPES[extname(name)] ?? 'application/octet-stream',
          encodings: new Map(
            await Promise.all(
              [...kept, ['', 'identity'] as const].map(
                async ([ending, encoding]) =>
                  [encoding, await readRepresentation(join(folder, 'assets', name + ending))] as const,
              ),
            ),
          ),
        });
      }),
  );
  return { page, assets };
}

async function readRepresentation(path: string): Promise<Representation> {
  const bytes = await readFile(path);
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"` };
}

async function identity(folder: string): Promise<string | null> {
  try {
    const { dev, ino, birthtimeMs } = await stat(folder);
    return `${dev} ${ino} ${birthtimeMs}`;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

const isMissing = (error: unknown) =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
