/** A folder that is staged for `npm publish` becomes the tarball that would be published. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const LIMIT_MS = 120_000;
const DOCUMENTS = ['README.md', 'CHANGELOG.md', 'LICENSE'];

/** Copies those of the documents that the package has. */
export function copyDocuments(from: string, to: string): void {
  for (const name of DOCUMENTS) if (existsSync(join(from, name))) cpSync(join(from, name), join(to, name));
}

/** `stage` fills a folder inside `folder`, which is packed there. Returns the tarball's path. */
export async function packed(folder: string, stage: (into: string) => Promise<void>): Promise<string> {
  const into = join(folder, 'headrace-stage');
  try {
    await stage(into);
    const { stdout } = await promisify(execFile)(
      'npm',
      ['pack', into, '--json', '--ignore-scripts', '--pack-destination', folder],
      { cwd: folder, timeout: LIMIT_MS },
    );
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    return join(folder, filename);
  } finally {
    rmSync(into, { recursive: true, force: true });
  }
}
