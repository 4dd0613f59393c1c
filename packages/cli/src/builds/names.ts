/** Builds and previews as people name them. */
import type { Build, Preview } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault } from '../core/fault.ts';
import { idOf } from '../core/names.ts';

const PAGE = 200;
/** In place of a thread: what belongs to the app. */
export const NO_THREAD = 'none';

export const threadOrNone = async (cli: Cli, text: string, appId: string): Promise<string> =>
  text === NO_THREAD ? NO_THREAD : cli.threadNamed(text, appId);

/** The thread of a command that works with one, by default the last; it is the last one from now on. */
export async function workedWith(cli: Cli, text: string | undefined, appId: string): Promise<string> {
  const threadId = await threadOrNone(cli, text ?? '@last', appId);
  if (threadId !== NO_THREAD) cli.remember(`thread ${appId}`, threadId);
  return threadId;
}

export const lastBuild = (appId: string): string => `build ${appId}`;

/** By default the build that the user worked with last, else the app's newest. */
export async function buildNamed(cli: Cli, text: string | undefined, appId: string): Promise<string> {
  const id = text ?? cli.last(lastBuild(appId)) ?? (await newestBuild(cli, appId))?.id;
  if (id === undefined)
    throw new Fault(EXIT.notFound, 'The app has no builds yet.', { hint: 'headrace build -- COMMAND' });
  return idOf(id, {
    what: 'build',
    prefix: 'bld_',
    listing: 'headrace builds',
    list: () => labelled(cli.client.builds.listAll({ appId, limit: PAGE, signal: cli.signal })),
    last: () => cli.last(lastBuild(appId)),
  });
}

export async function newestBuild(cli: Cli, appId: string): Promise<Build | undefined> {
  return (await cli.client.builds.listAll({ appId, limit: 1, signal: cli.signal })).items[0];
}

export const previewNamed = (cli: Cli, text: string, appId: string): Promise<string> =>
  idOf(text, {
    what: 'preview',
    prefix: 'prv_',
    listing: 'headrace previews',
    list: () => labelled(cli.client.previews.listAll({ appId, limit: PAGE, signal: cli.signal })),
  });

/** Both are named by their commands. */
async function* labelled(list: AsyncIterable<Build | Preview>) {
  for await (const { id, command } of list) yield { id, label: command };
}
