import { chmodSync, existsSync, lchownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, hasSource } from './bundle.ts';
import { GuestStore } from './guest-store.ts';

/** Where the guest's programs are inside a sandbox, each as `<name>.cjs`. */
export const GUEST = '/opt/headrace/agent';
/** Nearly every sandbox needs these: made before the runner reports that it is ready. */
const SMALL = {
  scripted: 'scripted',
  'patch-tree': 'patch-tree',
  'trim-layer': 'trim-layer',
  'place-layer': 'place-layer',
  relay: 'relay',
  'port-relay': 'port-relay',
};
/** Made in the background during the start; `ready` waits for it. */
const BIG = { 'headrace.main': 'headrace/main' };
/** V8's compile cache of the big program; see warm-up.ts. */
export const COMPILED = 'compiled';
/**
 * Loads the big program through the compile cache. From the start of the process to its first answer, with
 * the model SDK loaded: 139-181 ms without the cache, 92 ms with it, 81 ms from a snapshot (which would take
 * 14 MB and forbid much); Node alone 33 ms. In processor time, to the end: 196, 151 and, for `scripted`, 41
 * ms. A minified bundle is no faster. It calls the module because every Node that the agent starts would
 * inherit NODE_COMPILE_CACHE.
 */
const ENTRY = `require('node:module').enableCompileCache(__dirname + '/${COMPILED}');\nrequire('./headrace.main.cjs');\n`;

/** The programs that run inside sandboxes (packages/agent), in a folder that all of them see read-only. */
export interface Guest {
  folder: string;
  /** The folder of the compile cache. Only one sandbox, the warm-up, may write it. */
  compiled: string;
  /** False when the compile cache of an earlier runner was copied. */
  isCold: boolean;
  /** Stores the compile cache for later runners. No sandbox may be writing it. */
  keepCompiled(): void;
  /** Resolves when `<name>.cjs` exists; false when there is no such program. */
  ready(name: string): Promise<boolean>;
}

/**
 * Writes the programs into a new `folder`. They are stored in `cache`, so that later starts only copy them (4
 * ms).
 */
export async function installGuest(folder: string, uid: number | null, cache: string): Promise<Guest> {
  const store = new GuestStore(cache);
  const compiled = join(folder, COMPILED);
  const isCold = !store.has(COMPILED);
  mkdirSync(compiled, { recursive: true });
  if (!isCold) store.copy(COMPILED, compiled);
  if (uid !== null)
    for (const name of ['.', ...readdirSync(compiled, { recursive: true, encoding: 'utf8' })])
      lchownSync(join(compiled, name), uid, uid);
  await install(folder, store, SMALL);
  const big = hasSource(BIG['headrace.main']) ? installBig(folder, store) : Promise.resolve(false);
  return {
    folder,
    compiled,
    isCold,
    keepCompiled: () => store.keepFolder(COMPILED, compiled),
    ready: (name) => (name === 'headrace' ? big : Promise.resolve(existsSync(join(folder, `${name}.cjs`)))),
  };
}

async function installBig(folder: string, store: GuestStore): Promise<boolean> {
  try {
    await install(folder, store, BIG);
    writeFileSync(join(folder, 'headrace.cjs'), ENTRY, { mode: 0o644 });
    return true;
  } catch (error) {
    process.stderr.write(`The agent headrace could not be bundled: ${(error as Error).message}\n`);
    return false;
  }
}

async function install(folder: string, store: GuestStore, programs: Record<string, string>): Promise<void> {
  const names = Object.keys(programs).map((name) => `${name}.cjs`);
  const made = names.every((name) => store.has(name)) ? undefined : await bundle(programs);
  for (const [name, text] of made ?? []) {
    store.keep(`${name}.cjs`, text);
    writeFileSync(join(folder, `${name}.cjs`), text);
  }
  for (const name of names) {
    if (!made) store.copy(name, join(folder, name));
    chmodSync(join(folder, name), 0o644);
  }
}
