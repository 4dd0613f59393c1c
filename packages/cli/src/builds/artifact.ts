/** `headrace artifact`: the files of a ready build, or their archive. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, relative, resolve } from 'node:path';
import type { Build, Manifest } from '@headrace/client';
import { ChangedFilesError, pullArtifact } from '@headrace/client/node';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { oneLine } from '../terminal/escape.ts';
import type { Column } from '../terminal/table.ts';
import { bytes } from '../terminal/times.ts';
import { buildNamed } from './names.ts';
import { countOf } from '../terminal/count.ts';

interface ArtifactOptions {
  output: string | undefined;
  force: boolean;
}

const ARCHIVE = /\.(tar\.gz|tgz)$/;

export async function fetchArtifact(
  cli: Cli,
  name: string | undefined,
  { output, force }: ArtifactOptions,
): Promise<void> {
  if (output === '-' && cli.isJson)
    throw usage('--output - writes the archive to stdout, so it excludes --json.');
  if (output === '-' && cli.isTerminal)
    throw usage('A terminal cannot show an archive.', 'headrace artifact -o - > artifact.tar.gz');
  const appId = await cli.appId();
  const buildId = await buildNamed(cli, name, appId);
  const build = await cli.client.builds.get(appId, buildId, { signal: cli.signal });
  if (output === '-') return cli.printPart(await archiveOf(cli, build));
  const target = resolve(cli.io.cwd, output ?? folderOf(build));
  if (ARCHIVE.test(target)) await writeArchive(cli, build, { path: target, force });
  else await installArtifact(cli, build, { folder: target, force });
  cli.show({ build }, () => shownPath(cli, target));
}

/** The name of the output directory, which is strangers' text. */
function folderOf({ id, outputDirectory }: Build): string {
  const name = basename(outputDirectory);
  return /^\w[\w.-]*$/.test(name) ? name : id;
}

const shownPath = (cli: Cli, path: string) => oneLine(relative(cli.io.cwd, path) || '.');

/** Writes the files into the folder, each checked against the manifest; none that would be lost, unless `force`. */
export async function installArtifact(
  cli: Cli,
  { id, projectId }: Build,
  { folder, force }: { folder: string; force: boolean },
): Promise<void> {
  try {
    const { written, unchanged } = await pullArtifact(cli.client, projectId, id, {
      folder,
      force,
      signal: cli.signal,
    });
    const same = unchanged === 0 ? '' : `, ${unchanged} already there`;
    cli.say(`Wrote ${countOf(written.length, 'file')} to ${shownPath(cli, folder)}${same}`);
  } catch (error) {
    if (!(error instanceof ChangedFilesError)) throw error;
    throw new Fault(EXIT.conflict, error.message, { code: 'changed_files', hint: '--force replaces them' });
  }
}

/** The archive, checked against the build's hash. */
async function archiveOf(cli: Cli, { id, projectId, artifactSha256 }: Build): Promise<Uint8Array> {
  const archive = await cli.client.builds.artifact(projectId, id, { signal: cli.signal });
  if (createHash('sha256').update(archive).digest('hex') !== artifactSha256)
    throw new Fault(EXIT.failed, 'The archive that arrived is not that of the build: its SHA-256 differs.', {
      hint: 'Run the command again.',
    });
  return archive;
}

async function writeArchive(
  cli: Cli,
  build: Build,
  { path, force }: { path: string; force: boolean },
): Promise<void> {
  if (!force && existsSync(path))
    throw new Fault(EXIT.conflict, `${shownPath(cli, path)} exists.`, {
      code: 'changed_files',
      hint: '--force replaces it',
    });
  const archive = await archiveOf(cli, build);
  const part = `${path}.${randomBytes(6).toString('hex')}.part`;
  try {
    writeFileSync(part, archive, { flag: 'wx' });
    renameSync(part, path);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
  cli.say(`${bytes(archive.length)} written to ${shownPath(cli, path)}`);
}

const FILE_COLUMNS: readonly Column<Manifest['files'][number]>[] = [
  { header: 'MODE', value: ({ mode }) => mode },
  { header: 'SIZE', value: ({ byteSize }) => byteSize, right: true },
  { header: 'SHA-256', value: ({ sha256 }) => sha256 },
  { header: 'PATH', value: ({ path }) => path, whole: true },
];

export async function showManifest(cli: Cli, name: string | undefined): Promise<void> {
  const appId = await cli.appId();
  const buildId = await buildNamed(cli, name, appId);
  const manifest = await cli.client.builds.manifest(appId, buildId, { signal: cli.signal });
  if (cli.globals.jsonl) for (const file of manifest.files) cli.printLine(file);
  else cli.show({ manifest }, () => cli.table(manifest.files, FILE_COLUMNS));
}
