import { chmodSync, cpSync, existsSync, lchownSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, hasSource, sourcesKey } from './bundle.ts';

/** Where the guest's programs lie inside a sandbox, each as `<name>.cjs`. */
export const GUEST = '/opt/headrace/agent';
/** Needed by nearly every sandbox: made before the runner says that it is ready. */
const SMALL = { scripted: 'scripted', 'patch-tree': 'patch-tree', relay: 'relay', 'gateway-relay': 'gateway-relay' };
/** Made beside the start; whoever needs it waits for it. */
const BIG = { 'headrace.main': 'headrace/main' };
/** What V8 made of the big program the last time; see `warmUp` of warm-up.ts. */
const COMPILED = 'compiled';
/** A call to the module instead of NODE_COMPILE_CACHE, which every Node that the agent starts would inherit. */
const ENTRY = `require('node:module').enableCompileCache(__dirname + '/${COMPILED}');\nrequire('./headrace.main.cjs');\n`;

/** The programs that run inside sandboxes (packages/agent), in a folder that all of them see read-only. */
export interface Guest {
  folder: string;
  /** Where the compile cache is written once, by a sandbox that runs nothing but our own program. */
  compiled: string;
  /** False when the compile cache has been taken over from an earlier runner. */
  isCold(): boolean;
  /** Keeps the compile cache for later runners. No sandbox may be writing it. */
  keepCompiled(): void;
  /** Resolves when `<name>.cjs` is there; false when there is no such program. */
  ready(name: string): Promise<boolean>;
}

/**
 * Writes the programs into `folder`. What was made is kept in `cache`, under a name that says of what, so that later starts copy it: 3 ms.
 * The compile cache is the sandboxes' user's to write, once.
 */
export async function installGuest(folder: string, uid: number | null, cache: string | undefined): Promise<Guest> {
  mkdirSync(folder);
  const compiled = join(folder, COMPILED);
  const store = openStore(cache);
  if (store && existsSync(join(store, COMPILED))) cpSync(join(store, COMPILED), compiled, { recursive: true });
  const isCold = !existsSync(compiled);
  if (isCold) mkdirSync(compiled);
  if (uid !== null) for (const name of ['.', ...readdirSync(compiled, { recursive: true, encoding: 'utf8' })]) lchownSync(join(compiled, name), uid, uid);
  await install(folder, store, SMALL);
  const big = hasSource(BIG['headrace.main']) ? install(folder, store, BIG).then(() => writeFileSync(join(folder, 'headrace.cjs'), ENTRY)).then(() => true, (error: Error) => {
    process.stderr.write(`The agent headrace could not be bundled: ${error.message}\n`);
    return false;
  }) : Promise.resolve(false);
  return {
    folder, compiled, isCold: () => isCold,
    keepCompiled() { if (store) { cpSync(compiled, join(store, `${COMPILED}.part`), { recursive: true }); move(join(store, `${COMPILED}.part`), join(store, COMPILED)); } },
    ready: (name) => (name === 'headrace' ? big : Promise.resolve(existsSync(join(folder, `${name}.cjs`)))),
  };
}

/** The folder of what belongs to these very sources; those of other versions go. */
function openStore(cache: string | undefined): string | undefined {
  if (cache === undefined) return undefined;
  const key = sourcesKey();
  mkdirSync(cache, { recursive: true });
  for (const name of readdirSync(cache)) if (name !== key) rmSync(join(cache, name), { recursive: true, force: true });
  mkdirSync(join(cache, key), { recursive: true });
  return join(cache, key);
}

async function install(folder: string, store: string | undefined, programs: Record<string, string>): Promise<void> {
  const from = store ?? folder;
  const names = Object.keys(programs).map((name) => `${name}.cjs`);
  if (!names.every((name) => existsSync(join(from, name)))) {
    for (const [name, text] of await bundle(programs)) {
      const file = join(from, `${name}.cjs`);
      writeFileSync(`${file}.part`, text);
      move(`${file}.part`, file);
    }
  }
  for (const name of names) {
    if (store) cpSync(join(store, name), join(folder, name));
    chmodSync(join(folder, name), 0o644);
  }
}

/** A half-written file never has its final name. */
function move(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  renameSync(from, to);
}
