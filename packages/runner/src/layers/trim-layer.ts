import { RESERVED } from '../capture/rules.ts';
import { RunnerError } from '../errors.ts';
import { LAYER_BYTES, LAYER_ENTRIES, LAYER_LISTING_BYTES, LAYER_TIMEOUT_MS } from '../protocol.ts';
import { collect } from '../sandbox/collect.ts';
import { DEFAULT_LIMITS, type Bind } from '../sandbox/driver.ts';
import { GUEST } from '../sandbox/guest.ts';
import { startSandbox, type Host } from '../sandbox/host.ts';

const TOO_MANY = 75,
  TOO_LONG = 76;

/**
 * Opens what the command closed, trims the tree, then prints how many entries it has, and what it takes: on disk,
 * and by its files' sizes. A file counts once for each of its names, since a copy does not keep all hard links.
 */
const SCRIPT = `chmod -R u+rwX,ug-s,-t . 2>/dev/null
node ${GUEST}/trim-layer.cjs /tmp/whole ${LAYER_ENTRIES} ${LAYER_LISTING_BYTES} ${[...RESERVED].join(' ')} || exit
xargs -0 -r rm -rf -- < /tmp/whole || exit 1
du -s -l -B1 . && du -s -l -b .`;

/**
 * Trims the folder that a setup has left to what a layer may hold (protocol: Layers), in a sandbox in which
 * nothing of the setup lives. `given`: the paths of the files that the setup was given, with one character per
 * byte. Returns how many entries it has, and its size in bytes; the larger one where a file has holes, because a
 * copy might fill them. Throws `layer_too_large` 413; `not_made` 500 for any other fault.
 */
export async function trimLayer(
  host: Host,
  { bind, given, mostBytes }: { bind: Bind; given: string[]; mostBytes: number },
  signal: AbortSignal,
): Promise<{ byteSize: number; entries: number }> {
  signal.throwIfAborted();
  const sandbox = startSandbox(host, {
    command: ['/bin/sh', '-c', SCRIPT],
    binds: [bind],
    limits: DEFAULT_LIMITS,
  });
  const stop = (): void => void sandbox.kill().catch(() => {});
  signal.addEventListener('abort', stop);
  sandbox.stdin.end(Buffer.from(given.map((path) => `${path}\0`).join(''), 'latin1'));
  try {
    const { code, stdout, stderr } = await collect(sandbox, { maxBytes: 4096, timeoutMs: LAYER_TIMEOUT_MS });
    if (code === TOO_MANY)
      throw tooLarge(`The layer has more than ${LAYER_ENTRIES.toLocaleString('en')} files and folders.`);
    if (code === TOO_LONG)
      throw tooLarge(`The paths in the layer take more than ${mebi(LAYER_LISTING_BYTES)} MiB.`);
    const numbers = /^(\d+)\n(\d+)\t.*\n(\d+)\t.*\n$/.exec(stdout.toString('latin1'));
    if (code !== 0 || !numbers)
      throw new RunnerError(
        500,
        'not_made',
        `The layer could not be made (${code}): ${stderr.trim().slice(0, 500)}`,
      );
    const [entries, onDisk, ofFiles] = numbers.slice(1).map(Number) as [number, number, number];
    const byteSize = Math.max(onDisk, ofFiles);
    const most = Math.min(LAYER_BYTES, mostBytes);
    if (byteSize > most)
      throw tooLarge(`The layer takes ${mebi(byteSize)} MiB, and may take ${mebi(most)} MiB.`);
    return { byteSize, entries };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

const tooLarge = (message: string): RunnerError => new RunnerError(413, 'layer_too_large', message);
const mebi = (bytes: number): number => Math.round(bytes / 1024 ** 2);
