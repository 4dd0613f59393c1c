import { collect } from '../sandbox/collect.ts';
import { DEFAULT_LIMITS, type Bind } from '../sandbox/driver.ts';
import { startSandbox, type Host } from '../sandbox/host.ts';
import { EXIT } from './git-script.ts';

const LONGEST_MS = 60_000;

/**
 * Runs a shell script in a sandbox until it ends or the signal fires; returns its output. Throws, with a
 * sentence for a person, when the script fails.
 */
export async function run(
  host: Host,
  {
    script,
    args,
    binds,
    stdin,
    signal,
  }: { script: string; args: string[]; binds: Bind[]; stdin: string | undefined; signal: AbortSignal },
): Promise<string> {
  signal.throwIfAborted();
  const sandbox = startSandbox(host, {
    command: ['/bin/sh', '-c', script, 'sh', ...args],
    binds,
    limits: DEFAULT_LIMITS,
  });
  const stop = (): void =>
    void sandbox.kill().catch(() => {
      /* collect sees the same */
    });
  signal.addEventListener('abort', stop);
  sandbox.stdin.end(stdin);
  try {
    const { code, stdout, stderr } = await collect(sandbox, { maxBytes: 64 * 1024, timeoutMs: LONGEST_MS });
    if (code === EXIT.noGit) throw new Error('git is not installed here');
    if (code !== 0 && code !== EXIT.isThere)
      throw new Error(`git ended with ${code}: ${stderr.trim().slice(0, 300)}`);
    return stdout.toString();
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
