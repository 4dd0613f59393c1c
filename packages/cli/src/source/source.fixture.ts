/** For tests: an app in a service in memory, linked to a folder whose name has spaces. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createTestService } from '@headrace/client/testing';
import { testCli } from '../cli.fixture.ts';
import type { TestCli } from '../cli.fixture.ts';

export function writeFiles(folder: string, files: Record<string, string | Buffer>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
    if (path.startsWith('bin/')) chmodSync(join(folder, path), 0o755);
  }
}

/** The commands run in the folder. `service`: a real one. */
export async function linkedFolder(
  files: Record<string, string | Buffer>,
  service: Parameters<typeof testCli>[0] = createTestService(),
) {
  const cli = testCli(service);
  const { app } = (await cli.run(['apps', 'create', 'Shop', '--json'])).json();
  const folder = join(cli.cwd, 'my shop');
  writeFiles(folder, { '.headrace.json': JSON.stringify({ app: app.id }), ...files });
  const run: TestCli['run'] = (argv, options) => cli.run(argv, { cwd: folder, ...options });
  return { cli, run, folder, appId: app.id as string };
}
