/** The files of a source: `headrace files` and `headrace cat`. */
import type { SourceFile } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import { sourceNamed } from '../core/sources.ts';
import type { Column } from '../terminal/table.ts';
import { bytes } from '../terminal/times.ts';

const columns = (isTerminal: boolean): readonly Column<SourceFile>[] => [
  { header: 'SIZE', value: ({ byteSize }) => (isTerminal ? bytes(byteSize) : byteSize), right: true },
  { header: 'MODE', value: ({ executable }) => (executable ? '0755' : '0644') },
  { header: 'PATH', value: ({ path }) => path, whole: true },
];
/** More than a source may have. */
const ALL = 100_000;

export async function listFiles(
  cli: Cli,
  named: string | undefined,
  { prefix, limit = ALL }: { prefix: string | undefined; limit: number | undefined },
): Promise<void> {
  const appId = await cli.appId();
  const sourceId = await sourceNamed(cli, named ?? 'head', appId);
  await cli.list({
    member: 'files',
    page: (options) => cli.client.sources.files(appId, sourceId, { ...options, prefix }),
    columns: columns(cli.isTerminal),
    empty: prefix === undefined ? `${sourceId} has no files.` : `${sourceId} has no such files.`,
    limit,
  });
}

/** The exact bytes; a terminal gets text alone, with its control characters shown. */
export async function printFile(
  cli: Cli,
  path: string,
  { source, force }: { source: string | undefined; force: boolean },
): Promise<void> {
  const appId = await cli.appId();
  const sourceId = await sourceNamed(cli, source ?? 'head', appId);
  const file = await cli.client.sources.file(appId, sourceId, { path, signal: cli.signal });
  if (cli.isJson) return cli.show({ file }, () => '');
  const { content, encoding, byteSize } = file;
  const isText = encoding === 'utf8' && !content.includes('\0');
  if (cli.isTerminal && isText) return cli.printRaw(content);
  if (cli.isTerminal && !force)
    throw usage(
      `${path} is no text (${bytes(byteSize)}), and a terminal would take its bytes as commands.`,
      `headrace cat ${path} > FILE, or --force`,
    );
  cli.io.stdout.write(Buffer.from(content, encoding));
}
