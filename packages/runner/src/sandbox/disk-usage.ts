import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Host } from './host.ts';

/**
 * What du reports for each of these folders; those that are gone are left out. It runs as the sandboxes' own user, with the right to look
 * into closed folders, where an agent could hide its files. It follows no link and prints one number for
 * each folder, so a live tree cannot mislead it into harm.
 */
export async function diskUsage(
  host: Host,
  folders: string[],
  options: string[],
): Promise<Map<string, number>> {
  const du = ['/usr/bin/du', ...options, '--', ...folders];
  const mayLookIn =
    host.uid === null
      ? ['unshare', '--user', '--map-root-user']
      : [
          'setpriv',
          `--reuid=${host.uid}`,
          `--regid=${host.uid}`,
          '--clear-groups',
          '--inh-caps=-all,+dac_read_search',
          '--ambient-caps=-all,+dac_read_search',
          '--bounding-set=-all,+dac_read_search',
        ];
  const text = (await outputOf([...mayLookIn, ...du])) || (host.uid === null ? await outputOf(du) : '');
  return new Map(
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const [count, ...folder] = line.split('\t');
        return [folder.join('\t'), Number.parseInt(count!, 10) || 0];
      }),
  );
}

function outputOf([command, ...args]: string[]): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(command!, args, {
      env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
      cwd: '/',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 60_000,
    });
    let text = '';
    child.once('error', () => resolve('')).once('close', () => resolve(text));
    // There is no stdout where descriptors have run out.
    (child.stdout as Readable | undefined)?.setEncoding('latin1').on('data', (part: string) => {
      text += part;
    });
  });
}
