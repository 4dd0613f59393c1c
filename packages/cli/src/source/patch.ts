/** A file's difference as a git patch, also where the service sends none: for modes, empty and binary files. */
import type { DiffFile } from '@headrace/client';
import type { Cli } from '../core/cli.ts';

export interface Sides {
  appId: string;
  base: string;
  source: string;
}

export async function wholePatch(cli: Cli, sides: Sides, file: DiffFile): Promise<string> {
  if (file.patch !== undefined) return file.patch;
  if (!file.truncated) return headerOf(cli, sides, file);
  // The patches of all files were too large together; this one alone may not be.
  const { appId, base, source } = sides;
  const { files } = await cli.client.sources.diff(appId, source, {
    base,
    path: [file.path],
    signal: cli.signal,
  });
  return files.find(({ path }) => path === file.path)?.patch ?? headerOf(cli, sides, file);
}

async function headerOf(cli: Cli, { appId, base, source }: Sides, file: DiffFile): Promise<string> {
  const { status, path, oldPath = path, binary, truncated } = file;
  const modeAt = async (sourceId: string) => {
    const options = { prefix: path, limit: 1, signal: cli.signal };
    const { items } = await cli.client.sources.files(appId, sourceId, options);
    return items[0]?.executable ? '100755' : '100644';
  };
  const [from, to] = [`a/${oldPath}`, `b/${path}`].map(quoted) as [string, string];
  const lines = [`diff --git ${from} ${to}`];
  if (status === 'added') lines.push(`new file mode ${await modeAt(source)}`);
  if (status === 'deleted') lines.push(`deleted file mode ${await modeAt(base)}`);
  if (status === 'mode') lines.push(`old mode ${await modeAt(base)}`, `new mode ${await modeAt(source)}`);
  if (status === 'renamed') {
    if (!binary && !truncated) lines.push('similarity index 100%');
    lines.push(`rename from ${quoted(oldPath)}`, `rename to ${quoted(path)}`);
  }
  const [left, right] = [status === 'added' ? '/dev/null' : from, status === 'deleted' ? '/dev/null' : to];
  if (binary && status !== 'mode') lines.push(`Binary files ${left} and ${right} differ`);
  else if (truncated) lines.push(`Files ${left} and ${right} differ; the patch is too large, or no text`);
  return lines.map((line) => `${line}\n`).join('');
}

/** As git writes paths with quotes in headers. */
const quoted = (path: string): string => (path.includes('"') ? JSON.stringify(path) : path);
