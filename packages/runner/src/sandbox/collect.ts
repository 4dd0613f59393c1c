import { RunnerError } from '../errors.ts';
import type { Sandbox, SandboxExit } from './driver.ts';

/** The output and the exit of a short command in one of the runner's own sandboxes. */
export interface Collected extends SandboxExit {
  stdout: Buffer;
  stderr: string;
}

const STDERR_BYTES = 16 * 1024;

/**
 * Waits for a helper to end: reads stdout up to `maxBytes` (beyond it kills the sandbox and throws
 * `too_large`), and kills it after `timeoutMs`.
 */
export async function collect(
  sandbox: Sandbox,
  { maxBytes, timeoutMs }: { maxBytes: number; timeoutMs: number },
): Promise<Collected> {
  const parts: Buffer[] = [];
  let size = 0,
    stderr = '';
  const timer = setTimeout(() => void sandbox.kill().catch(() => {}), timeoutMs);
  sandbox.stderr.setEncoding('utf8').on('data', (part: string) => {
    if (stderr.length < STDERR_BYTES) stderr += part;
  });
  const out = new Promise<void>((resolve) => {
    sandbox.stdout
      .on('data', (part: Buffer) => {
        size += part.length;
        if (size <= maxBytes) parts.push(part);
        else void sandbox.kill().catch(() => {});
      })
      .once('close', resolve);
  });
  try {
    const [exit] = await Promise.all([sandbox.exited, out]);
    if (size > maxBytes)
      throw new RunnerError(413, 'too_large', `More than ${maxBytes} bytes came out of the sandbox.`);
    return { ...exit, stdout: Buffer.concat(parts), stderr };
  } finally {
    clearTimeout(timer);
  }
}
