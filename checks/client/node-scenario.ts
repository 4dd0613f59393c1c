/** What a runtime with a file system does in addition: pushes a folder, changes it, pushes again, and pulls. */
import { mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@headrace/client';
import { pull, push } from '@headrace/client/node';
import type { Ground } from './scenario.ts';

export async function nodeScenario({ baseUrl, key }: Ground): Promise<string[]> {
  const client = createClient({ baseUrl, key });
  const scratch = await mkdtemp(join(tmpdir(), 'headrace-runtimes-'));
  try {
    const site = join(scratch, 'site');
    await mkdir(join(site, 'node_modules/x'), { recursive: true });
    await writeFile(join(site, 'index.html'), '<h1>One</h1>\n');
    await writeFile(join(site, 'node_modules/x/index.js'), '');
    const app = await client.apps.create({ name: 'Folder' });
    const first = await push(client, app.id, site);
    if (first.fileCount !== 1) throw new Error(`The first push has ${first.fileCount} files.`);
    await writeFile(join(site, 'more.txt'), 'two\n');
    const second = await push(client, app.id, site);
    if (second.fileCount !== 2) throw new Error(`The second push has ${second.fileCount} files.`);
    const copy = join(scratch, 'copy');
    await pull(client, app.id, { folder: copy, sourceId: second.id });
    const same = await Promise.all(
      ['index.html', 'more.txt'].map(
        async (name) =>
          (await readFile(join(copy, name), 'utf8')) === (await readFile(join(site, name), 'utf8')),
      ),
    );
    if (same.includes(false)) throw new Error('What was pulled is not what was pushed.');
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return ['push and pull'];
}
