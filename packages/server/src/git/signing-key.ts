import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { gitEnvironment } from './run-git.ts';

const LIMIT_MS = 10_000;

/** Why commits cannot be signed with the SSH private key of this file; null when they can. */
export async function signingKeyFault(file: string): Promise<string | null> {
  try {
    // With an empty passphrase given, a key that has another one is refused instead of asked for.
    await promisify(execFile)('ssh-keygen', ['-y', '-P', '', '-f', file], {
      env: gitEnvironment(),
      timeout: LIMIT_MS,
    });
    return null;
  } catch (error) {
    const { code, stderr = '' } = error as { code?: string | number; stderr?: string };
    if (code === 'ENOENT') return 'needs ssh-keygen on this machine (Debian: openssh-client)';
    if (/UNPROTECTED|bad permissions/i.test(stderr)) return 'may be read by its owner alone (chmod 600)';
    if (/incorrect passphrase/i.test(stderr)) return 'has a passphrase; the service needs a key without one';
    return 'is no SSH private key';
  }
}
