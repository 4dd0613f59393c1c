/** `headrace push`: a folder as a source of an app. Only what has changed is sent. */
import { isCode } from '@headrace/client';
import { plan, push } from '@headrace/client/node';
import type { Plan, Progress, PushedSource, Skipped } from '@headrace/client/node';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import { atMostOne } from '../core/input.ts';
import { sourceNamed } from '../core/sources.ts';
import { oneLine } from '../terminal/escape.ts';
import { startProgress } from '../terminal/progress.ts';
import type { Step } from '../terminal/progress.ts';
import { bytes, lasting } from '../terminal/times.ts';
import { changeCounts, changeLine } from './changes.ts';
import { folderFault, folderOf, heldBy, hold, requireFolder } from './folder.ts';
import { watchFolder } from './watch.ts';
import { countOf } from '../terminal/count.ts';

interface PushOptions {
  message: string | undefined;
  parent: string | undefined;
  'dry-run': boolean;
  'no-head': boolean;
  watch: boolean;
}
interface Place {
  appId: string;
  folder: string;
}

export async function pushFolder(cli: Cli, dir: string | undefined, options: PushOptions): Promise<void> {
  const { watch: isWatched, 'dry-run': isDry, parent: named } = options;
  atMostOne(options, ['watch', 'dry-run']);
  if (isWatched && cli.globals.json)
    throw usage('--watch has more than one result: use --jsonl, which prints a line for each.');
  const folder = folderOf(cli, dir);
  requireFolder(folder);
  const appId = await cli.appId();
  const place = { appId, folder };
  const parent = named === undefined ? undefined : await sourceNamed(cli, named, appId);
  if (isDry) return showPlan(cli, await planned(cli, place, parent));
  if (!isWatched) return void (await pushOnce(cli, place, { ...options, parent }));
  let isFirst = true;
  await watchFolder(cli, folder, async () => {
    const { folders } = await pushOnce(cli, place, {
      ...options,
      // The sources follow each other.
      parent: isFirst ? parent : undefined,
      isSilent: !isFirst,
    });
    isFirst = false;
    return folders;
  });
}

interface OnceOptions extends Omit<PushOptions, 'watch' | 'dry-run'> {
  /** Says nothing if nothing has changed. */
  isSilent?: boolean;
}

/** Returns what was found in the folder. */
async function pushOnce(cli: Cli, place: Place, options: OnceOptions): Promise<Plan> {
  const since = Date.now();
  const held = heldBy(cli, place.appId, place.folder);
  const found = await planned(cli, place, options.parent);
  if (options.isSilent && found.send === 'nothing') return found;
  const source = await sent(cli, place, { found, ...options });
  const isHead = found.headSourceId === null && !options['no-head'];
  const isMerged = held === undefined || options.parent !== undefined || isHead;
  const headSourceId = isHead ? source.id : isMerged ? found.headSourceId : held.headSourceId;
  hold(cli, place, { sourceId: source.id, headSourceId });
  const { sent: how, bytesSent, skipped, ...rest } = source;
  const warnings = skipped.map(({ path, reason }) => ({ path, reason }));
  cli.show({ source: rest, warnings, sent: how, bytesSent }, () => source.id);
  saySkipped(cli, skipped);
  cli.say(summaryOf(found, source, Date.now() - since) + (isHead ? ' It is the head now.' : ''));
  if (!isHead && headSourceId !== found.headSourceId)
    cli.say(cli.paintTalk('yellow', movedHead(headSourceId)));
  return found;
}

/** Throws the Fault of a folder without files. */
async function planned(cli: Cli, { appId, folder }: Place, parent: string | undefined): Promise<Plan> {
  const known = parent ?? heldBy(cli, appId, folder)?.sourceId;
  const compare = (parentSourceId: string | undefined) =>
    withProgress(cli, (onProgress) =>
      plan(cli.client, appId, folder, { parentSourceId, signal: cli.signal, onProgress }),
    );
  try {
    // A service that was restored from a backup may not have the source of the last push.
    const found = await compare(known).catch((error: unknown) => {
      if (parent !== undefined || known === undefined || !isCode(error, 'source_not_found')) throw error;
      return compare(undefined);
    });
    if (found.files.length > 0) return found;
  } catch (error) {
    throw folderFault(error, folder);
  }
  throw usage(`${folder} has no files to push: it is empty, or everything in it is ignored.`);
}

/** The key depends on what is pushed, and upon what: the same push, run again, has one effect. */
const sent = (
  cli: Cli,
  { appId }: Place,
  { found, message, 'no-head': noHead }: OnceOptions & { found: Plan },
): Promise<PushedSource> =>
  withProgress(cli, (onProgress) =>
    cli.write(
      (client) =>
        push(client, appId, found, { message, initializeHead: !noHead, signal: cli.signal, onProgress }),
      `${found.sha256} ${found.parent?.id ?? ''}`,
    ),
  );

async function withProgress<T>(cli: Cli, work: (on: (progress: Progress) => void) => Promise<T>): Promise<T> {
  let last: Progress | undefined;
  const stop = cli.globals.quiet ? undefined : startProgress(cli.io.stderr, () => stepOf(last));
  try {
    return await work((progress) => (last = progress));
  } finally {
    stop?.();
  }
}

function stepOf(progress: Progress | undefined): Step {
  if (!progress) return { text: 'Comparing with the service', done: 0, total: null };
  const { phase, files, bytes: done, totalFiles, totalBytes } = progress;
  const of = totalFiles === null ? '' : ` of ${totalFiles}`;
  const verb = phase === 'scan' ? 'Read' : 'Packed';
  return { text: `${verb} ${files}${of} files, ${bytes(done)}`, done, total: totalBytes };
}

function summaryOf({ changes, files, parent }: Plan, source: PushedSource, ms: number): string {
  const time = lasting(ms);
  if (source.sent === 'nothing')
    return `Nothing has changed since ${source.id} (${countOf(files.length, 'file')}, ${time}).`;
  const what =
    parent === null
      ? countOf(files.length, 'file')
      : `${changeCounts(changes)} of ${countOf(files.length, 'file')}`;
  return `Pushed ${what}, ${bytes(source.bytesSent)} in ${time}.`;
}

const movedHead = (before: string | null) =>
  'The head has moved, and this source lacks its changes. ' +
  (before === null ? '' : `\`headrace diff ${before} head\` shows them; `) +
  '`headrace pull` puts the head in its place.';

const NAMED_SKIPPED = 10;

function saySkipped(cli: Cli, skipped: readonly Skipped[], most: number = NAMED_SKIPPED): void {
  for (const { path, reason } of skipped.slice(0, most))
    cli.say(cli.paintTalk('dim', `Skipped ${oneLine(path)} (${reason})`));
  if (skipped.length > most)
    cli.say(
      cli.paintTalk('dim', `Skipped ${skipped.length - most} more: headrace push --dry-run names them.`),
    );
}

function showPlan(cli: Cli, found: Plan): void {
  const { changes, parent, headSourceId, send, bytesToSend, skipped, files } = found;
  if (cli.isJson) {
    const listed = changes.map((change) => ({
      path: change.path,
      status: change.status,
      ...(change.status === 'renamed' && { oldPath: change.oldPath }),
    }));
    cli.show(
      { parentSourceId: parent?.id ?? null, headSourceId, changes: listed, send, bytesToSend, skipped },
      () => '',
    );
    return;
  }
  for (const change of changes) cli.print(changeLine(change, cli.paint));
  saySkipped(cli, skipped, Infinity);
  cli.say(
    send === 'nothing'
      ? `Nothing has changed since ${parent!.id}: nothing would be sent.`
      : `${changeCounts(changes)} of ${countOf(files.length, 'file')}: ${bytes(bytesToSend)} would be sent.`,
  );
}
