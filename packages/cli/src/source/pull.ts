/** `headrace pull`: a source of the app in a folder. Files that changed since the last push or pull are kept. */
import { ChangedFilesError, pull } from '@headrace/client/node';
import type { Installed } from '@headrace/client/node';
import { statSync } from 'node:fs';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { sourceNamed } from '../core/sources.ts';
import { oneLine } from '../terminal/escape.ts';
import { lasting } from '../terminal/times.ts';
import { changeCounts, changeLine } from './changes.ts';
import { folderFault, folderOf, heldBy, hold } from './folder.ts';
import { countOf } from '../terminal/count.ts';

export async function pullSource(
  cli: Cli,
  [named, dir]: readonly [string | undefined, string | undefined],
  { force }: { force: boolean },
): Promise<void> {
  const since = Date.now();
  const folder = folderOf(cli, dir);
  const isThere = isFolder(folder);
  const appId = await cli.appId();
  const { headSourceId } = await cli.client.apps.get(appId, { signal: cli.signal });
  const sourceId = named === undefined ? undefined : await sourceNamed(cli, named, appId);
  const baseSourceId = isThere ? heldBy(cli, appId, folder)?.sourceId : undefined;
  const { source, ...installed } = await pull(cli.client, appId, {
    folder,
    force,
    sourceId,
    baseSourceId,
    signal: cli.signal,
  }).catch((error: unknown) => {
    throw error instanceof ChangedFilesError ? changedFault(error) : folderFault(error, folder);
  });
  hold(cli, { appId, folder }, { sourceId: source.id, headSourceId });
  const changes = changesOf(installed);
  if (cli.isJson) return cli.show({ source, ...installed }, () => '');
  for (const change of isThere ? changes : []) cli.print(changeLine(change, cli.paint));
  const files = countOf(source.fileCount, 'file');
  const what =
    changes.length === 0
      ? `The folder has ${source.id} already`
      : `Pulled ${source.id}: ${changeCounts(changes)} of ${files}`;
  cli.say(`${what}, in ${lasting(Date.now() - since)}.`);
  if (baseSourceId !== undefined && changes.length > 0)
    cli.say(cli.paintTalk('dim', `headrace pull ${baseSourceId} brings back what the folder held.`));
}

function isFolder(folder: string): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found && !found.isDirectory()) throw usage(`${folder} is a file: a source is written to a folder.`);
  return found !== undefined;
}

function changesOf({ written, replaced, deleted }: Installed) {
  const before = new Set(replaced);
  return [
    ...written.map((path) => ({
      status: before.has(path) ? ('modified' as const) : ('added' as const),
      path,
    })),
    ...deleted.map((path) => ({ status: 'deleted' as const, path })),
  ];
}

const NAMED = 10;

function changedFault({ paths }: ChangedFilesError): Fault {
  const some = paths.slice(0, NAMED).map(oneLine).join(', ');
  const more = paths.length > NAMED ? ` and ${paths.length - NAMED} more` : '';
  return new Fault(EXIT.conflict, `Nothing was written: the folder has its own content at ${some}${more}.`, {
    hint: 'headrace push stores it as a source; --force replaces it',
    code: 'folder_changed',
  });
}
