import { rmSync } from 'node:fs';
import { makeSandboxFolder, type Host } from '../sandbox/host.ts';
import { WORKSPACE } from '../sandbox/driver.ts';
import type { SourceTree } from '../workspaces/tree-cache.ts';
import type { Trees } from '../workspaces/trees.ts';
import { LAYER, MAKE_LAYER } from './git-script.ts';
import { run } from './run.ts';

/** Longer than a turn waits: the next turn finds the layer. */
const TIMEOUT_MS = 60_000;

const underWay = new WeakMap<SourceTree, Promise<string | undefined>>();
let counter = 0;

/**
 * The layer with the `.git` of a kept source. One sandbox that sees nothing but that source makes it when an
 * agent first needs it; every later workspace over the source only mounts it. Undefined where it cannot be
 * made. Throws when the signal fires first; the layer is still made.
 */
export async function gitLayer(
  host: Host,
  trees: Trees,
  source: SourceTree,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (source.git) return source.git.folder;
  let making = underWay.get(source);
  if (!making) {
    making = trees.whileUsed(source, () => make(host, source));
    underWay.set(source, making);
    void making.finally(() => underWay.delete(source));
  }
  const gone = Promise.withResolvers<never>();
  const stop = (): void => gone.reject(signal.reason as Error);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop);
  try {
    return await Promise.race([making, gone.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

async function make(host: Host, source: SourceTree): Promise<string | undefined> {
  const folder = makeSandboxFolder(host, `git.${++counter}`);
  try {
    const binds = [
      { host: source.folder, inside: WORKSPACE, readOnly: true },
      { host: folder, inside: LAYER, readOnly: false },
    ];
    const said = await run(host, {
      script: MAKE_LAYER,
      args: ['all'],
      binds,
      stdin: undefined,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    source.git = { folder, byteSize: Number.parseInt(said, 10) * 1024 };
    return folder;
  } catch (error) {
    process.stderr.write(`No git repository could be made of ${source.key}: ${(error as Error).message}\n`);
    rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
}
