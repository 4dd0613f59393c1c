/** `headrace preview`, `previews` and `open` */
import type { Preview } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { untilLeft } from '../core/detach.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { sourceNamed } from '../core/sources.ts';
import { shellText } from '../core/shell-text.ts';
import { openInBrowser } from '../terminal/browser.ts';
import { oneLine } from '../terminal/escape.ts';
import { statusColor } from '../terminal/style.ts';
import type { Column } from '../terminal/table.ts';
import { ago } from '../terminal/times.ts';
import { listOfApp } from './list-of-app.ts';
import type { Filters } from './list-of-app.ts';
import { NO_THREAD, previewNamed, threadOrNone, workedWith } from './names.ts';

interface PreviewOptions {
  source: string | undefined;
  port: number | undefined;
  open: boolean;
  stop: boolean;
  'no-setup': boolean;
  timeout: number | undefined;
}

export async function preview(
  cli: Cli,
  thread: string | undefined,
  { port, source, open, stop, timeout, 'no-setup': noSetup }: PreviewOptions,
  command: readonly string[],
): Promise<Exit> {
  if (stop && (port !== undefined || source !== undefined || open || noSetup || command.length > 0))
    throw usage('--stop takes no command, --port, --source, --open or --no-setup.');
  if (source !== undefined && thread !== NO_THREAD)
    throw usage('A preview of a thread shows its latest source: --source takes `none` as the thread.');
  if (!stop && (port === undefined || command.length === 0))
    throw usage(
      'A preview needs a command, and the port on which it listens.',
      'headrace preview --port 3000 -- npm run dev',
    );
  const appId = await cli.appId();
  const threadId = await workedWith(cli, thread, appId);
  if (stop) return stopNewest(cli, appId, threadId);
  const body = { command: shellText(command), port: port!, ...(noSetup && { setup: false }) };
  const sourceId = source === undefined ? undefined : await sourceNamed(cli, source, appId);
  const made = await cli.write((client) =>
    threadId === NO_THREAD
      ? client.previews.createOfApp(appId, { ...body, ...(sourceId && { sourceId }) }, { signal: cli.signal })
      : client.previews.create(appId, threadId, body, { signal: cli.signal }),
  );
  cli.say(cli.paintTalk('dim', `${made.id} starts: ${oneLine(body.command)}`));
  const ended = await untilLeft(
    cli,
    (signal) => cli.client.previews.get(appId, made.id).done({ signal, timeoutMs: timeout }),
    {
      left: `The preview goes on. headrace previews shows it; headrace previews stop ${made.id} stops it.`,
      again: 'stops it',
      async end() {
        await cli.write((client) => client.previews.delete(appId, made.id), 'stop');
        cli.say('The preview is stopped.');
      },
    },
  );
  if (!ended) return EXIT.interrupted;
  return report(cli, ended, open);
}

async function report(cli: Cli, shownPreview: Preview, isToOpen: boolean): Promise<Exit> {
  const { id, status, error, url } = shownPreview;
  if (status !== 'ready' && !cli.isJson)
    throw new Fault(
      EXIT.failed,
      `${id} is ${status}: ${error ? `${error.code}. ${error.message}` : 'it was ended.'}`,
      {
        code: error?.code ?? status,
        hint: 'Correct the command or the source, and run it again.',
      },
    );
  cli.show({ preview: shownPreview }, () => url);
  if (status !== 'ready') return EXIT.failed;
  if (isToOpen) await show(cli, url);
  return EXIT.done;
}

/** The address is on stdout already. */
async function show(cli: Cli, url: string): Promise<void> {
  if (!(await openInBrowser(cli.io, url)))
    cli.say(`No browser could be started. Open the address yourself: ${oneLine(url)}`);
}

const newestOf = async (
  cli: Cli,
  appId: string,
  filter: { threadId: string | undefined; status: string },
): Promise<Preview | undefined> =>
  (await cli.client.previews.listOfApp(appId, { ...filter, limit: 1, signal: cli.signal })).items[0];

async function stopNewest(cli: Cli, appId: string, threadId: string): Promise<Exit> {
  const newest = await newestOf(cli, appId, { threadId, status: 'starting,ready' });
  if (newest) return stop(cli, appId, newest.id);
  throw new Fault(
    EXIT.notFound,
    `The ${threadId === NO_THREAD ? 'app itself' : 'thread'} has no open preview.`,
    { hint: 'headrace previews' },
  );
}

export async function stopPreview(cli: Cli, name: string): Promise<Exit> {
  const appId = await cli.appId();
  return stop(cli, appId, await previewNamed(cli, name, appId));
}

async function stop(cli: Cli, appId: string, previewId: string): Promise<Exit> {
  const stopped = await cli.write(
    (client) => client.previews.delete(appId, previewId, { signal: cli.signal }),
    previewId,
  );
  cli.show({ preview: stopped }, () => `${stopped.id} is ${stopped.status}`);
  return EXIT.done;
}

const COLUMNS: readonly Column<Preview>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: 'STATUS', value: ({ status }) => status, color: ({ status }) => statusColor(status) },
  { header: 'ADDRESS', value: ({ url }) => url, whole: true },
  { header: 'COMMAND', value: ({ command }) => command },
  { header: 'CREATED', value: ({ createdAt }) => ago(createdAt) },
];

export const listPreviews = (cli: Cli, filters: Filters<Preview['status']>): Promise<void> =>
  listOfApp(cli, filters, {
    member: 'previews',
    columns: COLUMNS,
    empty: 'There are no previews yet. → headrace preview --port 3000 -- COMMAND',
    ofApp: (appId, options) => cli.client.previews.listOfApp(appId, options),
    ofApps: (options) => cli.client.previews.listAll(options),
  });

/** The newest ready preview of the thread, or of the app. */
export async function openPreview(cli: Cli, thread: string | undefined): Promise<void> {
  const appId = await cli.appId();
  const threadId = thread === undefined ? undefined : await threadOrNone(cli, thread, appId);
  const newest = await newestOf(cli, appId, { threadId, status: 'ready' });
  if (newest) {
    cli.show({ preview: newest }, () => newest.url);
    return show(cli, newest.url);
  }
  throw new Fault(EXIT.notFound, 'No preview is ready.', {
    hint: 'headrace preview --port 3000 --open -- npm run dev',
  });
}
