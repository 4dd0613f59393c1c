/** `headrace runtimes import`: makes a runtime of an image's archive, in the data folder. */
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { insideRoot } from '@headrace/runner/inside-root';
import { readConfig } from '@headrace/server/config.ts';
import { IMPORTED_FILE, importedRuntimes, RUNTIME_NAME } from '@headrace/server/runtimes-config.ts';
import type { Cli } from '../../core/cli.ts';
import { usage } from '../../core/fault.ts';
import { openArchive } from './archive.ts';
import { ARCHITECTURES, imageOf } from './image.ts';
import type { Image } from './image.ts';
import { unpackLayers } from './unpack-layers.ts';

export async function importArchive(cli: Cli, name: string, archive: string): Promise<void> {
  const { dataDir } = readConfig(cli.io.env, () => true);
  const message = await importRuntime(name, resolve(cli.io.cwd, archive), dataDir);
  cli.show({ message }, () => message);
}

/** Returns a message for the operator. */
export async function importRuntime(name: string, archive: string, dataDir: string): Promise<string> {
  if (!new RegExp(RUNTIME_NAME).test(name))
    throw usage(
      'A runtime is named by up to 63 of a-z, 0-9, ".", "_" and "-"; the first is a letter or digit.',
    );
  const file = resolve(archive);
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new Error(`there is no file ${file}`);
  const folder = importedRuntimes(dataDir);
  const place = join(folder, name);
  if (existsSync(place))
    throw new Error(
      `there is a runtime ${name} already: choose another name, or stop its use and remove ${place}`,
    );
  // What an import that was killed left behind.
  const part = join(folder, `.import-${name}`);
  rmSync(part, { recursive: true, force: true });
  mkdirSync(join(part, 'whole'), { recursive: true, mode: 0o700 });
  try {
    const image = await unpack(file, part);
    renameSync(join(part, 'whole'), place);
    return `The runtime ${name} is in ${place}. The service lists it from its next start.${warningOf(image)}`;
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}

/** Makes the runtime in `<part>/whole`, whole or not at all. */
async function unpack(file: string, part: string): Promise<Image> {
  const image = imageOf(await openArchive(file, join(part, 'archive')));
  const root = join(part, 'whole/root');
  mkdirSync(root, { mode: 0o755 });
  await unpackLayers(root, image);
  if (insideRoot(root, '/bin/sh') === undefined)
    throw new Error('the image has no /bin/sh: nothing could be run in it');
  writeFileSync(
    join(part, 'whole', IMPORTED_FILE),
    JSON.stringify({ description: null, env: image.env }, null, 2),
  );
  return image;
}

function warningOf({ architecture }: Image): string {
  const own = ARCHITECTURES[process.arch] ?? process.arch;
  return architecture === null || architecture === own
    ? ''
    : `\nwarning: the image is for ${architecture}, this machine is ${own}`;
}
